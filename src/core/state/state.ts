/**
 * What a member's supervisor knows, as plain data. All of it but `peers` is the memo that init keeps for the next
 * supervisor. Desired and actual state are separate: `child` is what is, `stop` is what is wanted, `climb` is what is
 * being done about it.
 */
import type { ProbeKind } from '../config.ts';
import type { ChildExit } from '../exit.ts';
import type { DeathReason, Phase } from '../format/tombstone.ts';
import { FIRST_BACKOFF_MS } from '../restart.ts';
import type { Instant } from '../time.ts';
import { type Chronicle, NOTHING_WRITTEN } from './chronicle.ts';
import type { Peer } from './peer.ts';

/** The actual state of the supervised process. A value exists only where it means something. */
export type Child =
  /** A start gate is shut, or the graveyard is unread. `after`: how the life before ended, in a restart of the pod. */
  | { readonly is: 'unstarted'; readonly after?: ChildExit }
  /** `after`: how the previous life ended, if there was one. */
  | { readonly is: 'spawning'; readonly id: number; readonly after?: ChildExit | undefined }
  | { readonly is: 'alive'; readonly id: number; readonly pid: number; readonly sinceMs: number }
  /** The process was reaped, and processes that it started may be left: roots, whose parent is the host. */
  | {
      readonly is: 'roots';
      readonly id: number;
      readonly exit: ChildExit;
      readonly sinceMs: number;
      readonly livedMs: number;
      /** The kernel ended it because memory ran out. */
      readonly oom: boolean;
    }
  | { readonly is: 'backoff'; readonly untilMs: number; readonly exit: ChildExit }
  /** `status` is how the command ended, `code` what the container exits with. */
  | {
      readonly is: 'gone';
      readonly status: number;
      readonly code: number;
      readonly reason: DeathReason;
      readonly final: boolean;
    };

/** The stop in progress. It stays until the end, except in a restart in place: another start removes it. */
export interface Stop {
  /** `platform`: somebody asked for it, also by `sexton stop` or a restart in place; `self`: sexton decided on it. */
  readonly origin: 'platform' | 'self';
  /** As in the tombstone: `signal TERM`, `mains finished`. */
  readonly reason: string;
  readonly atMs: number;
  /** The signal of the request; TERM where no signal came. */
  readonly signal: number;
  /** How many requests of the platform have come. See `isHurried`. */
  readonly requests: number;
  /** The end of the drain; for an adaptive one first its latest end, then its actual one. */
  readonly earliestMs: number;
  /** The members that `sexton stop` named together, which alone are waited for; undefined: all, or another origin. */
  readonly among?: readonly string[] | undefined;
  /** The platform's first request, to recognize the same signal when it comes again right behind it. */
  readonly asked?: { readonly signal: number; readonly atMs: number };
  /** The platform stops only this container: the pod goes on, and no member waits for another. */
  readonly alone?: true;
  /** What it waits for now; undefined: nothing, the ladder has begun. */
  readonly waitsFor: 'turn' | 'drain' | 'linger' | 'pre-stop' | undefined;
}

/** Whether the platform has asked more than once: then nothing is waited for any more. */
export function isHurried({ requests }: Pick<Stop, 'requests'>): boolean {
  return requests >= 2;
}

/** A restart in place of the pod, or of some members, identified by its time. */
export interface RestartAsk {
  /** CLOCK_MONOTONIC milliseconds. */
  readonly requestedMs: number;
  /** The origin of the request, for the record. */
  readonly by: string;
  /** From the request to KILL; undefined: as each member has declared. */
  readonly graceMs: number | undefined;
  /** undefined: all members. */
  readonly among: readonly string[] | undefined;
  /** The exit code of a member with a rule that restarts all containers on it; undefined: all start again in place. */
  readonly byRule: number | undefined;
}

/** What tells one restart from another. */
export type Round = Pick<RestartAsk, 'requestedMs' | 'among' | 'byRule'>;

/** The restart that this member takes part in, or took part in last. */
export interface Restart extends RestartAsk {
  /** The earliest time for the next start; undefined: it lives again, or was born after the request. */
  readonly restUntilMs?: number | undefined;
  /** Those gone through before it, the latest few: requests and tombstones that name them are outdated. */
  readonly passed?: readonly Round[] | undefined;
  /** Since when the member starts again, or since its birth if that was after the request. */
  readonly againSinceMs?: number | undefined;
  /** The latest request that waits until this restart is over. */
  readonly next?: RestartAsk | undefined;
}

/** Connections from one address to one port at regular intervals. */
export interface SteadyPace {
  readonly from: string;
  readonly port: number;
  readonly everyMs: number;
}

