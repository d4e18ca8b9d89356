/**
 * The configuration of one member, as the lifecycle sees it: validated, complete, frozen.
 * Made once at the border (`src/config/resolve.ts`); nothing below reads argv or the environment.
 * All durations are integral milliseconds.
 */

import type { RestartPolicy, Role } from './format/tombstone-type.ts';

export type { RestartPolicy, Role };

/** A container that exits with one of these codes is started again, whatever the policy. */
export interface RestartRule {
  /** `restart-all`: all containers of the pod are ended and started again, after its init containers. */
  readonly action: 'restart' | 'restart-all';
  readonly codes: readonly number[];
  /** It matches every code but these. */
  readonly except: boolean;
}

/** Whether the child is restarted in place, inside this container. */
export type RestartMode = 'auto' | 'never' | 'on-failure' | 'always';

/** When a start gate opens: the other member has started, is ready to serve, or has ended with exit code 0. */
export type GateCondition = 'started' | 'healthy' | 'completed';

export interface StartGate {
  readonly name: string;
  readonly condition: GateCondition;
  /** Absent is fine: a member that has written no tombstone does not hold this one up. */
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

/**
 * Whether a sidecar that is asked to stop keeps serving while mains live; a duration: only if a main is asked too
 * within it.
 */
export type Hold =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'for'; readonly ms: number };

/**
 * How long a member that is asked to stop serves on: a fixed time, or until no new connection has come for `quietMs`,
 * from `minMs` to `maxMs` after the request.
 */
export type Drain = { readonly kind: 'fixed'; readonly ms: number } | AdaptiveDrain;

export interface AdaptiveDrain {
  readonly kind: 'adaptive';
  readonly minMs: number;
  readonly quietMs: number;
  readonly maxMs: number;
  /** Only connections to these count. Empty: to all that are listened on. */
  readonly ports: readonly number[];
  /** Whose connections do not count: addresses and networks, `10.1.2.3`, `fd00::/8`. */
  readonly ignore: readonly string[];
  /** Connections from this network namespace's own addresses count too. */
  readonly neighbours: boolean;
  /** What comes over connections that are kept does not count. */
  readonly newOnly: boolean;
  /** It also waits until the connections that are open have ended. */
  readonly inflight: boolean;
}

/** What this container exits with. `map` is consulted after 128+n has been applied. */
export type ExitCodePolicy =
  | { readonly kind: 'keep' }
  | { readonly kind: 'zero-when-stopped' }
  | { readonly kind: 'map'; readonly codes: Readonly<Record<number, number>> };

/** A program and its arguments, started without a shell, with the application's environment. */
export interface ExecAction {
  readonly kind: 'exec';
  readonly argv: readonly [string, ...string[]];
}

