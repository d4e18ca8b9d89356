/**
 * What can happen to a member (Event) and what its supervisor can do (Effect). Both are plain data.
 */
import type { AdaptiveDrain, HookAction, ProbeAction, QuitAction, ReadyAction, SleepAction } from './config.ts';
import type { ChildExit } from './exit.ts';
import type { PeerView } from './peers.ts';
import type { Instant } from './time.ts';

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
  /** `errno` `ECANCELED`: the host has a stop request that was not heard before the start was ordered; nothing was started. */
  | { readonly type: 'childSpawnFailed'; readonly at: Instant; readonly id: number; readonly errno: string }
  /** The deadline was over and the host has KILLed the child by itself, because we did not. */
  | { readonly type: 'childKilled'; readonly at: Instant; readonly id: number }
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
  /**
   * What has come to the ports since the drain began. `lastMs`: of the last connection that counts, CLOCK_MONOTONIC milliseconds, as far as is
   * known now; undefined: none has. `open`: connections that are established; undefined: that was not looked at. `byAddress`: so many of those
   * that are ignored came to where connections count, from others than us: their address is all that speaks against them.
   */
  | {
      readonly type: 'trafficSeen';
      readonly at: Instant;
      readonly lastMs: number | undefined;
      readonly connections: number;
      readonly ignored: number;
      readonly open: number | undefined;
      readonly byAddress: number;
    }
  /** New connections cannot be counted here. */
  | { readonly type: 'trafficUnseen'; readonly at: Instant; readonly why: string }
  /** What the graveyard says of the pod's init containers; before all that it says of others. */
  | { readonly type: 'generationRead'; readonly at: Instant; readonly generation: string }
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
      readonly action: Exclude<HookAction | ProbeAction | QuitAction | ReadyAction, SleepAction>;
      readonly timeoutMs: number | undefined;
    }
  /** Ends an action that still runs; `actionEnded` may follow all the same. */
  | { readonly type: 'endAction'; readonly id: number }
  /** Watch the connections that come; `trafficSeen` follows, or `trafficUnseen`. So many were counted by the supervisor before. */
  | {
      readonly type: 'watchTraffic';
      readonly drain: AdaptiveDrain;
      readonly connections: number;
      readonly ignored: number;
    }
  | { readonly type: 'leaveTraffic' }
  /** Signals all processes that have left the group; `straysGone` follows when there is none. */
  | { readonly type: 'sweepStrays'; readonly signal: number }
  /** The member's life is over: carve, then leave with this code. */
  | { readonly type: 'exitContainer'; readonly code: number };
