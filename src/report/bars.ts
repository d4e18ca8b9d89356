/**
 * The parts of a chart's row, and what a check predicts in them of a pod's stop.
 */

/**
 * What a member did in a stretch of time. `wake`: it was asked to stop, and its supervisor had to start. `stop`: a stop
 * signal was sent; `kill`: KILL was; `rest`: the same for left-over processes.
 */
export type Activity = 'run' | 'wait' | 'wake' | 'hold' | 'drain' | 'linger' | 'pre-stop' | 'stop' | 'kill' | 'rest';

/** `maybe`: only the longest that is possible lasts so long. */
export type Paint = Exclude<Activity, 'wait'> | 'maybe';

export interface Bar {
  readonly paint: Paint;
  readonly fromMs: number;
  readonly untilMs: number;
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
  /** By the member's name. */
  readonly members: ReadonlyMap<string, MemberPrediction>;
}

/** Milliseconds since the first stop signal of the pod. */
export interface MemberPrediction {
  readonly minMs: number;
  readonly maxMs: number;
  /** By whomever. */
  readonly kill: 'never' | 'maybe' | 'always';
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}
