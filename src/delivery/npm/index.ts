/**
 * What the npm package exports: reading tombstones, with the types of the published format. Everything that a program
 * can import from 'sexton' is declared here and imports no other declaration, so this file is the contract; that it
 * agrees with what sexton itself reads and writes is checked with the tests.
 */
import { parseTombstone as parse } from '../../core/format/tombstone-parse.ts';
import { readMembers } from '../../runtime/graveyard/members.ts';

/**
 * Reads all tombstones of a graveyard once, as `sexton status` does.
 *
 * A member whose tombstone tells of no death but whose container is gone (killed as a whole) gets the `Reason` `lost`.
 * That can be told only on the same kernel, by connecting to the socket beside the tombstone. Where that fails for
 * another reason than that no process listens, the member is named in `unknown`.
 *
 * Nothing in the directory is trusted: links are not followed, at most 128 members of at most 64 KiB each are read.
 *
 * @param dir Path of the directory that the containers of the pod share.
 * @throws The error of Node's `fs`, as a rejection, when the directory cannot be read: `code` is `ENOENT`, `ENOTDIR`,
 * `EACCES`, ..
 */
export async function readGraveyard(dir: string): Promise<Graveyard> {
  const { members, unreadable, unknown } = await readMembers(dir);
  return { members, unreadable, unknown };
}

/**
 * Reads the text of one tombstone, sexton's or kubexit's. Never throws.
 *
 * @param name The file's name, which is the member's.
 * @param text The file's content. One that is not understood as a whole may be half written: read it again.
 */
export function parseTombstone(name: string, text: string): Parsed {
  return parse(name, text);
}

export interface Graveyard {
  /** Sorted by name. */
  readonly members: readonly Tombstone[];
  /** What else lies there under a name that does not begin with a dot, and why it is no tombstone. */
  readonly unreadable: readonly { readonly name: string; readonly why: string }[];
  /** Members that may be gone, and may not: `why` is the error, such as `EACCES`, that hid their sockets. */
  readonly unknown: readonly { readonly name: string; readonly why: string }[];
}

export type Parsed =
  | { readonly ok: true; readonly tombstone: Tombstone }
  | { readonly ok: false; readonly why: string };

/** The work of the pod, or what serves it. */
export type Role = 'main' | 'sidecar';

/** The pod's or the container's own, as the member was told. */
export type RestartPolicy = 'Never' | 'OnFailure' | 'Always';

/**
 * `waiting` for its start gates; `starting`: its command runs, its probes have not succeeded yet; `running`; `holding`:
 * asked to stop, but those that it serves live; `draining` and `stopping`: on the way out; `backoff`: between two
 * lives; `dead`.
 */
export type Phase = 'waiting' | 'starting' | 'running' | 'holding' | 'draining' | 'stopping' | 'backoff' | 'dead';

/**
 * `completed`: exit code 0 without being asked; `error`: another code or a signal; `stopped`: it was asked to;
 * `killed`: by KILL, whoever sent it; `oom`: by the kernel for want of memory; `never-started`; `lost`: gone without a
 * word.
 */
export type DeathReason = 'completed' | 'error' | 'stopped' | 'killed' | 'oom' | 'never-started' | 'lost';

/** Something that happened. The keys beside `At` and `Event` depend on the event. */
export interface HistoryEntry {
  /** RFC 3339 with up to nanoseconds. */
  readonly At: string;
  readonly Event: string;
  readonly [detail: string]: string | number | boolean;
}

/** What one member has written down about itself. A key that is absent is not known, or not so yet. */
export interface Tombstone {
  /** 1: sexton's format; 0: kubexit's, with `Born`, `Died` and `ExitCode` only; more: a newer sexton's. */
  readonly Version: number;
  /** A DNS label; also the name of the file. */
  readonly Name: string;
  readonly Role?: Role;
  /** What all members of one pod have in common, the pod's uid as a rule. */
  readonly Session?: string;
  /** What all members have in common that follow one run of the init containers; `sexton begin` has to be one. */
  readonly Generation?: string;
  /** The kernel's boot id where it was written: by it `Deadline` and `DiedMonotonic` are to be understood. */
  readonly Boot?: string;
  /** Random per start of the container, `-`, and the number of this life of the command. */
  readonly Incarnation?: string;
  readonly Phase?: Phase;
  readonly RestartPolicy?: RestartPolicy;
  /** Its container is started again by a restart rule when it was killed (exit code 137): vanishing is not its end. */
  readonly RestartsIfKilled?: boolean;
  /** One of its restart rules restarts all containers of the pod. */
  readonly RestartsAll?: boolean;
  /** Some ends of its command restart all members in place. */
  readonly RestartsPod?: boolean;
  /** Of a sidecar that names at most 16: those that must all have ended before it leaves; none where one is enough. */
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
  /** How the life before this one ended, of a command that was restarted in place. */
  readonly LastDied?: string;
  readonly LastExitCode?: number;
  readonly LastReason?: DeathReason;
  readonly StopRequested?: string;
  /** What asked for it: `signal TERM`, `mains finished`. */
  readonly StopReason?: string;
  /** When the platform will KILL it: CLOCK_MONOTONIC milliseconds. Only when its grace period was declared. */
  readonly Deadline?: number;
  /** The stop, or its deadline, is of this container alone: the pod goes on. */
  readonly StopScope?: 'container';
  /** The last restart in place that it takes, or took, part in: when it was asked for, in milliseconds as `Deadline`. */
  readonly RestartRequested?: number;
  /** Who asked for it. */
  readonly RestartBy?: string;
  /** Who takes part; absent: all members. */
  readonly RestartAmong?: readonly string[];
  readonly RestartGraceMs?: number;
  /** The code with which one member exits in the end, so that the platform restarts all containers. */
  readonly RestartByRule?: number;
  /** How often it has started again for such a restart. */
  readonly PodRestarts?: number;
  /** No stop of the pod began before this, in milliseconds as `Deadline`: said to a member that was asked to stop. */
  readonly PodStopNotBefore?: number;
  readonly Died?: string;
  /** CLOCK_MONOTONIC milliseconds. */
  readonly DiedMonotonic?: number;
  /** 0 to 255; 128 + n for signal n. kubexit writes -1 for any signal. */
  readonly ExitCode?: number;
  /** The signal that ended it, `SIGTERM`. */
  readonly Signal?: string;
  readonly Reason?: DeathReason;
  /** Its own word that no other life of it will follow. */
  readonly Final?: boolean;
  /** Oldest first, at most 64; the oldest but the first eight make room. */
  readonly History?: readonly HistoryEntry[];
}
