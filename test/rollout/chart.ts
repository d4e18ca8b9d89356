/**
 * The picture of the experiment, drawn from its own figures. For each drain and each delay of the balancer it shows how
 * long the stop took, and how many requests failed.
 */
import type { Trial } from './run.ts';

export function chartOf(trials: readonly Trial[], quietMs: number): string {
  const longestMs = Math.max(...trials.map(({ tookMs, noticesAfterMs }) => Math.max(tookMs, noticesAfterMs)), quietMs);
  const scale = (ms: number): number => LEFT + (ms / longestMs) * BREADTH;
  const rows = trials.map((trial, index) => rowOf(trial, TOP + index * ROW + groupsBefore(trials, index) * GAP, scale));
  const height = TOP + trials.length * ROW + groupsBefore(trials, trials.length) * GAP + 30;
  const ticks = Array.from({ length: Math.floor(longestMs / 1_000) + 1 }, (_, second) => {
    const x = scale(second * 1_000);
    return `<path d="M${x} ${TOP - 8}V${height - 26}" stroke="#ddd"/><text x="${x}" y="${height - 10}" text-anchor="middle">${second} s</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" font-size="15" font-weight="bold">nginx behind haproxy is stopped under 200 requests a second</text>
<text x="12" y="40" fill="#555">bar: from the stop request to the end of the container; line: when the balancer noticed; right: requests that failed</text>
${ticks.join('\n')}
${rows.join('\n')}
</svg>
`;
}

const WIDTH = 980;
const LEFT = 400;
const BREADTH = 430;
const TOP = 62;
const ROW = 20;
const GAP = 10;

function rowOf({ title, noticesAfterMs, tookMs, failed }: Trial, y: number, scale: (ms: number) => number): string {
  const noticed = scale(noticesAfterMs);
  const colour = failed === 0 ? '#2a9d5c' : '#c8452f';
  return [
    `<text x="${LEFT - 10}" y="${y + 13}" text-anchor="end">${escaped(title)}</text>`,
    `<rect x="${LEFT}" y="${y + 3}" width="${Math.max(1, scale(tookMs) - LEFT).toFixed(1)}" height="12" fill="${colour}"/>`,
    `<path d="M${noticed} ${y}v18" stroke="#222" stroke-width="2"/>`,
    `<text x="${LEFT + BREADTH + 20}" y="${y + 13}" fill="${colour}">${failed} failed, ${(tookMs / 1_000).toFixed(1)} s</text>`,
  ].join('');
}

/** Trials of one kind stand together. */
function groupsBefore(trials: readonly Trial[], index: number): number {
  return trials.slice(0, index).filter(({ title }, at) => at + 1 < trials.length && trials[at + 1]?.title !== title)
    .length;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
