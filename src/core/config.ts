/**
 * The configuration of one member, as the lifecycle sees it: validated, complete, frozen.
 * Made once at the border (`src/cli/config.ts`); nothing below reads argv or the environment.
 * All durations are integral milliseconds.
 */

export type Role = 'main' | 'sidecar';

/** The pod's policy. A container cannot see it, so it is declared. */
export type RestartPolicy = 'Never' | 'OnFailure' | 'Always';

/** Whether the child is restarted in place, inside this container. */
export type RestartMode = 'auto' | 'never' | 'on-failure' | 'always';

/** When a start gate opens: the other member has started, or has ended with exit code 0. */
export type GateCondition = 'started' | 'completed';

export interface StartGate {
  readonly name: string;
  readonly condition: GateCondition;
  /** Absent is fine: a member that has carved no tombstone does not hold this one up. */
  readonly optional: boolean;
}

/** One step of the stop ladder. Without `forMs` it lasts until the deadline. */
export interface Rung {
  readonly signal: number;
  readonly forMs: number | undefined;
}

/**
 * What becomes of a signal that arrived: another number, or `drop`. Numbers that are not in the map are forwarded as
 * they came. Not chained. Keys and values 1..64.
 */
export type SignalMap = Readonly<Record<number, number | 'drop'>>;

/** Whether a sidecar that is asked to stop keeps serving while mains live; a duration: only if a main is asked too within it. */
export type Hold =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'for'; readonly ms: number };

/** What this container exits with. `map` is consulted after 128+n has been applied. */
export type ExitCodePolicy =
  | { readonly kind: 'keep' }
  | { readonly kind: 'zero-when-stopped' }
  | { readonly kind: 'map'; readonly codes: Readonly<Record<number, number>> };

export interface MemberConfig {
  readonly name: string;
  readonly role: Role;
  readonly restartPolicy: RestartPolicy;
  /** The roster. Empty: every member seen with role main. */
  readonly mains: readonly string[];
  readonly when: 'all' | 'any';
  readonly startAfter: readonly StartGate[];
  readonly startTimeoutMs: number;
  readonly startTimeoutAction: 'fail' | 'continue';
  readonly signals: SignalMap;
  /** Not declared: the stop signal that arrived, translated, is the only rung. */
  readonly ladder: readonly Rung[] | undefined;
  /** Which signals are stop requests. */
  readonly stopSignals: readonly number[];
  /** `undefined`: not declared by the user. */
  readonly gracePeriodMs: number | undefined;
  readonly hold: Hold;
  readonly drainMs: number;
  readonly lingerMs: number;
  readonly restart: RestartMode;
  readonly exitCode: ExitCodePolicy;
  readonly session: string | undefined;
  /** No graveyard: nothing is shared, no peer is waited for. */
  readonly solo: boolean;
}
