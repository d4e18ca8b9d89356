/**
 * What a member's supervisor knows: plain data. State but its `peers` is the memo that init keeps for a supervisor that
 * comes back. What can happen to it and what it can do stands in `events.ts`. Desired and actual are apart: `child` is
 * what is, `stop` is what is wanted, `climb` is what is being done about it.
 */

import type { ProbeKind } from '../config.ts';
import type { ChildExit } from '../exit.ts';
import type { DeathReason, Phase } from '../format/tombstone.ts';
import { FIRST_BACKOFF_MS } from '../restart.ts';
import type { Instant } from '../time.ts';
import { type Chronicle, NOTHING_WRITTEN } from './chronicle.ts';
import type { Peer } from './peer.ts';

/** What is, of the supervised process. A value exists only where it means something. */
export type Child =
  /**
   * Nothing runs yet: a start gate, or the first look at the graveyard. `after`: how the life before it ended, if that
   * was for a restart of the pod.
   */
  | { readonly is: 'unstarted'; readonly after?: ChildExit }
  /** `after`: how the life before this one ended, if there was one. */
  | { readonly is: 'spawning'; readonly id: number; readonly after?: ChildExit | undefined }
  | { readonly is: 'alive'; readonly id: number; readonly pid: number; readonly sinceMs: number }
  /** The process was reaped, others that it has started are left. */
  | {
      readonly is: 'leftovers';
      readonly id: number;
      readonly exit: ChildExit;
      readonly sinceMs: number;
      readonly livedMs: number;
      /** The kernel ended it for want of memory. */
      readonly oom: boolean;
      /** Its group is empty; those that are left have left the group before. */
      readonly strays: boolean;
    }
  | { readonly is: 'backoff'; readonly untilMs: number; readonly exit: ChildExit }
  /** `status` is the truth, `code` what the container exits with. */
  | {
      readonly is: 'gone';
      readonly status: number;
      readonly code: number;
      readonly reason: DeathReason;
      readonly final: boolean;
    };

/** Who decided that this member stops. Only the platform's stop has the platform's SIGKILL at its end. */
export type StopOrigin = 'platform' | 'self';

/** The wish to stop. Once there it never goes away, but that of a restart when the member starts again. */
export interface Stop {
  readonly origin: StopOrigin;
  /** As written: `signal TERM`, `mains finished`. */
  readonly reason: string;
  readonly atMs: number;
  /** The signal that asked; TERM when none did. */
  readonly signal: number;
  /** How often the platform asked. From the second time on nothing is waited for. */
  readonly requests: number;
  /** Drain or linger lasts until then; an adaptive drain at most, and this becomes the moment in which it has ended. */
  readonly earliestMs: number;
  /**
   * The members that `sexton stop` named together: only these are waited for. undefined: all members, or a stop of
   * another origin.
   */
  readonly among?: readonly string[] | undefined;
  /** The platform's first request: the same signal right behind it is no second one. */
  readonly asked?: { readonly signal: number; readonly atMs: number };
  /** The platform stops this container alone: the pod goes on, and no member waits for another. */
  readonly alone?: true;
  /** What it waits for now; undefined: nothing, the ladder has begun. */
  readonly waitsFor: 'turn' | 'drain' | 'linger' | 'pre-stop' | undefined;
}

/** Whether the platform has asked more than once: then nothing is waited for any more. */
export function isHurried({ requests }: Pick<Stop, 'requests'>): boolean {
  return requests >= 2;
}

/**
 * A restart in place of the pod, or of some of its members. The moment of the request is its name: of two that ask, the
 * later one counts, for all that either has asked.
 */
export interface RestartAsk {
  /** CLOCK_MONOTONIC milliseconds. */
  readonly requestedMs: number;
  /** Who asked, or what, for the record. */
  readonly by: string;
  /** From the request to KILL; undefined: as each member has declared. */
  readonly graceMs: number | undefined;
  /** undefined: all members. */
  readonly among: readonly string[] | undefined;
  /** Who has a rule that restarts all containers on this code is to exit with it; undefined: all start again in place. */
  readonly byRule: number | undefined;
}

/** The one that this member takes part in, or took part in last. */
export interface Restart extends RestartAsk {
  /** The command has ended for it, and is not started before that moment; undefined: it has not ended, or lives again. */
  readonly restUntilMs?: number | undefined;
  /** The one that was gone through before: word of that is old. */
  readonly passedMs?: number | undefined;
  /** Since when the member starts again. */
  readonly againSinceMs?: number | undefined;
}

/** Connections from one address to one port, each about as long after the one before. */
export interface SteadyPace {
  readonly from: string;
  readonly port: number;
  readonly everyMs: number;
}

/** What an adaptive drain has seen. */
export interface Traffic {
  /** The moment of the last look by this supervisor; undefined: it has not looked, or cannot. */
  readonly atMs: number | undefined;
  /** Of the last connection that counts; undefined: none has come. */
  readonly lastMs: number | undefined;
  readonly connections: number;
  readonly ignored: number;
  /** Connections that were established at the last look; undefined: that was not looked at. */
  readonly open: number | undefined;
  /** Of the ignored: by nothing but their address. A memo of an older sexton does not say. */
  readonly byAddress?: number;
  /** How all that count came; undefined: not as probes do. */
  readonly steady?: SteadyPace | undefined;
  /** Why nothing can be seen here. */
  readonly unseen: string | undefined;
  /** Why the drain is over; undefined: it goes on. */
  readonly ended: 'quiet' | 'max' | 'grace floor' | 'deadline' | 'asked again' | 'command ended' | undefined;
}

