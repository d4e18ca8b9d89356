/**
 * The configuration of one member, as the lifecycle sees it: validated, complete, frozen. Made once at the border
 * (`src/config/resolve.ts`); nothing below reads argv or the environment. All durations are integral milliseconds.
 */
import type { RestartPolicy, Role } from './tombstone-type.ts';

export type { RestartPolicy, Role };

/** A container that exits with one of these codes is restarted, whatever the policy. */
export interface RestartRule {
  /** `restart-all`: all containers of the pod end and start again, after its init containers. */
  readonly action: 'restart' | 'restart-all';
  readonly codes: readonly number[];
  /** It matches all other codes instead. */
  readonly except: boolean;
}

/** Whether the child is restarted in place, inside this container. */
export type RestartMode = 'auto' | 'never' | 'on-failure' | 'always';

/** A start gate opens when the other member has started, is ready to serve, or has ended with exit code 0. */
export type GateCondition = 'started' | 'healthy' | 'completed';

export interface StartGate {
  readonly name: string;
  readonly condition: GateCondition;
  /** A member without a tombstone does not hold this one up. */
  readonly optional: boolean;
}

/** One step of the stop ladder. Without `forMs` it lasts until the deadline. */
export interface Rung {
  readonly signal: number;
  readonly forMs: number | undefined;
}

/** Another number, or `drop`. Signals not in the map are forwarded unchanged. Not chained. Keys and values 1..64. */
export type SignalMap = Readonly<Record<number, number | 'drop'>>;

/** Whether a sidecar that is asked to stop serves on while mains live; `for`: only if a main is asked in that time. */
export type Hold =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'for'; readonly ms: number };

/**
 * How long a member serves on after a stop request: a fixed time, or until no new connection came for `quietMs`.
 * `minMs` and `maxMs` count from the request.
 */
export type Drain = { readonly kind: 'fixed'; readonly ms: number } | AdaptiveDrain;

export interface AdaptiveDrain {
  readonly kind: 'adaptive';
  readonly minMs: number;
  /** 0: connections do not count, `idleWhen` alone does. */
  readonly quietMs: number;
  readonly maxMs: number;
  /** Only connections to these ports count. Empty: all listening ports. */
  readonly ports: readonly number[];
  /** Peers whose connections do not count: addresses and networks, `10.1.2.3`, `fd00::/8`. */
  readonly ignore: readonly string[];
  /** Connections from this network namespace's own addresses count, too. */
  readonly neighbours: boolean;
  /** Requests on connections that are kept do not count. */
  readonly newOnly: boolean;
  /** The drain also waits for open connections to end. */
  readonly inflight: boolean;
}

/** What this container exits with. `map` is consulted after 128+n has been applied. */
export type ExitCodePolicy =
  | { readonly kind: 'keep' }
  | { readonly kind: 'zero-when-stopped' }
  | { readonly kind: 'map'; readonly codes: Readonly<Record<number, number>> };

/** A program and its arguments, run without a shell and with the environment of the application. */
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
  /** The number of failures in a row that count as one. */
  readonly failures: number;
  /** The number of successes in a row that count as one; 1 for startup and liveness. */
  readonly successes: number;
  /** From the start of the child to the first probe. */
  readonly delayMs: number;
  /** Startup and liveness: the budget of the stop after a failure, in place of the grace period. */
  readonly graceMs: number | undefined;
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/** Asks a process in another container to exit, by HTTP calls in turn, and waits until its port is closed. */
export interface QuitAction {
  readonly kind: 'quit';
  /** As the user wrote it: a preset or a URL. */
  readonly name: string;
  readonly calls: readonly [HttpAction, ...HttpAction[]];
  /** A hint for the answer 404: where that is switched on. */
  readonly hint: string | undefined;
  /** A hint for when nothing listens, where that does not mean that it has exited. */
  readonly absent?: string;
}

/** Asks a process in another container whether it is ready, by one HTTP call: success is a status from 200 to 399. */
export interface ReadyAction {
  readonly kind: 'ready';
  /** As the user wrote it: a preset or a URL. */
  readonly name: string;
  readonly call: HttpAction;
  /** Where nothing listens there is nothing to wait for. */
  readonly optional: boolean;
  /** A hint for when nothing listens, and for the answer 404: where that is switched on. */
  readonly hint: string | undefined;
}

