/** The public format of tombstones. The npm package publishes this file as it is (`package.ts`): it imports nothing. */

export type Parsed =
  | { readonly ok: true; readonly tombstone: Tombstone }
  | { readonly ok: false; readonly why: string };

/** A main does the work of the pod; a sidecar serves the mains. */
export type Role = 'main' | 'sidecar';

/** The pod's policy, or the container's own, as declared: a container cannot see either. */
export type RestartPolicy = 'Never' | 'OnFailure' | 'Always';

/**
 * A member is `waiting` for its start gates, and `starting` until its probes have succeeded. It is `holding` when it was
 * asked to stop and its mains live, and `draining` and `stopping` on the way out. `backoff` is between two lives.
 */
export type Phase = 'waiting' | 'starting' | 'running' | 'holding' | 'draining' | 'stopping' | 'backoff' | 'dead';

/**
 * Without a stop request exit code 0 is `completed`, and another code or a signal `error`. `stopped` is any end after a
 * request, but for `killed`, by KILL from any sender, and `oom`, by the kernel for want of memory. A `lost` member is
 * gone without a tombstone of its death.
 */
export type DeathReason = 'completed' | 'error' | 'stopped' | 'killed' | 'oom' | 'never-started' | 'lost';

/** One event. The keys beside `At` and `Event` depend on it. */
export interface HistoryEntry {
  /** RFC 3339 with up to nanoseconds. */
  readonly At: string;
  readonly Event: string;
  readonly [detail: string]: string | number | boolean;
}

/** What one member has written about itself. An absent key is not known, or not known yet. */
export interface Tombstone {
  /**
   * 1 is sexton's format. 0 is kubexit's: only its `Born`, `Died` and `ExitCode` are taken. A newer sexton has a
   * higher number; what is understood of it is taken.
   */
  readonly Version: number;
  /** A DNS label; also the name of the file. */
  readonly Name: string;
  readonly Role?: Role;
  /** Common to all members of one pod; usually the pod's uid. */
  readonly Session?: string;
  /** Common to all members since the last run of the init containers, where `sexton begin` is one of those. */
  readonly Generation?: string;
  /** The writer's boot id (/proc/sys/kernel/random/boot_id): `Deadline` and `DiedMonotonic` count from that boot. */
  readonly Boot?: string;
  /** Random per start of the container, `-`, and the number of this life of the command: `5f0c…-2`. */
  readonly Incarnation?: string;
  readonly Phase?: Phase;
  readonly RestartPolicy?: RestartPolicy;
  /** A restart rule starts its container again after exit code 137, so that vanishing is not its end. */
  readonly RestartsIfKilled?: boolean;
  /** One of its restart rules restarts all containers of the pod. */
  readonly RestartsAll?: boolean;
  /** Some ends of its command restart all members in place. */
  readonly RestartsPod?: boolean;
  /** For a sidecar that names at most 16 mains: all of them must have ended before it leaves. Absent: one is enough. */
  readonly Mains?: readonly string[];
  /** The members after which it starts. */
  readonly StartAfter?: readonly string[];
  /** How often its command was started again in place. */
  readonly Restarts?: number;
  /** When its command was first started in this container; RFC 3339 with up to nanoseconds, like all times below. */
  readonly Born?: string;
  /** Since when this life counts as started: startup probe and post-start are done. Absent between two lives. */
  readonly Started?: string;
  /** Since when this life is started and ready; absent while it is not. */
  readonly Healthy?: string;
  /** What the command last said of itself, by STATUS= of sd_notify(3). */
  readonly Status?: string;
  /** How the previous life of a command that was restarted in place ended. */
  readonly LastDied?: string;
  readonly LastExitCode?: number;
  readonly LastReason?: DeathReason;
  readonly StopRequested?: string;
  /** What asked for the stop: `signal TERM`, `mains finished`. */
  readonly StopReason?: string;
  /** What the application answers to `--idle-when` in a drain: `idle`, a number, or what went wrong. */
  readonly Busy?: string;
  /** When the platform will KILL it: CLOCK_MONOTONIC milliseconds. Only when its grace period was declared. */
  readonly Deadline?: number;
  /** The stop, or its deadline, is of this container alone: the pod goes on. */
  readonly StopScope?: 'container';
  /** When the last restart in place that it takes, or took, part in was asked for; in milliseconds as `Deadline`. */
  readonly RestartRequested?: number;
  /** The sender of the request. */
  readonly RestartBy?: string;
  /** The members that take part; absent: all. */
  readonly RestartAmong?: readonly string[];
  readonly RestartGraceMs?: number;
  /** The code with which one member exits in the end, so that the platform restarts all containers. */
  readonly RestartByRule?: number;
  /** When others were asked for that it has gone through before: the latest few, in milliseconds as `Deadline`. */
  readonly RestartsPassed?: readonly number[];
  /** How often it has started again for such a restart. */
  readonly PodRestarts?: number;
  /** No stop of the pod began before this, in milliseconds as `Deadline`; for a member that was asked to stop. */
  readonly PodStopNotBefore?: number;
  readonly Died?: string;
  /** CLOCK_MONOTONIC milliseconds: tells a death in the reader's lifetime from a stale one. */
  readonly DiedMonotonic?: number;
  /** 0 to 255; 128 + n for signal n. kubexit writes -1 for any signal. */
  readonly ExitCode?: number;
  /** The signal that ended it, `SIGTERM`. */
  readonly Signal?: string;
  readonly Reason?: DeathReason;
  /** The writer knows that no other life of this member will follow. */
  readonly Final?: boolean;
  /** Oldest first, at most 64; the oldest but the first eight make room. */
  readonly History?: readonly HistoryEntry[];
}
