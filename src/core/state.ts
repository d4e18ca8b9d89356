/**
 * The vocabulary of the lifecycle: what a member's supervisor knows (State), what can happen to it (Event) and what it can do
 * (Effect). All three are plain data. State but its `peers` is the memo that init keeps for a supervisor that comes back.
 *
 * Desired and actual are apart: `child` is what is, `stop` is what is wanted, `climb` is what is being done about it.
 */
import type { HookAction, ProbeAction, SleepAction } from './config.ts';
import type { ChildExit } from './exit.ts';
import type { PeerView } from './peers.ts';
import type { Instant } from './time.ts';
import type { DeathReason, HistoryEntry, Phase } from './tombstone.ts';

/** What is, of the supervised process. A value exists only where it means something. */
export type Child =
  /** Nothing was started yet: a start gate, or the first look at the graveyard. */
  | { readonly is: 'unborn' }
  | { readonly is: 'spawning'; readonly id: number }
  | { readonly is: 'alive'; readonly id: number; readonly pid: number; readonly sinceMs: number }
  /** The process was reaped, others of its group are left. */
  | {
      readonly is: 'remnant';
      readonly id: number;
      readonly exit: ChildExit;
      readonly sinceMs: number;
      readonly livedMs: number;
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

/** The wish to stop. Once there it never goes away. */
export interface Stop {
  readonly origin: StopOrigin;
  /** As carved: `signal TERM`, `mains finished`. */
  readonly reason: string;
  readonly atMs: number;
  /** The signal that asked; TERM when nobody did. */
  readonly signal: number;
  /** How often the platform asked. From the second time on nothing is waited for. */
  readonly requests: number;
  /** Drain or linger lasts until then. */
  readonly earliestMs: number;
  /** What it waits for now; undefined: nothing, the ladder has begun. */
  readonly waitsFor: 'turn' | 'drain' | 'linger' | undefined;
}

/** The ladder under way: for a stop, or only to clear away what a child left of its group when it ended. */
export interface Climb {
  readonly why: 'stop' | 'rest';
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
  /** It is the pod's, not just ours: carved, for the others to adopt. */
  readonly shared: boolean;
}

/** What is only for the record. */
export interface Chronicle {
  readonly born: string | undefined;
  readonly started: string | undefined;
  readonly stopRequested: string | undefined;
  readonly died: string | undefined;
  readonly diedMonotonic: number | undefined;
  /** The last exit of the child. */
  readonly exit: ChildExit | undefined;
  readonly history: readonly HistoryEntry[];
}

/** A peer as last seen, and since when it has been seen in just this life and death. */
export interface Peer extends PeerView {
  readonly sinceMs: number;
}

export interface State {
  /** Random per start of the host: the first half of every incarnation. */
  readonly hostId: string;
  /** The kernel's boot id: monotonic times of another boot mean nothing here. */
  readonly bootId: string;
  /** When this container started. */
  readonly startedAtMs: number;
  readonly now: Instant;
  /** All that happened before this supervisor was there has been folded in: the rules may act. */
  readonly isAwake: boolean;
  readonly phase: Phase;
  readonly child: Child;
  readonly stop: Stop | undefined;
  readonly climb: Climb | undefined;
  readonly deadline: Deadline | undefined;
  /** Children started so far: the id of the last one. */
  readonly births: number;
  /** The child to which the host passes on the next stop request by itself; undefined: it asks us first. */
  readonly promptFor: number | undefined;
  /** The next wait between a death and the rebirth. */
  readonly backoffMs: number;
  /** Things said once. */
  readonly said: readonly string[];
  readonly chronicle: Chronicle;
  /** By name; undefined: the graveyard was not read yet. Not part of the memo. */
  readonly peers: Readonly<Record<string, Peer>> | undefined;
}

export type Event =
  /** The supervisor is there, and what happened before is told. */
  | { readonly type: 'booted'; readonly at: Instant }
  | {
      readonly type: 'signalReceived';
      readonly at: Instant;
      readonly signal: number;
      readonly senderPid: number;
      readonly fromTerminal: boolean;
    }
  | {
      readonly type: 'signalForwarded';
      readonly at: Instant;
      readonly signal: number;
      readonly as: number;
      readonly senderPid: number;
    }
  | { readonly type: 'childSpawned'; readonly at: Instant; readonly id: number; readonly pid: number }
  | { readonly type: 'childSpawnFailed'; readonly at: Instant; readonly id: number; readonly errno: string }
  | {
      readonly type: 'childExited';
      readonly at: Instant;
      readonly id: number;
      readonly exit: ChildExit;
      readonly core: boolean;
      /** The kernel's OOM killer was at work in this cgroup while the child lived. */
      readonly oom: boolean;
    }
  /** `strays`: so many processes are left that have left the group and lost their parent. */
  | { readonly type: 'groupEmptied'; readonly at: Instant; readonly id: number; readonly strays: number }
  | { readonly type: 'straysGone'; readonly at: Instant }
  /** A probe, a hook or a validation has ended. `detail` says how in a few words: `exit code 1`, `status 503`, `timed out`. */
  | {
      readonly type: 'actionEnded';
      readonly at: Instant;
      readonly id: number;
      readonly ok: boolean;
      readonly detail: string;
      readonly output: string;
    }
  /** Somebody in the pod ran `sexton stop`. `among`: whom it named; undefined: all members. */
  | {
      readonly type: 'stopAsked';
      readonly at: Instant;
      readonly graceMs: number | undefined;
      readonly among: readonly string[] | undefined;
    }
  /** The file of `config.reload[index]` has another content. */
  | { readonly type: 'fileChanged'; readonly at: Instant; readonly index: number }
  /** All of the graveyard, as it is now. */
  | { readonly type: 'peersSeen'; readonly at: Instant; readonly peers: readonly PeerView[] }
  /** Time has passed. A late or needless one changes nothing. */
  | { readonly type: 'ticked'; readonly at: Instant };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export type Effect =
  | { readonly type: 'spawnChild'; readonly id: number }
  | { readonly type: 'signalChild'; readonly id: number; readonly signal: number }
  /** The first of these stop signals is passed on by the host itself, at once; an empty table: none. */
  | { readonly type: 'forwardStopOnce'; readonly id: number; readonly table: Readonly<Record<number, number>> }
  /** These signals are forwarded by the host itself from now on. */
  | { readonly type: 'forwardSignals'; readonly id: number; readonly table: Readonly<Record<number, number>> }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    }
  /** Run this probe or hook; `actionEnded` of the same id follows, after `timeoutMs` at the latest if there is such. Never a sleep. */
  | {
      readonly type: 'runAction';
      readonly id: number;
      readonly action: Exclude<HookAction | ProbeAction, SleepAction>;
      readonly timeoutMs: number | undefined;
    }
  /** Ends an action that still runs; `actionEnded` may follow all the same. */
  | { readonly type: 'endAction'; readonly id: number }
  /** Signals all processes that have left the group; `straysGone` follows when there is none. */
  | { readonly type: 'sweepStrays'; readonly signal: number }
  /** The member's life is over: carve, then leave with this code. */
  | { readonly type: 'exitContainer'; readonly code: number };

export interface Reduction {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** When to tick next, CLOCK_MONOTONIC milliseconds; undefined: nothing is waited for in time. */
  readonly wakeAtMs: number | undefined;
}

/** Where and when a life begins. */
export interface Origin {
  readonly hostId: string;
  readonly bootId: string;
  readonly startedAtMs: number;
  readonly now: Instant;
  readonly solo: boolean;
}

export const FIRST_BACKOFF_MS = 100;
/** The stop reason of a sidecar whose work is done. */
export const MAINS_FINISHED = 'mains finished';

export function initialState(origin: Origin): State {
  return {
    hostId: origin.hostId,
    bootId: origin.bootId,
    startedAtMs: origin.startedAtMs,
    now: origin.now,
    isAwake: false,
    phase: 'waiting',
    child: { is: 'unborn' },
    stop: undefined,
    climb: undefined,
    deadline: undefined,
    births: 0,
    promptFor: undefined,
    backoffMs: FIRST_BACKOFF_MS,
    said: [],
    chronicle: {
      born: undefined,
      started: undefined,
      stopRequested: undefined,
      died: undefined,
      diedMonotonic: undefined,
      exit: undefined,
      history: [],
    },
    peers: origin.solo ? {} : undefined,
  };
}
