/** The processes of one container as the kernel has them: parents, signals, pipes and ends. Init sees what /proc shows. */
import type { ChildExit } from '../../src/core/exit.ts';
import { SIGINT, SIGKILL, SIGTERM } from '../../src/core/signals.ts';
import type { ChildScript, Reaction } from '../core/host.ts';
import type { Actor, Agenda } from './agenda.ts';

/** What a process does. Init knows wrappers, shells and idlers by their programs. */
export interface ProcessScript extends Pick<ChildScript, 'on' | 'endsAfterMs' | 'code'> {
  readonly program?: 'su' | 'sh' | 'sleep' | undefined;
  /** Before its end it asks its children to end, and waits for them. */
  readonly endsChildren?: boolean;
  /** It ends when its last child has ended. */
  readonly endsWithChildren?: boolean;
  readonly children?: readonly ChildProcess[];
}

export interface ChildProcess extends ProcessScript {
  readonly bornAfterMs?: number;
  /** A shell waits for it, or has started it in the background, where INT is ignored. */
  readonly place?: 'foreground' | 'background';
  /** It has forked twice, so that init is its parent; or it came by exec, and its parent is outside. */
  readonly comes?: 'as a daemon' | 'by exec';
  readonly leavesGroup?: boolean;
  /** Its standard input is a pipe that its parent and the later children of that write to. */
  readonly reads?: boolean;
  /** It ends so long after its parent, or after the last writer to its pipe. */
  readonly outlivesByMs?: number;
  /** Blocked in the kernel: nothing ends it. */
  readonly isStuck?: boolean;
}

/** `rung`: a stop signal of init's, `pass`: another signal that init passes on. */
export type Sender = 'rung' | 'pass' | 'parent' | 'world';

export interface Process {
  readonly pid: number;
  readonly group: number;
  readonly script: ChildProcess;
  /** Sexton's own. */
  readonly isOwn: boolean;
  readonly bornAtMs: number;
  /** 1 is init, 0 is outside. */
  parent: number;
  readonly got: { readonly atMs: number; readonly signal: number; readonly by: Sender }[];
  /** The pipes that it may write to, each by the pid of its reader. */
  readonly writes: Set<number>;
  /** It waits for its children, and ends so. */
  ending: ChildExit | undefined;
  exit: ChildExit | undefined;
}

export const INIT = 1;
const FIRST_PID = 101;
const PIDS = 9_973;

export class Processes {
  readonly #agenda: Agenda;
  readonly #actor: Actor;
  readonly #living = new Map<number, Process>();
  /** A child of init has ended; as with SIGCHLD, init hears of it in a turn of its own. */
  readonly #onOrphanEnded: (process: Process) => void;
  readonly #onSignal: (process: Process, signal: number, by: Sender) => void;
  readonly #onAdopted: (process: Process) => void;
  #forks = 0;

  constructor(
    at: { readonly agenda: Agenda; readonly actor: Actor },
    on: {
      readonly ended: (process: Process) => void;
      readonly signal: (process: Process, signal: number, by: Sender) => void;
      readonly adopted: (process: Process) => void;
    },
  ) {
    this.#agenda = at.agenda;
    this.#actor = at.actor;
    this.#onOrphanEnded = on.ended;
    this.#onSignal = on.signal;
    this.#onAdopted = on.adopted;
  }

  /** The first process of a command, a group leader. */
  start(script: ProcessScript): Process {
    return this.#fork(script, { parent: INIT });
  }

  startOwn(): Process {
    return this.#fork({}, { parent: INIT, isOwn: true });
  }

  get(pid: number): Process | undefined {
    return this.#living.get(pid);
  }

