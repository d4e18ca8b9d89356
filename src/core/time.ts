/** An instant carries both clocks: the monotonic one is for decisions, the wall clock only for the record. */
export interface Instant {
  /** CLOCK_MONOTONIC, milliseconds. */
  readonly mono: number;
  /** Nanoseconds since 1970 as decimal text (a JSON number cannot hold them). */
  readonly wall: string;
}

/** `undefined`: there is none. */
export function earliest(...moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((atMs) => atMs !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** RFC 3339 with nanoseconds, UTC: `2026-01-02T03:04:05.000000006Z`. */
export function rfc3339(wall: string): string {
  return `${rfc3339Milliseconds(wall).slice(0, 19)}.${wall.slice(-9).padStart(9, '0')}Z`;
}

/** `2026-11-22T17:40:00.130Z` */
export function rfc3339Milliseconds(wall: string): string {
  return new Date(Number(wall.slice(0, -6))).toISOString();
}

/** The text for an action that has timed out: `timed out after 300ms`, `timed out after 1.5s`. */
export function timedOutAfter(ms: number): string {
  const rounded = Math.round(ms);
  return `timed out after ${rounded < 1_000 ? `${rounded}ms` : `${rounded / 1_000}s`}`;
}

/** The same moment on the wall clock for another reading of the monotonic one. */
export function instantAt(reference: Instant, mono: number): Instant {
  const shift = BigInt(Math.round((mono - reference.mono) * 1e6));
  return { mono, wall: (BigInt(reference.wall) + shift).toString() };
}