/** Success is a status from 200 to 399, as for the kubelet; certificates are not checked. */
export interface HttpAction {
  readonly kind: 'http';
  readonly method: 'GET' | 'POST';
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** With the query, if any; begins with `/`. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Success is a connection that is accepted. */
export interface TcpAction {
  readonly kind: 'tcp';
  readonly host: string;
  readonly port: number;
}

/** Success is SERVING from grpc.health.v1.Health/Check. */
export interface GrpcAction {
  readonly kind: 'grpc';
  readonly host: string;
  readonly port: number;
  /** Empty: the server as a whole. */
  readonly service: string;
}

export interface SleepAction {
  readonly kind: 'sleep';
  readonly ms: number;
}

export type ProbeAction = ExecAction | HttpAction | TcpAction | GrpcAction;
export type HookAction = ExecAction | HttpAction | TcpAction | SleepAction;

/** A probe with the meaning and the defaults of Kubernetes: every 10 s, 1 s each, 3 failures, 1 success, no delay. */
export interface Probe {
  readonly action: ProbeAction;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** So many failures in a row count as one. */
  readonly failures: number;
  /** So many successes in a row count as one; 1 for startup and liveness. */
  readonly successes: number;
  /** From the start of the child to the first probe. */
  readonly delayMs: number;
  /** Startup and liveness: the budget of the stop that a failure leads to, in place of the grace period. */
  readonly graceMs: number | undefined;
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/**
 * Asks a process in another container to leave, by HTTP calls one after the other, and waits until its port is closed.
 */
export interface QuitAction {
  readonly kind: 'quit';
  /** As the user wrote it: a preset or a URL. */
  readonly name: string;
  readonly calls: readonly [HttpAction, ...HttpAction[]];
  /** What to say when it answers 404: where that is switched on. */
  readonly hint: string | undefined;
  /** What to say when nothing listens, where that does not mean that it has gone. */
  readonly absent?: string;
}

/** Asks a process in another container whether it is ready, by one HTTP call: success is a status from 200 to 399. */
export interface ReadyAction {
  readonly kind: 'ready';
  /** As the user wrote it: a preset or a URL. */
  readonly name: string;
  readonly call: HttpAction;
  /** Absent is fine: where nothing listens there is nothing to wait for. */
  readonly optional: boolean;
  /** What to say when nothing listens, or when it answers 404: where that is switched on. */
  readonly hint: string | undefined;
}

/** A file or directory whose change is told to the child by a signal. */
export interface Reload {
  readonly path: string;
  readonly signal: number;
  /** Must exit with 0, or the signal is not sent. */
  readonly validate: ExecAction | undefined;
}

/** Which ends of a main restart all members of the pod in place. */
export interface RestartPodOn {
  /** Exit codes of the command, which nobody has asked to stop. */
  readonly codes: readonly number[];
  /** Its liveness probe has failed. */
  readonly liveness: boolean;
  /** After so many restarts in this container none is asked for; undefined: by the restart policy. */
  readonly max: number | undefined;
}

export interface MemberConfig {
  readonly name: string;
  readonly role: Role;
  readonly restartPolicy: RestartPolicy;
  readonly restartRules: readonly RestartRule[];
  /** The roster. Empty: every member seen with role main. */
  readonly mains: readonly string[];
  readonly when: 'all' | 'any';
  readonly startAfter: readonly StartGate[];
  /** Start gates on processes that are no members: each is open while the process is ready. */
  readonly startReady: readonly ReadyAction[];
  readonly startTimeoutMs: number;
  readonly startTimeoutAction: 'fail' | 'continue';
  readonly signals: SignalMap;
  /** Not declared: the stop signal that arrived, translated, is the only rung. */
  readonly ladder: readonly Rung[] | undefined;
  /** Which signals are stop requests. */
  readonly stopSignals: readonly number[];
  /** `undefined`: not declared by the user. */
  readonly gracePeriodMs: number | undefined;
  /**
   * The shortest time that the platform may leave between its stop request and its KILL; `undefined`: what is declared.
   */
  readonly graceFloorMs: number | undefined;
  /**
   * How long the platform's own pre-stop hook of this container takes at most; 0: it has none; `undefined`: not
   * declared.
   */
  readonly platformPreStopMs: number | undefined;
  readonly hold: Hold;
  /** What lies between a stop request and the first rung; `undefined`: nothing. */
  readonly drain: Drain | undefined;
  readonly lingerMs: number;
  readonly probes: Readonly<Record<ProbeKind, Probe | undefined>>;
  readonly postStart: HookAction | undefined;
  readonly preStop: HookAction | undefined;
  readonly reload: readonly Reload[];
  /** Whom a main asks to leave when its life is over for good. */
  readonly quit: readonly QuitAction[];
  readonly restart: RestartMode;
  readonly restartPodOn: RestartPodOn;
  readonly exitCode: ExitCodePolicy;
  /** What a command that cannot be started counts as; `undefined`: 127 not found, 126 not executable. */
  readonly startFailureCode: number | undefined;
  readonly session: string | undefined;
  /** No graveyard: nothing is shared, no peer is waited for. */
  readonly solo: boolean;
}
