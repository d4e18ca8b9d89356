/**
 * What can happen to a member (Event) and what its supervisor can do (Effect), as plain data. Reports of the host and
 * commands to it are declared here only; `runtime/host/host.ts` and `src/init/protocol.md` use the same names.
 */
import type { AdaptiveDrain, SleepAction, TaskAction } from '../config.ts';
import type { Instant } from '../time.ts';
import type { PeerView } from './peer.ts';
import type { RestartAsk, SteadyPace } from './state.ts';

/** What the host reports about signals and the child. */
export type HostReport =
  | {
      readonly type: 'signal';
      readonly signal: number;
      readonly senderPid: number;
      readonly fromTerminal: boolean;
    }
  /**
   * The host has carried out a row of its orders (`orders.ts`) for `id`. `signal`: the one that has come, or 0. `as`: the
   * one that it has sent. `receiverPid`: of the only process that a stop signal has reached so far; 0: others, and
   * `told` follows, or it is no stop signal.
   */
  | {
      readonly type: 'ordered';
      readonly id: number;
      readonly row: Row;
      readonly signal: number;
      readonly as: number;
      readonly senderPid: number;
      readonly receiverPid: number;
    }
  | { readonly type: 'spawned'; readonly id: number; readonly pid: number }
  /**
   * `errno` is a name (`ENOENT`), or a number that the host has no name for. `ECANCELED`: an unacknowledged stop
   * request prevented the start; nothing was started, and the id is still free.
   */
  /** `why`: the program, and the error in words. */
  | { readonly type: 'spawnFailed'; readonly id: number; readonly errno: string; readonly why?: string }
  /** The child was reaped. Exactly one of `code` and `signal` is not `undefined`. */
  | {
      readonly type: 'exited';
      readonly id: number;
      readonly pid: number;
      readonly code: number | undefined;
      readonly signal: number | undefined;
      readonly core: boolean;
    }
  /**
   * Nothing that the child has started is left. This follows `exited` of that id, possibly in the same instant.
   * `isWritten`: the host has already published this end, by a row `end`.
   */
  | { readonly type: 'rootsGone'; readonly id: number; readonly isWritten?: boolean }
  /** A stop signal has reached `count` processes, the first of which is `pid`. */
  | ({ readonly type: 'told'; readonly id: number } & Told)
  /** A message of the life `id` to NOTIFY_SOCKET. `dropped`: how many the host has refused so far. */
  | { readonly type: 'notified'; readonly id: number; readonly dropped: number; readonly text: string }
  /** The child has not said WATCHDOG=1 for the time of its `watchdog`. */
  | { readonly type: 'silent'; readonly id: number };

/** The rows that the host reports. */
export const ROWS = ['each', 'first', 'unheard', 'lost', 'mains', 'grace', 'mains-grace', 'deadline'] as const;
export type Row = (typeof ROWS)[number];

export const TOLD_WHY = ['first', 'through', 'trap', 'left', 'reader', 'late'] as const;

export interface Told {
  readonly signal: number;
  readonly count: number;
  readonly pid: number;
  readonly why: (typeof TOLD_WHY)[number];
  /** The first one's, as in /proc/PID/comm. */
  readonly name: string;
  /** The wrapper or shell that it came by; else empty. */
  readonly of: string;
}

/** `oom`: the kernel's OOM killer struck in this cgroup while the child lived; the supervisor adds that. */
type ChildReport =
  | Exclude<HostReport, { type: 'exited' }>
  | (HostReport & { type: 'exited' } & { readonly oom: boolean });

/** What the supervisor finds out on its own. */
type Finding =
  /** The supervisor runs, and has reported what happened before. */
  | { readonly type: 'booted' }
  /** A probe, hook or validation has ended. `detail` says how: `exit code 1`, `status 503`, `timed out`. */
  | {
      readonly type: 'taskEnded';
      readonly id: number;
      readonly ok: boolean;
      readonly detail: string;
      readonly output: string;
      /** The sum of the metrics of an idle check. */
      readonly sum?: number;
    }
  /** A container of the pod ran `sexton stop`. `among`: the members that it named; undefined: all. */
  | { readonly type: 'stopAsked'; readonly graceMs: number | undefined; readonly among: readonly string[] | undefined }
  /** A container of the pod ran `sexton restart`. */
  | { readonly type: 'restartAsked'; readonly ask: RestartAsk }
  /** The content of the file of `config.reload[index]` has changed. */
  | { readonly type: 'fileChanged'; readonly index: number }
  /**
   * The connections to the ports since the drain began. `lastMs`: the last one that counts so far, CLOCK_MONOTONIC
   * milliseconds. `open`: established connections; undefined: not counted. `byAddress`: those of other hosts on counted
   * ports that were ignored only because of their address. `steady`: the common pace of all that count; undefined: they
   * have none. `blind`: why the kernel does not tell which connections those are, so that all count.
   */
  | {
      readonly type: 'trafficSeen';
      readonly lastMs: number | undefined;
      readonly connections: number;
      readonly ignored: number;
      readonly open: number | undefined;
      readonly byAddress: number;
      readonly steady?: SteadyPace | undefined;
      readonly blind?: string | undefined;
    }
  /** New connections cannot be counted here. */
  | { readonly type: 'trafficUnavailable'; readonly why: string }
  /** The graveyard's record of the pod's init containers; it comes before all records of other members. */
  | { readonly type: 'generationRead'; readonly generation: string }
  /** The whole graveyard as it is now. */
  | { readonly type: 'peersSeen'; readonly peers: readonly PeerView[] }
  /** Time has passed. A late or needless tick changes nothing. */
  | { readonly type: 'ticked' };

export type Event = (ChildReport | Finding) & { readonly at: Instant };

export type ChildCommand =
  /** Send a signal that is no stop to the program that it is meant for, or KILL to all that `id` has started. */
  | { readonly type: 'kill'; readonly id: number; readonly signal: number }
  /**
   * A rung of the stop ladder: parents first, and their children when they have ended. At `lateMs` it reaches what
   * no parent is to end, at `lastMs` all that has not had it. `told` follows. The host continues stopped processes
   * after TERM, HUP, INT and QUIT.
   */
  | {
      readonly type: 'stop';
      readonly id: number;
      readonly signal: number;
      readonly lateMs: number | undefined;
      readonly lastMs: number | undefined;
    }
  /** Report the child once as `silent` when it has not said WATCHDOG=1 for so long; undefined: not at all. */
  | { readonly type: 'watchdog'; readonly id: number; readonly ms: number | undefined };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export type Effect =
  | ChildCommand
  | { readonly type: 'spawn'; readonly id: number }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    }
  /** Run this probe or hook, never a sleep; `taskEnded` of the same id follows, after `timeoutMs` at the latest. */
  | {
      readonly type: 'startTask';
      readonly id: number;
      readonly action: Exclude<TaskAction, SleepAction>;
      readonly timeoutMs: number | undefined;
    }
  /** End a task that still runs; `taskEnded` may still follow. */
  | { readonly type: 'endTask'; readonly id: number }
  /** Watch new connections; `trafficSeen` or `trafficUnavailable` follows. The counts are of earlier supervisors. */
  | {
      readonly type: 'watchTraffic';
      readonly drain: AdaptiveDrain;
      readonly connections: number;
      readonly ignored: number;
    }
  | { readonly type: 'unwatchTraffic' }
  /** The member's life is over: write the tombstone, then exit with this code. */
  | { readonly type: 'exit'; readonly code: number };