/** Why this life of the child is to end although the member is not to stop. */
export type FailingWhy = 'startup' | 'liveness' | 'post-start';

export interface Failing {
  readonly why: FailingWhy;
  readonly sinceMs: number;
  /** RFC 3339. */
  readonly since: string;
  /** When the child is killed. */
  readonly killAtMs: number;
}

export type HookKind = 'postStart' | 'preStop';
export type TaskKey = HookKind | ProbeKind | `reload ${number}` | `quit ${number}` | `ready ${number}`;

/** An action that runs: a probe, a hook, the validation of a reload, a quit call, a check of a sidecar's readiness. */
export interface Task {
  readonly key: TaskKey;
  readonly id: number;
  readonly sinceMs: number;
  /** When it is ended, if it has a time of its own. */
  readonly untilMs: number | undefined;
  /** It was told to end. */
  readonly ending: boolean;
  /** When it was; after a pause of the machine that is later than `untilMs`. A memo of an older sexton does not say. */
  readonly toldMs?: number;
}

export interface Hook {
  readonly ok: boolean;
  readonly sinceMs: number;
}

/** What is known of a child by one of its probes. */
export interface Vital {
  readonly verdict: 'unknown' | 'up' | 'down';
  /** How many results in a row were like the last one. */
  readonly run: number;
  readonly lastOk: boolean | undefined;
  readonly nextAtMs: number;
}

/** What was heard of a process that a start gate waits for. */
export interface ReadyCheck {
  readonly ok: boolean;
  /** In a few words. */
  readonly detail: string;
  /** Since the last success. */
  readonly failures: number;
  readonly nextAtMs: number;
}

/**
 * The ladder under way: for a stop, to end a life that has failed, or only to clear away what a child left when it
 * ended.
 */
export interface Climb {
  readonly why: 'stop' | 'rest' | 'failing';
  readonly rung: number;
  readonly sinceMs: number;
  /** The end of a climb that sexton itself decided on; undefined: only the pod's deadline ends it. */
  readonly killAtMs: number | undefined;
  /** KILL was sent: nothing is left to try. */
  readonly killed: boolean;
}

/** When a stop that the platform asked for must be over. */
export interface Deadline {
  readonly atMs: number;
  /** Since when the budget runs. */
  readonly sinceMs: number;
  /** The child is ended by our own KILL then; a platform's stop without a declared grace period is not. */
  readonly kills: boolean;
  /** It is the pod's, not just ours: others that stop wait no longer, either. */
  readonly shared: boolean;
}

/** Before which moment no stop of the pod can have begun: published for another member that is being stopped. */
export interface PodStopBound {
  /** It had not been asked to stop then; undefined: no other member needs to know. */
  readonly lookedMs: number | undefined;
  /** No stop of the pod began before that, CLOCK_MONOTONIC milliseconds. */
  readonly notBeforeMs: number | undefined;
}

export interface State {
  /** Random per start of the host: the first half of every incarnation. */
  readonly hostId: string;
  /** The kernel's boot id: monotonic times of another boot mean nothing here. */
  readonly bootId: string;
  /** Other boot ids that containers of this kernel are shown. */
  readonly boots: readonly string[];
  /**
   * Which run of the pod's init containers this container follows; undefined: it is not recorded, or it was not read
   * yet.
   */
  readonly generation: string | undefined;
  /** When this container started. */
  readonly startedAtMs: number;
  readonly now: Instant;
  /**
   * When the others were last looked at: time that has passed since then turns no doubt about one of them into a death.
   */
  readonly lookedMs: number;
  /** All that happened before this supervisor was there has been folded in: the rules may act. */
  readonly isAwake: boolean;
  readonly phase: Phase;
  readonly child: Child;
  readonly stop: Stop | undefined;
  readonly climb: Climb | undefined;
  readonly restart: Restart | undefined;
  /** How often it has started again for one. */
  readonly podRestarts: number;
  readonly deadline: Deadline | undefined;
  readonly podStopBound: PodStopBound | undefined;
  /** undefined: there was no adaptive drain yet. */
  readonly traffic: Traffic | undefined;
  /** Children started so far: the id of the last one. */
  readonly births: number;
  /** The child to which the host passes on the next stop request by itself; undefined: it asks us first. */
  readonly promptFor: number | undefined;
  /** Of this life of the child; all is forgotten with it. */
  readonly failing: Failing | undefined;
  readonly hooks: Readonly<Partial<Record<HookKind, Hook>>>;
  readonly vitals: Readonly<Partial<Record<ProbeKind, Vital>>>;
  /** By the place in `startReady`; none: it was not heard of yet. */
  readonly looks: Readonly<Record<number, ReadyCheck>>;
  readonly tasks: readonly Task[];
  /** Actions begun so far: the id of the last one. */
  readonly actions: number;
  /** The next wait between a death and the rebirth. */
  readonly backoffMs: number;
  /** Things said once. */
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

/** The stop reason of a sidecar whose work is done. */
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
    lookedMs: 0,
    isAwake: false,
    phase: 'waiting',
    child: { is: 'unstarted' },
    stop: undefined,
    climb: undefined,
    restart: undefined,
    podRestarts: 0,
    deadline: undefined,
    podStopBound: undefined,
    traffic: undefined,
    births: 0,
    promptFor: undefined,
    failing: undefined,
    hooks: {},
    vitals: {},
    looks: {},
    tasks: [],
    actions: 0,
    backoffMs: FIRST_BACKOFF_MS,
    said: [],
    chronicle: NOTHING_WRITTEN,
    peers: origin.solo ? {} : undefined,
  };
}
