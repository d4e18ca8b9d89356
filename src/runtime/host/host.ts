/**
 * The host is the parent of the application. Two implementations keep this contract: `init.ts` (sexton-init over its
 * socket) and `execa.ts` (this process itself, where there is no init). `test/runtime/host/contract.ts` runs against
 * both.
 *
 * Events come in order, each with a sequence number, and stay queued at the host until a commit acknowledges them. A
 * commit is a transaction: acknowledgement, memo and commands are applied together or not at all. If a supervisor dies
 * between two commits, the next one resumes at exactly the state of its host and its child.
 */
import type { Program, SignalTo, TerminationLog } from '../../config/run-config.ts';
import type { OpenTexts } from '../../core/lifecycle/stop/record.ts';
import type { Orders } from '../../core/orders.ts';
import type { ChildCommand, HostReport } from '../../core/state/events.ts';

/**
 * A helper of `exec` has ended, and with it all of its process group. Exactly one of `code`, `signal` and `errno` (it
 * could not be started) is not `undefined`. `output`: the first bytes of what it wrote to stdout and stderr, lossily
 * decoded as UTF-8.
 */
export interface HelperEnded {
  readonly type: 'helperEnded';
  readonly id: number;
  readonly code: number | undefined;
  readonly signal: number | undefined;
  readonly errno: string | undefined;
  readonly output: string;
}

/**
 * The child has ended with this code, and nothing that it has started is left. The host has closed the
 * tombstone, with this time on the wall clock (nanoseconds since 1970). Replaces `exited` and `rootsGone`.
 */
export interface EndWritten {
  readonly type: 'endWritten';
  readonly id: number;
  readonly pid: number;
  readonly code: number;
  readonly wall: string;
}

/** `wall`: nanoseconds since 1970, so that it can be compared with the death of the mains. */
export type Ordered = HostReport & { readonly type: 'ordered'; readonly wall: string };

/** `at`: CLOCK_MONOTONIC milliseconds, taken by the host when the event happened. */
export type HostEvent = (Exclude<HostReport, { type: 'ordered' }> | Ordered | HelperEnded | EndWritten) & {
  readonly seq: number;
  readonly at: number;
};

/** The records of this member without their ends. The host closes them by a row `end` of the orders. */
export interface TextsCommand extends OpenTexts {
  readonly type: 'texts';
  /** Where the tombstone is. */
  readonly path: string;
  readonly terminationLog: TerminationLog | undefined;
  /** The beginning of the last line of the log, and of that about a command that has failed. Empty: it is not shown. */
  readonly log: string;
  readonly errorLog: string;
}

/**
 * Watch this directory, and report which files of members change in it. While no supervisor runs, a change of any file
 * that is not `quiet` counts, and so does what comes by a connection. What cannot be watched counts as changed. Replaces
 * what was watched before.
 */
export interface WatchCommand {
  readonly type: 'watch';
  /** From 1; the answer repeats it. */
  readonly number: number;
  readonly dir: string;
  readonly ownName: string;
  readonly quiet: readonly string[];
}

