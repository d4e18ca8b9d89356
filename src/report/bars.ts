/** The parts of a chart: its time axis and what stands in a row. A check predicts a pod's stop in them. */
import { seconds } from '../core/format/evidence.ts';

/**
 * What a member did in a stretch of time. `wake`: it was asked to stop, and its supervisor had to start. `stop`: a stop
 * signal was sent; `kill`: KILL was; `rest`: the same for leftover processes.
 */
export type Activity = 'run' | 'wait' | 'wake' | 'hold' | 'drain' | 'linger' | 'pre-stop' | 'stop' | 'kill' | 'rest';

/** `maybe`: only the longest that is possible lasts so long. */
export type Paint = Exclude<Activity, 'wait'> | 'maybe';

export interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Bar extends Stretch {
  readonly paint: Paint;
  /** `drain`, and with its time `drain 4.2 s`. */
  readonly name: string;
  readonly label: string;
}

export interface Mark {
  readonly atMs: number;
  readonly text: string;
  readonly kind: 'signal' | 'killed' | 'ended';
}

export interface Prediction {
  /** `Deployment/web of web.yaml`. */
  readonly of: string;
  readonly members: ReadonlyMap<string, MemberPrediction>;
}

/** Milliseconds since the first stop signal of the pod. */
export interface MemberPrediction {
  readonly minMs: number;
  readonly maxMs: number;
  /** By whatever sender. */
  readonly kill: 'never' | 'maybe' | 'always';
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}

export interface Axis extends Stretch {
  /** The first stop request: 0 of the scale. */
  readonly zeroMs: number;
}

/** How much of the time after the request is shown before it: enough to see which members were running. */
const LEAD = 1 / 12;

/** `firstMs`: what is shown before the request begins there. */
export function axisBetween(zeroMs: number, endMs: number, firstMs = zeroMs): Axis {
  const untilMs = Math.max(zeroMs + 1, endMs);
  return { fromMs: firstMs - (untilMs - firstMs) * LEAD, zeroMs, untilMs };
}

/** 0 is the beginning of the axis, 1 its end; what is outside of it lies at its edge. */
export function shareOf({ fromMs, untilMs }: Axis, atMs: number): number {
  return (Math.min(Math.max(atMs, fromMs), untilMs) - fromMs) / (untilMs - fromMs);
}

/** At most `max` + 1 round times, beginning with 0. */
export function ticksOf({ zeroMs, untilMs }: Axis, max: number): readonly { atMs: number; text: string }[] {
  const leastMs = (untilMs - zeroMs) / max;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, leastMs)));
  const stepMs = [1, 2, 5].map((factor) => factor * power).find((step) => step >= leastMs) ?? 10 * power;
  return Array.from({ length: Math.floor((untilMs - zeroMs) / stepMs) + 1 }, (_, index) => ({
    atMs: zeroMs + index * stepMs,
    text: index === 0 ? '0' : seconds(index * stepMs),
  }));
}
