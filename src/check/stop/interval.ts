/** Stretches of time with only their bounds known. Infinity: nothing bounds it. */
export interface Interval {
  readonly minMs: number;
  readonly maxMs: number;
}

export const ZERO: Interval = { minMs: 0, maxMs: 0 };
export const UNKNOWN: Interval = { minMs: 0, maxMs: Number.POSITIVE_INFINITY };

export function exactly(ms: number): Interval {
  return { minMs: ms, maxMs: ms };
}

export function between(minMs: number, maxMs: number): Interval {
  return { minMs, maxMs };
}

export function plus(a: Interval, b: Interval): Interval {
  return { minMs: a.minMs + b.minMs, maxMs: a.maxMs + b.maxMs };
}

/** Until the last of them is over; without any, no time. */
export function latest(intervals: readonly Interval[]): Interval {
  const all = [ZERO, ...intervals];
  return between(Math.max(...all.map(({ minMs }) => minMs)), Math.max(...all.map(({ maxMs }) => maxMs)));
}

/** Until the first of them is over; without any, for ever. */
export function earliest(intervals: readonly Interval[]): Interval {
  return between(Math.min(...intervals.map(({ minMs }) => minMs)), Math.min(...intervals.map(({ maxMs }) => maxMs)));
}

/** An exact number of seconds. */
export function isWhole({ minMs, maxMs }: Interval): boolean {
  return minMs === maxMs && minMs % 1_000 === 0;
}

/** `5 s`, `0 to 30 s`, `at least 5 s`. */
export function intervalText({ minMs, maxMs }: Interval): string {
  if (minMs === maxMs) return secondsText(minMs);
  if (maxMs === Number.POSITIVE_INFINITY) return minMs === 0 ? 'an unknown time' : `at least ${secondsText(minMs)}`;
  return `${secondsText(minMs).replace(/ s$/, '')} to ${secondsText(maxMs)}`;
}

export function secondsText(ms: number): string {
  return `${Number((ms / 1_000).toFixed(1))} s`;
}
