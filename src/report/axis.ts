/**
 * The time axis of a pod's stop, the same for text, picture and page: from a little before the first stop request to
 * the last end, or to the deadline where that is near enough to be shown.
 */
import { type PodStop, type Span, stopMsOf } from './stop.ts';
import { seconds } from './words.ts';

export interface Axis {
  readonly fromMs: number;
  /** The first stop request: 0 of the scale. */
  readonly zeroMs: number;
  readonly untilMs: number;
}

/** Of the time from the request to the end of the axis: enough to see which members were running. */
const LEAD = 1 / 12;

export function axisOf(pod: PodStop): Axis {
  const { beganMs: zeroMs, endedMs, deadlineMs } = pod;
  const isNear = deadlineMs !== undefined && deadlineMs - zeroMs <= 2 * stopMsOf(pod);
  const untilMs = Math.max(zeroMs + 1, endedMs, isNear ? deadlineMs : endedMs);
  return { fromMs: zeroMs - (untilMs - zeroMs) * LEAD, zeroMs, untilMs };
}

/** 0 is the beginning of the axis, 1 its end; what is outside of it lies at its edge. */
export function shareOf({ fromMs, untilMs }: Axis, atMs: number): number {
  return (Math.min(Math.max(atMs, fromMs), untilMs) - fromMs) / (untilMs - fromMs);
}

/** Whether any of it can be seen. What was only waited for from one event to the next is not drawn. */
export function isShown({ fromMs }: Axis, span: Span): boolean {
  return span.untilMs >= fromMs && span.activity !== 'wait';
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
