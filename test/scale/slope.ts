/**
 * The straight line through samples, by least squares, and the error of its slope. Samples swing (a heap fills and is
 * collected) and resemble their neighbours. So the line goes through the means of parts of the time.
 */

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

export interface Slope {
  readonly perHour: number;
  /** The standard error of `perHour`. */
  readonly error: number;
  /** Where the line begins and ends. */
  readonly first: number;
  readonly last: number;
}

const HOUR_MS = 3_600_000;

/** With fewer than three parts the error is NaN. */
export function slopeOf(samples: readonly Sample[], parts = 24): Slope {
  const points = meansOf(samples, parts);
  const n = points.length;
  const [meanAt, meanValue] = [mean(points.map((it) => it.atMs)), mean(points.map((it) => it.value))];
  const spread = sum(points.map(({ atMs }) => (atMs - meanAt) ** 2));
  const slope = sum(points.map(({ atMs, value }) => (atMs - meanAt) * (value - meanValue))) / spread;
  const lineAt = (atMs: number): number => meanValue + slope * (atMs - meanAt);
  const rest = sum(points.map(({ atMs, value }) => (value - lineAt(atMs)) ** 2));
  return {
    perHour: slope * HOUR_MS,
    error: Math.sqrt(rest / (n - 2) / spread) * HOUR_MS,
    first: lineAt(points[0]?.atMs ?? Number.NaN),
    last: lineAt(points.at(-1)?.atMs ?? Number.NaN),
  };
}

/** The growth is within the error of none, or too small to matter in a day. */
export function isFlat({ perHour, error }: Slope, mostPerHour: number): boolean {
  return perHour <= 2 * error || perHour <= mostPerHour;
}

function meansOf(samples: readonly Sample[], parts: number): Sample[] {
  const size = Math.max(1, Math.floor(samples.length / parts));
  const groups = Array.from({ length: Math.floor(samples.length / size) }, (_, at) =>
    samples.slice(at * size, (at + 1) * size),
  );
  return groups.map((group) => ({
    atMs: mean(group.map((it) => it.atMs)),
    value: mean(group.map((it) => it.value)),
  }));
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
