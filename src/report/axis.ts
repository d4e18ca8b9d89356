/**
 * The time axis of a stop, the same for text, picture and page.
 */
import { seconds } from '../core/format/evidence.ts';

export interface Axis {
  readonly fromMs: number;
  /** The first stop request: 0 of the scale. */
  readonly zeroMs: number;
  readonly untilMs: number;
}

/** Of the time from the request to the end of the axis: enough to see which members were running. */
const LEAD = 1 / 12;

/** From a little before the first stop request on. */
export function axisBetween(zeroMs: number, endMs: number): Axis {
  const untilMs = Math.max(zeroMs + 1, endMs);
  return { fromMs: zeroMs - (untilMs - zeroMs) * LEAD, zeroMs, untilMs };
}

/** 0 is the beginning of the axis, 1 its end; what is outside of it lies at its edge. */
export function shareOf({ fromMs, untilMs }: Axis, atMs: number): number {
  return (Math.min(Math.max(atMs, fromMs), untilMs) - fromMs) / (untilMs - fromMs);
}

export interface Tick {
  readonly atMs: number;
  readonly text: string;
}

/** At most `max` + 1 round times, beginning with 0. */
export function ticksOf({ zeroMs, untilMs }: Axis, max: number): readonly Tick[] {
  const stepMs = roundStep((untilMs - zeroMs) / max);
  const count = Math.floor((untilMs - zeroMs) / stepMs) + 1;
  return Array.from({ length: count }, (_, index) => ({
    atMs: zeroMs + index * stepMs,
    text: index === 0 ? '0' : seconds(index * stepMs),
  }));
}

/** The distance of two marks: 1, 2 or 5 times a power of ten, at least `ms`. */
function roundStep(ms: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= ms) ?? 10 * power;
}