/** What an adaptive drain has seen. */
export interface Traffic {
  /** When this supervisor last saw the connections; undefined: not yet, or it cannot. */
  readonly atMs: number | undefined;
  /** When the last connection that counts came; undefined: none has. */
  readonly lastMs: number | undefined;
  readonly connections: number;
  readonly ignored: number;
  /** Connections that were established then; undefined: not counted. */
  readonly open: number | undefined;
  /** Those of the ignored that only their address excludes. */
  readonly byAddress: number;
  /** The common pace of all that count; undefined: they do not come as probes do. */
  readonly steady?: SteadyPace | undefined;
  /** Why connections cannot be seen here. */
  readonly unseen: string | undefined;
  /** Why the drain is over; undefined: it goes on. */
  readonly ended: 'quiet' | 'idle' | 'max' | 'grace floor' | 'deadline' | 'asked again' | 'command ended' | undefined;
}

/** What the application has answered to `idleWhen`. */
export interface IdleLook {
  /** `idle`, the sum of its metrics, or what went wrong. */
  readonly says: string;
  /** What it said when the drain began. */
  readonly first: string;
  /** The last known sum, when it last changed, and the last one that was logged. */
  readonly sum: number | undefined;
  readonly changedMs: number;
  readonly told: number | undefined;
  /** When it was asked last. */
  readonly askedMs: number;
  /** Since when all answers are idle. */
  readonly idleSinceMs: number | undefined;
  readonly lastBusyMs: number | undefined;
  readonly nextAtMs: number;
}

/** Why this life of the child must end although the member does not stop. */
export type FailingWhy = 'startup' | 'liveness' | 'post-start';

export interface Failing {
  readonly why: FailingWhy;
  readonly sinceMs: number;
  /** RFC 3339. */
  readonly since: string;
  readonly killAtMs: number;
}

export type HookKind = 'postStart' | 'preStop';
export type TaskKey = HookKind | ProbeKind | `reload ${number}` | `quit ${number}` | `ready ${number}` | 'idle';

/** A running action: a probe, a hook, the validation of a reload, a quit call, a ready check or an idle check. */
export interface Task {
  readonly key: TaskKey;
  readonly id: number;
  readonly sinceMs: number;
  /** When it times out, if it has a time limit of its own. */
  readonly untilMs: number | undefined;
  /** The host was ordered to end it. */
  readonly ending: boolean;
  /** The time of that order. If the machine was paused, it can be later than `untilMs`. */
  readonly toldMs?: number;
}

export interface Hook {
  readonly ok: boolean;
  readonly sinceMs: number;
}

/** What this life of the command has told by sd_notify(3). */
export interface Notified {
  readonly ready: boolean;
  readonly stopping: boolean;
  /** Since its RELOADING=1 it has not said READY=1 again. */
  readonly reloading: boolean;
  /** When log and history last got a reload, and whether they do not get this one. */
  readonly toldMs?: number;
  readonly isUntold?: boolean;
  readonly status?: string | undefined;
  /** Why its watchdog has failed. */
  readonly failed?: string;
  /** The time that it has chosen by WATCHDOG_USEC= in place of the declared one; 0: none. */
  readonly watchdogMs?: number;
  /** undefined: it has not said so in this life. */
  readonly idle?: boolean;
  /** Until then it asks for time. */
  readonly busyUntilMs?: number;
  /** How many assignments meant nothing here. */
  readonly ignored: number;
}

/** What one probe of the child has shown. */
export interface Vital {
  readonly verdict: 'unknown' | 'up' | 'down';
  /** The number of equal results in a row up to now. */
  readonly run: number;
  readonly lastOk: boolean | undefined;
  readonly nextAtMs: number;
}

/** The last answer of a process that a start gate waits for. */
export interface ReadyCheck {
  readonly ok: boolean;
  /** In a few words. */
  readonly detail: string;
  /** Since the last success. */
  readonly failures: number;
  readonly nextAtMs: number;
}

/** The ladder under way: for a stop, a life that has failed, or (`rest`) what an ended command has left behind. */
export interface Climb {
  readonly why: 'stop' | 'rest' | 'failing';
  readonly rung: number;
  readonly sinceMs: number;
  /** The end of a climb that sexton itself decided on; undefined: only the pod's deadline ends it. */
  readonly killAtMs: number | undefined;
  /** KILL was sent: no further rung is left. */
  readonly killed: boolean;
  /** The signal of a further request, which the host has passed on: the command does not get it twice. */
  readonly passedOn?: number;
}

