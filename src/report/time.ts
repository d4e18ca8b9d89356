/**
 * Times as tombstones and evidence have them.
 */

/** RFC 3339 with nanoseconds in milliseconds since 1970; Date.parse alone drops what is below a millisecond. */
export function msOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text.replace(/(\.\d{3})\d+/, '$1'));
  if (Number.isNaN(ms)) return undefined;
  const below = /\.\d{3}(\d+)/.exec(text)?.[1];
  return below === undefined ? ms : ms + Number(`0.${below}`);
}
