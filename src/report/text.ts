/**
 * A stop as text for a terminal: a sentence, the chart, then the critical chain.
 */
import { formatTable } from '../text/table.ts';
import { chartOf } from './chart.ts';
import { chartLines, type TextStyle } from './chart-text.ts';
import { FLEET_COLUMNS, fleetOf, isBad, workloadRows, worstFirst } from './fleet.ts';
import { comparisonLines, isAsPredicted } from './prediction.ts';
import type { PodStop } from './stop.ts';
import { chainLines, podName, presentLines, sentenceOf, wrap } from './words.ts';

export function podText(pod: PodStop, style: TextStyle): string {
  const { width } = style;
  const title = `${pod.pod === '' ? '' : 'pod '}${podName(pod)}: ${sentenceOf(pod)}`;
  const story = pod.isOver ? chain(pod, width) : presentLines(pod).flatMap((line) => wrap(line, width));
  const compared = comparisonLines(pod).flatMap((line) => wrap(line, width));
  const told = compared.length === 0 ? [] : [...compared, ''];
  const lines = [...wrap(title, width), '', ...chartLines(chartOf(pod), style), '', ...told, ...story];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Figures of many pods by workload and phase, then the stops that were forced or late. */
export function fleetText(pods: readonly PodStop[], width: number): string {
  const head = FLEET_COLUMNS.map((name) => name.toUpperCase());
  const table = formatTable(head, fleetOf(pods).flatMap(workloadRows), width);
  const bad = worstFirst(pods).filter((pod) => isBad(pod) || !isAsPredicted(pod));
  if (bad.length === 0) return table;
  const lines = bad.slice(0, MAX_NAMED).flatMap((pod) => {
    const told = [sentenceOf(pod), ...(isAsPredicted(pod) ? [] : comparisonLines(pod))];
    return wrap(`${podName(pod)}: ${told.join('; ')}`, width);
  });
  const isCompared = pods.some(({ prediction }) => prediction !== undefined);
  const kinds = isCompared ? 'forced, late, or not as predicted' : 'forced or late';
  const more = bad.length > MAX_NAMED ? [`and ${bad.length - MAX_NAMED} more ${kinds}`] : [];
  return `${table}\n${[...lines, ...more].join('\n')}\n`;
}

/** Stops that are listed one by one; the others are in the figures. */
const MAX_NAMED = 10;

/** In a column of their own, so that the eye can follow from line to line which member waited for which. */
function chain(pod: PodStop, width: number): readonly string[] {
  return chainLines(pod).flatMap((line, index) => {
    const head = index === 0 ? 'ended last  ' : 'before it   ';
    const parts = wrap(line, width - head.length);
    return parts.map((part, at) => `${at === 0 ? head : ' '.repeat(head.length)}${part.trimStart()}`);
  });
}