/** A connection to a peer: a socket of `node:net`, or one that the host holds. */
export interface Connection {
  readonly bytesRead: number;
  on(event: 'data' | 'error', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** One of the `connections` is held, could not be had, or is over: EPIPE. */
export interface ContactNews {
  readonly type: 'contact';
  readonly path: string;
  readonly errno: string | undefined;
}

/** News of the watched directory. These are hints, sent once: a supervisor that begins looks by itself. */
export type DirectoryNews =
  /** From now on it watches, or cannot for this reason. It may not have reported earlier changes. */
  | { readonly type: 'watching'; readonly number: number; readonly errno: string | undefined }
  /** These files, or where there are none any. */
  | { readonly type: 'changed'; readonly names: readonly string[] };

export type HostNews = DirectoryNews | ContactNews;

export type HostCommand =
  | ChildCommand
  /**
   * Start the application as `id`; ids rise from 1. The environment, dispositions, limits and descriptors are those the
   * host was started with. `to`: whom signals reach, the first process while it lives.
   */
  | { readonly type: 'spawn'; readonly id: number; readonly to: SignalTo; readonly program: Program }
  /**
   * Tells the host what to do by itself. New orders replace the old ones. The rows `mains` and `end` hold while all
   * events are acknowledged. After a row `end` it tells all peers and closes the tombstone, and `endWritten` follows.
   * Where the row has an exit code and no supervisor runs, it leaves the evidence, writes to the log, and ends as well.
   * The mains of the last row `mains` still count while no supervisor can be started.
   */
  | ({ readonly type: 'orders' } & Orders)
  /**
   * When the next commit is to come: a supervisor that is too late hangs, and is replaced. `undefined`: when something
   * happens.
   */
  | { readonly type: 'due'; readonly atMs: number | undefined }
  /** Hold the liveness socket at this path (mode 0666), in place of one held before. */
  | { readonly type: 'listen'; readonly path: string }
  /**
   * Start a helper: a probe's or a hook's command, beside the application and never in its place. Helper ids rise from
   * 1 and are not those of children. It gets the application's environment, mask and limits, a session of its own, and
   * /dev/null as stdin. The first `outputLimit` bytes (0..4096) of stdout and stderr are kept, and the rest is read and
   * dropped. When its first process ends the host KILLs what is left of its group.
   */
  | {
      readonly type: 'exec';
      readonly id: number;
      readonly argv: readonly [string, ...string[]];
      readonly outputLimit: number;
    }
  /** KILL the whole group of that helper; nothing happens when it has ended. `helperEnded` follows. */
  | { readonly type: 'endHelper'; readonly id: number }
  /**
   * From now on the application is started with NOTIFY_SOCKET, and with WATCHDOG_USEC where a time is given. `all`: any
   * process of the container may write to it.
   */
  | { readonly type: 'notify'; readonly all: boolean; readonly watchdogMs: number | undefined }
  | WatchCommand
  /**
   * Hold a connection to each of these sockets and to no other, also when we have ended. `contact` follows for each that
   * is new to us. One that is over stays so until a list without it.
   */
  | { readonly type: 'connections'; readonly paths: readonly string[] }
  /**
   * Let us go until something happens. The host does so only if all events are acknowledged and nothing that it watches
   * has changed since `watch`; then it KILLs us. Else it forgets what it watches, and answers nothing. While we sleep, the
   * host holds a read lock on the file at `path`; empty: on none.
   */
  | { readonly type: 'sleep'; readonly path: string }
  | TextsCommand
  | { readonly type: 'exit'; readonly code: number };

export interface Commit {
  /** All events up to and including this one are done with; `undefined`: none. */
  readonly ack: number | undefined;
  /** Handed back in `Hello` to the next supervisor. At most 64 KiB; `undefined`: as it was. */
  readonly memo: string | undefined;
  readonly commands: readonly HostCommand[];
}

export interface Hello {
  /** 32 hex digits, random per start of the host. */
  readonly hostId: string;
  /** CLOCK_MONOTONIC milliseconds at which the host started. */
  readonly startedAt: number;
  /** What the last supervisor left; `undefined` at the first start. */
  readonly memo: string | undefined;
  readonly isPid1: boolean;
  /** What woke this supervisor, in a few words; `undefined`: none slept before it. */
  readonly wokenBy?: string | undefined;
  /** OOM kills in this container before the command was started; undefined: the host has not counted them. */
  readonly oomKills?: number | undefined;
  /** What needs a supervisor from the start: a flag, a variable or a directory; undefined: this is a plain command. */
  readonly whyNode?: string | undefined;
  /** What became of the supervisor before this one: `code 1`, `signal 9`, `hung`; undefined: it slept, or is unknown. */
  readonly ended?: string | undefined;
  /** How many supervisors a KILL has ended since the last commit, perhaps that of the OOM killer. */
  readonly killed: number;
}

export interface Host {
  /** What cannot be done here, each a sentence for the log; empty over sexton-init. */
  readonly limits: readonly string[];
  /** A path of sexton-init, which acts as other programs under their names; absent: there is no init. */
  readonly init?: string;
  /**
   * Resolves with what the host knows, then events flow to `onEvent`. Queued ones come in the very next turn of the
   * event loop, unacknowledged ones first. `onNews` is never called where there is no sexton-init.
   */
  open(onEvent: (event: HostEvent) => void, onNews?: (news: HostNews) => void): Promise<Hello>;
  commit(commit: Commit): void;
  /**
   * Only for tests: lets go of init; where this process is the host itself, its children end with it. Resolves once
   * that is done.
   */
  close(): Promise<void>;
}
