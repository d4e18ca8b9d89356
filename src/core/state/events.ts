/**
 * What can happen to a member (Event) and what its supervisor can do (Effect). Both are plain data. What the host
 * reports and what it is told to do is declared here, once: `runtime/host/host.ts` and `src/init/protocol.md` use the
 * same names.
 */
import type { AdaptiveDrain, HookAction, ProbeAction, QuitAction, ReadyAction, SleepAction } from '../config.ts';
import type { Instant } from '../time.ts';
import type { PeerView } from './peer.ts';
import type { RestartAsk, SteadyPace } from './state.ts';

/** What the host reports of signals and of the child. */
export type HostReport =
  | {
      readonly type: 'signal';
      readonly signal: number;
      readonly senderPid: number;
      readonly fromTerminal: boolean;
    }
  /** A signal that the host has forwarded by itself, by the table of `forward` or `forwardOnce`. */
  | { readonly type: 'forwarded'; readonly signal: number; readonly as: number; readonly senderPid: number }
  | { readonly type: 'spawned'; readonly id: number; readonly pid: number }
  /**
   * `errno` by name (`ENOENT`), or its number where the host does not know the name. `ECANCELED`: a stop request was
   * not acknowledged when the start was ordered; nothing was started, and the id is still free.
   */
  | { readonly type: 'spawnFailed'; readonly id: number; readonly errno: string }
  /** The time of `killAt`, or the grace period of `fallback`, was over, and the host has KILLed the group of `id`. */
  | { readonly type: 'overdue'; readonly id: number }
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
   * Nothing is left of the child's process group. Always after `exited` of that id, possibly in the same instant.
   * `strays`: how many processes the host has then that left the group and lost their parent (a daemon, say); 0 where
   * it cannot be told. `isWritten`: the host has written this end down as prepared (`preparedEnds`), and told it.
   */
  | { readonly type: 'groupGone'; readonly id: number; readonly strays: number; readonly isWritten?: boolean }
  /** The host has sent `signal`: `isByMains`: by the reflex `endWith`, else by its fallback. */
  | { readonly type: 'stopSent'; readonly id: number; readonly signal: number; readonly isByMains: boolean }
  /** After a `sweep`: no stray is left. */
  | { readonly type: 'straysGone' };

/** `oom`: the kernel's OOM killer was at work in this cgroup while the child lived; the supervisor adds that. */
type ChildReport =
  | Exclude<HostReport, { type: 'exited' }>
  | (HostReport & { type: 'exited' } & { readonly oom: boolean });

/** What the supervisor itself finds out. */
type Finding =
  /** The supervisor is there, and what happened before is told. */
  | { readonly type: 'booted' }
  /**
   * A probe, a hook or a validation has ended. `detail` says how in a few words: `exit code 1`, `status 503`, `timed
   * out`.
   */
  | {
      readonly type: 'taskEnded';
      readonly id: number;
      readonly ok: boolean;
      readonly detail: string;
      readonly output: string;
    }
  /** A container of the pod ran `sexton stop`. `among`: the members that it named; undefined: all members. */
  | { readonly type: 'stopAsked'; readonly graceMs: number | undefined; readonly among: readonly string[] | undefined }
  /** A container of the pod ran `sexton restart`. */
  | { readonly type: 'restartAsked'; readonly ask: RestartAsk }
  /** The file of `config.reload[index]` has another content. */
  | { readonly type: 'fileChanged'; readonly index: number }
  /**
   * What has come to the ports since the drain began. `lastMs`: of the last connection that counts, CLOCK_MONOTONIC
   * milliseconds, as far as is known now; undefined: none has. `open`: connections that are established; undefined:
   * that was not looked at. `byAddress`: so many of those that are ignored came to where connections count, from others
   * than us: their address is all that speaks against them. `steady`: how all that count came; undefined: otherwise.
   */
  | {
      readonly type: 'trafficSeen';
      readonly lastMs: number | undefined;
      readonly connections: number;
      readonly ignored: number;
      readonly open: number | undefined;
      readonly byAddress: number;
      readonly steady?: SteadyPace | undefined;
    }
  /** New connections cannot be counted here. */
  | { readonly type: 'trafficUnavailable'; readonly why: string }
  /** What the graveyard says of the pod's init containers; before all that it says of others. */
  | { readonly type: 'generationRead'; readonly generation: string }
  /** All of the graveyard, as it is now. */
  | { readonly type: 'peersSeen'; readonly peers: readonly PeerView[] }
  /** Time has passed. A late or needless one changes nothing. */
  | { readonly type: 'ticked' };

export type Event = (ChildReport | Finding) & { readonly at: Instant };

/** What the host is told to do with the child. */
export type ChildCommand =
  /**
   * Signal the process group of `id`; nothing happens when it is gone. The host continues what is stopped after TERM,
   * HUP, INT and QUIT.
   */
  | { readonly type: 'kill'; readonly id: number; readonly signal: number }
  /**
   * From now on the host forwards these signals to the group of `id` by itself, at once. Signals that are not in the
   * table are reported as `signal`. Replaces the table before it.
   */
  | { readonly type: 'forward'; readonly id: number; readonly table: Readonly<Record<number, number>> }
  /**
   * The first of these signals is forwarded at once, like those of `forward`, and reported as `forwarded`; then all of
   * them are out of this table again. So a stop request reaches a child that nothing has to be waited for, however slow
   * the supervisor is, once. An empty table takes back the one before.
   */
  | { readonly type: 'forwardOnce'; readonly id: number; readonly table: Readonly<Record<number, number>> }
  /**
   * Signal every stray and its process group, also those that turn up later; `straysGone` follows when none is left, at
   * once if there is none.
   */
  | { readonly type: 'sweep'; readonly signal: number };

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
  /**
   * Run this probe or hook; `taskEnded` of the same id follows, after `timeoutMs` at the latest if there is such. Never
   * a sleep.
   */
  | {
      readonly type: 'startTask';
      readonly id: number;
      readonly action: Exclude<HookAction | ProbeAction | QuitAction | ReadyAction, SleepAction>;
      readonly timeoutMs: number | undefined;
    }
  /** End a task that still runs; `taskEnded` may follow all the same. */
  | { readonly type: 'endTask'; readonly id: number }
  /**
   * Watch the connections that come; `trafficSeen` follows, or `trafficUnavailable`. So many were counted by the
   * supervisor before.
   */
  | {
      readonly type: 'watchTraffic';
      readonly drain: AdaptiveDrain;
      readonly connections: number;
      readonly ignored: number;
    }
  | { readonly type: 'unwatchTraffic' }
  /** The member's life is over: write the tombstone, then leave with this code. */
  | { readonly type: 'exit'; readonly code: number };