/** Asks the command whether it is idle: by a status from 200 to 299, or, where metrics are named, by their sum of 0. */
export interface GaugeAction {
  readonly kind: 'gauge';
  readonly call: HttpAction;
  readonly metrics: readonly Metric[];
}

/** All series of this name that have these labels. */
export interface Metric {
  readonly name: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
}

/** A mark of the command: idle while the file is there, or while it is not. */
export interface FileAction {
  readonly kind: 'file';
  readonly path: string;
  readonly idle: 'present' | 'absent';
}

/** The command says by itself whether it is idle, by X_SEXTON_IDLE= to NOTIFY_SOCKET. */
export interface NotifyAction {
  readonly kind: 'notify';
}

/** The question that an adaptive drain asks again and again. An error is no answer, and counts as busy. */
export interface IdleCheck {
  readonly action: ExecAction | GaugeAction | FileAction | NotifyAction;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** It is idle after so long without any other answer. */
  readonly forMs: number;
  /** And so long after the last change of the metrics. */
  readonly staleMs: number;
}

export type TaskAction =
  | HookAction
  | ProbeAction
  | QuitAction
  | ReadyAction
  | Exclude<IdleCheck['action'], NotifyAction>;

/** A file or directory whose changes are announced to the child by a signal. */
export interface Reload {
  readonly path: string;
  readonly signal: number;
  /** Must exit with 0, or the signal is not sent. */
  readonly validate: ExecAction | undefined;
}

/** The ends of a main that restart all members of the pod in place. */
export interface RestartPodOn {
  /** Exit codes of a command that was not asked to stop. */
  readonly codes: readonly number[];
  /** Its liveness probe has failed. */
  readonly liveness: boolean;
  /** The number of restarts in this container after which none is asked for; undefined: by the restart policy. */
  readonly max: number | undefined;
}

export interface MemberConfig {
  readonly name: string;
  readonly role: Role;
  readonly restartPolicy: RestartPolicy;
  readonly restartRules: readonly RestartRule[];
  /** The roster of mains. Empty: every member seen with role main. */
  readonly mains: readonly string[];
  readonly when: 'all' | 'any';
  readonly startAfter: readonly StartGate[];
  /** Start gates on processes that are no members: each is open while its process is ready. */
  readonly startReady: readonly ReadyAction[];
  readonly startTimeoutMs: number;
  readonly startTimeoutAction: 'fail' | 'continue';
  readonly signals: SignalMap;
  /** Not declared: the stop signal that arrived, translated, is the only rung. */
  readonly ladder: readonly Rung[] | undefined;
  readonly stopSignals: readonly number[];
  /** `undefined`: not declared by the user. */
  readonly gracePeriodMs: number | undefined;
  /** The least time that the platform may leave between its stop request and its KILL; undefined: as declared. */
  readonly graceFloorMs: number | undefined;
  /** The longest time of the platform's own pre-stop hook of this container; 0: no hook; undefined: not declared. */
  readonly platformPreStopMs: number | undefined;
  readonly hold: Hold;
  /** What lies between a stop request and the first rung; undefined: nothing. */
  readonly drain: Drain | undefined;
  /** The second condition of an adaptive drain; undefined: there is none. */
  readonly idleWhen: IdleCheck | undefined;
  readonly lingerMs: number;
  readonly probes: Readonly<Record<ProbeKind, Probe | undefined>>;
  /** The command has started when it says READY=1. */
  readonly notifies: boolean;
  /** It has to say WATCHDOG=1 at least this often, once it has started; undefined: it need not. */
  readonly watchdogMs: number | undefined;
  readonly postStart: HookAction | undefined;
  readonly preStop: HookAction | undefined;
  readonly reload: readonly Reload[];
  /** The processes that a main asks to exit when its life is over for good. */
  readonly quit: readonly QuitAction[];
  readonly restart: RestartMode;
  readonly restartPodOn: RestartPodOn;
  readonly exitCode: ExitCodePolicy;
  /** The exit code of a command that cannot be started; undefined: 127 not found, 126 not executable. */
  readonly startFailureCode: number | undefined;
  readonly session: string | undefined;
  /** No graveyard: nothing is shared, and no peer is waited for. */
  readonly solo: boolean;
}
