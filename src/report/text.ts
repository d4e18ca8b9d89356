/**
 * A stop as text for a terminal: a sentence, the chart, then the critical chain.
 */
import { formatTable } from '../text/table.ts';
import { chartOf } from './chart.ts';
import { chartLines, type TextStyle } from './chart-text.ts';
import { FLEET_COLUMNS, fleetOf, workloadRows, worstFirst } from './fleet.ts';
import { comparisonLines, isAsPredicted } from './prediction.ts';
import { forcedOf, lateOf, type PodStop } from './stop.ts';
import { chainLines, podName, presentLines, sentenceOf } from './words.ts';

export function podText(pod: PodStop, style: TextStyle): string {
  const title = `${pod.pod === '' ? '' : 'pod '}${podName(pod)}: ${sentenceOf(pod)}`;
  const story = pod.isOver ? chain(pod, style.width) : presentLines(pod).flatMap((line) => wrap(line, style.width));
  const compared = comparisonLines(pod).flatMap((line) => wrap(line, style.width));
  const told = compared.length === 0 ? [] : [...compared, ''];
  const lines = [...wrap(title, style.width), '', ...chartLines(chartOf(pod), style), '', ...told, ...story];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Figures of many pods by workload and phase, then the stops that were forced or late. */
export function fleetText(pods: readonly PodStop[], width: number): string {
  const head = FLEET_COLUMNS.map((name) => name.toUpperCase());
  const table = formatTable(head, fleetOf(pods).flatMap(workloadRows), width);
  const bad = worstFirst(pods).filter((pod) => forcedOf(pod).length + lateOf(pod).length > 0 || !isAsPredicted(pod));
  const lines = bad.slice(0, MAX_NAMED).flatMap((pod) => {
    const told = [sentenceOf(pod), ...(isAsPredicted(pod) ? [] : comparisonLines(pod))];
    return wrap(`${podName(pod)}: ${told.join('; ')}`, width);
  });
  const kinds = pods.some(({ prediction }) => prediction !== undefined)
    ? 'forced, late, or not as predicted'
    : 'forced or late';
  const more = bad.length > MAX_NAMED ? [`and ${bad.length - MAX_NAMED} more ${kinds}`] : [];
  return [table, ...(bad.length === 0 ? [] : [`\n${[...lines, ...more].join('\n')}\n`])].join('');
}

/** Stops that are told of one by one; the others are in the figures. */
const MAX_NAMED = 10;

/** In a column of their own, so that the eye can follow from line to line which member waited for which. */
function chain(pod: PodStop, width: number): readonly string[] {
  const lines = chainLines(pod);
  return lines.flatMap((line, index) => {
    const head = index === 0 ? 'ended last  ' : 'before it   ';
    return wrap(line, width - head.length).map(
      (part, at) => `${at === 0 ? head : ' '.repeat(head.length)}${part.trimStart()}`,
    );
  });
}

function wrap(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/(?<=\S) /)) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = `    ${word}`;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