  /** In the order of their pids. */
  get all(): readonly Process[] {
    return [...this.#living.values()].sort((a, b) => a.pid - b.pid);
  }

  childrenOf(pid: number): readonly Process[] {
    return this.all.filter(({ parent }) => parent === pid);
  }

  /** Whether its standard input is a pipe that a living process may write to; undefined: it is no pipe. */
  hasWriter({ pid, script }: Process): boolean | undefined {
    if (script.reads !== true) return undefined;
    return this.all.some(({ writes }) => writes.has(pid));
  }

  signal(to: Process, signal: number, by: Sender): void {
    if (to.exit !== undefined) return;
    this.#onSignal(to, signal, by);
    to.got.push({ atMs: this.#agenda.nowMs, signal, by });
    const reaction = reactionOf(to.script, signal);
    if (reaction === 'ignores' || to.script.isStuck === true) return;
    if (reaction === undefined) {
      // Su(1) takes its child with it.
      if (to.script.program === 'su' && signal !== SIGKILL)
        for (const child of this.childrenOf(to.pid)) this.signal(child, SIGKILL, 'parent');
      return this.end(to, { code: undefined, signal });
    }
    const exit = { code: reaction.code, signal: undefined };
    const run = (): void => void this.#agenda.in(reaction.afterMs, this.#actor, () => this.#endOrderly(to, exit));
    const awaited = to.script.program === 'sh' ? this.#foregroundOf(to) : undefined;
    if (awaited === undefined) run();
    else this.#waits.set(awaited.pid, [...(this.#waits.get(awaited.pid) ?? []), run]);
  }

  /** What a shell does once its child in the foreground has ended, by the pid of that. */
  readonly #waits = new Map<number, readonly (() => void)[]>();

  #foregroundOf({ pid }: Process): Process | undefined {
    return this.childrenOf(pid).find(({ script }) => script.place === 'foreground');
  }

  /** Ends its children first where it does that. */
  #endOrderly(process: Process, exit: ChildExit): void {
    if (process.exit !== undefined) return;
    const children = process.script.endsChildren === true ? this.childrenOf(process.pid) : [];
    if (children.length === 0) return this.end(process, exit);
    process.ending = exit;
    for (const child of children) this.signal(child, SIGTERM, 'parent');
  }

  end(process: Process, exit: ChildExit): void {
    if (process.exit !== undefined) return;
    process.exit = exit;
    this.#living.delete(process.pid);
    for (const child of this.childrenOf(process.pid)) {
      child.parent = INIT;
      this.#onAdopted(child);
    }
    for (const other of this.all) this.#endOutlived(other, process);
    if (process.parent === INIT) this.#onOrphanEnded(process);
    else this.#tellParent(process);
  }

  #tellParent({ pid, parent }: Process): void {
    const it = this.get(parent);
    for (const run of this.#waits.get(pid) ?? []) run();
    this.#waits.delete(pid);
    if (it === undefined || this.childrenOf(parent).length > 0) return;
    if (it.ending !== undefined) this.end(it, it.ending);
    else if (it.script.endsWithChildren === true) this.end(it, { code: it.script.code ?? 0, signal: undefined });
  }

  /** Its writers, or its parent, may be gone now. */
  #endOutlived(process: Process, gone: Process): void {
    const { outlivesByMs } = process.script;
    if (outlivesByMs === undefined) return;
    const isLast =
      this.hasWriter(process) === undefined ? this.#bornOf.get(process) === gone : gone.writes.has(process.pid);
    if (!isLast || this.hasWriter(process) === true) return;
    this.#agenda.in(outlivesByMs, this.#actor, () => this.end(process, { code: 0, signal: undefined }));
  }

  readonly #bornOf = new Map<Process, Process>();

  /** The container is over. */
  stop(): void {
    this.#living.clear();
  }

  /** As after many forks: a child may have a lower pid than its parent. */
  #freePid(): number {
    let pid: number;
    do {
      pid = FIRST_PID + ((this.#forks * 6_133) % PIDS);
      this.#forks += 1;
    } while (this.#living.has(pid));
    return pid;
  }

  #fork(script: ChildProcess, from: { parent: number; group?: number; isOwn?: boolean; by?: Process }): Process {
    const pid = this.#freePid();
    const { parent, group = pid, isOwn = false, by } = from;
    const writes = new Set(by?.writes);
    const bornAtMs = this.#agenda.nowMs;
    const process: Process = {
      ...{ pid, group, script, isOwn, bornAtMs, parent, writes },
      ...{ got: [], ending: undefined, exit: undefined },
    };
    this.#living.set(pid, process);
    if (by !== undefined) this.#bornOf.set(process, by);
    if (script.reads === true) by?.writes.add(pid);
    const { endsAfterMs, code = 0 } = script;
    if (endsAfterMs !== undefined)
      this.#agenda.in(endsAfterMs, this.#actor, () => this.#endOrderly(process, { code, signal: undefined }));
    for (const child of script.children ?? []) {
      if (child.bornAfterMs === undefined) this.#forkChild(process, child);
      else this.#agenda.in(child.bornAfterMs, this.#actor, () => this.#forkChild(process, child));
    }
    return process;
  }

  #forkChild(by: Process, script: ChildProcess): void {
    if (by.exit !== undefined) return;
    const { comes } = script;
    const leavesGroup = comes === 'by exec' || (script.leavesGroup ?? comes === 'as a daemon');
    const parent = comes === 'as a daemon' ? INIT : comes === 'by exec' ? 0 : by.pid;
    const child = this.#fork(script, { parent, by, ...(!leavesGroup && { group: by.group }) });
    if (parent === INIT) this.#onAdopted(child);
  }
}

/** undefined: it ends by it. */
export function reactionOf(script: ChildProcess, signal: number): Reaction | undefined {
  if (signal === SIGKILL) return undefined;
  if (signal === SIGINT && script.place === 'background' && script.on?.[signal] === undefined) return 'ignores';
  return script.on?.[signal] ?? (HARMLESS.has(signal) ? 'ignores' : undefined);
}

/** Signals that by default end no process, signal(7). */
const HARMLESS: ReadonlySet<number> = new Set([17, 18, 23, 28]);
