/**
 * Times of a report: read from tombstones, and laid out on an axis.
 */

/** RFC 3339 with nanoseconds in milliseconds since 1970; Date.parse alone drops what is below a millisecond. */
export function msOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text.replace(/(\.\d{3})\d+/, '$1'));
  if (Number.isNaN(ms)) return undefined;
  const below = /\.\d{3}(\d+)/.exec(text)?.[1];
  return below === undefined ? ms : ms + Number(`0.${below}`);
}

/** The distance of two marks of an axis: 1, 2 or 5 times a power of ten, at least `ms`. */
export function roundStep(ms: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= ms) ?? 10 * power;
}