/** When a stop that somebody asked for must be over. */
export interface Deadline {
  readonly atMs: number;
  /** Since when the budget runs. */
  readonly sinceMs: number;
  /** Our own KILL ends the child then; not in a platform's stop without a declared grace period. */
  readonly kills: boolean;
  /** It is the pod's: other stopping members wait no longer, either. */
  readonly shared: boolean;
}

/** A time before which no stop of the pod began, published for another member that is being stopped. */
export interface PodStopBound {
  /** This member had not been asked to stop by then; undefined: no other member needs to know. */
  readonly lookedMs: number | undefined;
  /** When this member last ran, and since when without a standstill of the machine. */
  readonly ranMs: number;
  readonly steadySinceMs: number;
  /** No stop of the pod began before this, CLOCK_MONOTONIC milliseconds. */
  readonly notBeforeMs: number | undefined;
}

export interface State {
  /** Random for each start of the host; the first half of every incarnation. */
  readonly hostId: string;
  /** The kernel's boot id: monotonic times of another boot mean nothing here. */
  readonly bootId: string;
  /** Other boot ids that this kernel shows to containers. */
  readonly boots: readonly string[];
  /** The run of the pod's init containers that this container follows; undefined: not recorded, or not read yet. */
  readonly generation: string | undefined;
  /** When this container started. */
  readonly startedAtMs: number;
  readonly now: Instant;
  /** When the graveyard was first read; undefined: not yet. */
  readonly firstLookMs: number | undefined;
  /** When the graveyard was last read. A doubtful peer counts as dead once this time has passed its limit. */
  readonly lookedMs: number;
  /** All earlier events have been folded in: the rules may act. */
  readonly hasCaughtUp: boolean;
  readonly phase: Phase;
  readonly child: Child;
  readonly stop: Stop | undefined;
  readonly climb: Climb | undefined;
  readonly restart: Restart | undefined;
  /** How often the member has started again for a restart. */
  readonly podRestarts: number;
  readonly deadline: Deadline | undefined;
  readonly podStopBound: PodStopBound | undefined;
  /** undefined: no adaptive drain has begun. */
  readonly traffic: Traffic | undefined;
  /** undefined: it was not asked in this drain, nor when it became ready. */
  readonly idle: IdleLook | undefined;
  /** The number of children started; the id of the last one. */
  readonly births: number;
  /** This and the next three belong to the current life of the child and end with it. */
  readonly failing: Failing | undefined;
  readonly hooks: Readonly<Partial<Record<HookKind, Hook>>>;
  readonly vitals: Readonly<Partial<Record<ProbeKind, Vital>>>;
  /** undefined: nothing. */
  readonly notified: Notified | undefined;
  /** By index in `startReady`; an entry is absent until the first answer. */
  readonly looks: Readonly<Record<number, ReadyCheck>>;
  readonly tasks: readonly Task[];
  /** The number of actions begun; the id of the last one. */
  readonly actions: number;
  /** The next pause between a death and the next start. */
  readonly backoffMs: number;
  /** What was logged once and is not logged again. */
  readonly said: readonly string[];
  readonly chronicle: Chronicle;
  /** By name; undefined: the graveyard was not read yet. Not part of the memo. */
  readonly peers: Readonly<Record<string, Peer>> | undefined;
}

/** Where and when a life begins. */
export interface Origin {
  readonly hostId: string;
  readonly bootId: string;
  readonly startedAtMs: number;
  readonly now: Instant;
  readonly solo: boolean;
}

/** The stop reason of a sidecar whose mains have finished. */
export const MAINS_FINISHED = 'mains finished';
/** The stop reason of `sexton stop`. */
export const REQUEST = 'request';
/** The stop reason of a restart in place: a stop that ends in another start. */
export const RESTART = 'restart requested';

export function initialState(origin: Origin): State {
  return {
    hostId: origin.hostId,
    bootId: origin.bootId,
    boots: [],
    generation: undefined,
    startedAtMs: origin.startedAtMs,
    now: origin.now,
    firstLookMs: undefined,
    lookedMs: 0,
    hasCaughtUp: false,
    phase: 'waiting',
    child: { is: 'unstarted' },
    stop: undefined,
    climb: undefined,
    restart: undefined,
    podRestarts: 0,
    deadline: undefined,
    podStopBound: undefined,
    traffic: undefined,
    idle: undefined,
    births: 0,
    failing: undefined,
    hooks: {},
    vitals: {},
    notified: undefined,
    looks: {},
    tasks: [],
    actions: 0,
    backoffMs: FIRST_BACKOFF_MS,
    said: [],
    chronicle: NOTHING_WRITTEN,
    peers: origin.solo ? {} : undefined,
  };
}
