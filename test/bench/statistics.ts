/** Medians, quartiles, and ratios within a round: what the machine did at that time is in both samples and cancels. */

export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** Median and quartiles, linearly interpolated; NaN when there is nothing. */
export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  return { low: quantile(sorted, 0.25), median: quantile(sorted, 0.5), high: quantile(sorted, 0.75) };
}

/** The spread of the ratios of each sample to the reference's sample of the same round. */
export function ratioOf(samples: readonly number[], reference: readonly number[]): Spread {
  const pairs = Math.min(samples.length, reference.length);
  return spreadOf(Array.from({ length: pairs }, (_, round) => (samples[round] ?? 0) / (reference[round] ?? 0)));
}

function quantile(sorted: readonly number[], part: number): number {
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
