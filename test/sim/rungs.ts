/**
 * Whom a signal reaches, as in `src/init/children/roots.c`: parents before their children, readers of pipes last.
 * CLOCK_MONOTONIC; infinity is never.
 */
import { SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGTTOU } from '../../src/core/signals.ts';
import type { Told } from '../../src/core/state/events.ts';
import { INIT, type Process, type Processes, reactionOf, type Sender } from './processes.ts';

type Why = Told['why'];

const NEVER = Number.POSITIVE_INFINITY;
const READER_MS = 1_000;
const CHECK_MS = 50;
/** What a trap has left behind may have been told by it. */
export const TRAPPED_MS = 5_000;
const [SIGUSR1, SIGUSR2] = [10, 12];
const WHYS = ['first', 'through', 'trap', 'left', 'reader', 'late'] as const satisfies readonly Why[];

/** What init knows of its command. */
export interface RungCommand {
  readonly first: Process;
  readonly hasExited: boolean;
}

export class SimRungs {
  to: 'tree' | 'group' | 'first' = 'tree';
  /** The next walk. */
  walkAtMs = NEVER;
  #signal = 0;
  #lateAtMs = NEVER;
  #lastAtMs = NEVER;
  #changedAtMs = 0;
  #trappedUntilMs = 0;
  /** Shells that have been told, and whose trap runs. */
  readonly #trapped = new Set<Process>();
  readonly #told = new Set<Process>();
  readonly #tallies = new Map<Why, Told>();
  readonly #processes: Processes;
  readonly #command: () => RungCommand | undefined;
  readonly #nowMs: () => number;

  /** `command`: the last one that was started, until no root of it is left. */
  constructor(processes: Processes, command: () => RungCommand | undefined, nowMs: () => number) {
    this.#processes = processes;
    this.#command = command;
    this.#nowMs = nowMs;
  }

  /** Another command is started. */
  reset(): void {
    this.#signal = 0;
  }

  get #roots(): readonly Process[] {
    return this.#processes.childrenOf(INIT).filter(({ isOwn }) => !isOwn);
  }

  get areRootsGone(): boolean {
    return this.#roots.length === 0;
  }

  begin(signal: number, lateAtMs = NEVER, lastAtMs = NEVER): void {
    const command = this.#command();
    if (command === undefined) return;
    const isFurther = this.#signal !== 0;
    const toldBefore = [...this.#told];
    if (!isFurther) this.#told.clear();
    this.#signal = signal;
    this.#lateAtMs = lateAtMs;
    this.#lastAtMs = lastAtMs;
    this.#changedAtMs = this.#nowMs();
    this.#trappedUntilMs = 0;
    const { first, hasExited } = command;
    if (signal === SIGKILL || this.to === 'group') this.#signalGroup(first.group, signal, 'rung');
    else if (this.to === 'first' && !hasExited && !isFurther) this.#tell(first, 'first');
    if (isFurther && signal !== SIGKILL)
      for (const one of toldBefore) if (one.exit === undefined) this.#processes.signal(one, signal, 'rung');
    this.walk();
  }

  /** Whether this signal is under way: then only its times are new. Nothing follows KILL. */
  proceeds(signal: number, lateAtMs = NEVER, lastAtMs = NEVER): boolean {
    if (this.#signal === SIGKILL) return true;
    if (this.#signal !== signal || this.#command() === undefined) return false;
    this.#lateAtMs = lateAtMs;
    this.#lastAtMs = lastAtMs;
    this.walk();
    return true;
  }

  /** 0: none was sent to this command. */
  get signal(): number {
    return this.#signal;
  }

  /** To be called after anything was reaped, and when it is due. */
  walk(): void {
    const command = this.#command();
    this.walkAtMs = NEVER;
    if (this.#signal === 0 || command === undefined) return;
    const { first, hasExited } = command;
    if (hasExited) this.#visitRoots();
    else if (this.#signal === SIGKILL) this.#processes.signal(first, SIGKILL, 'rung');
    else if (this.to === 'tree') this.#visit(first, 'first');
    this.#tellLateInTime();
    const pollAtMs = hasExited ? this.#nowMs() + CHECK_MS : NEVER;
    this.walkAtMs = Math.min(pollAtMs, this.#lateAtMs, this.#lastAtMs);
  }

  /** A process was reaped. */
  forget(process: Process): void {
    if (this.#signal === 0) return;
    this.#changedAtMs = this.#nowMs();
    this.#told.delete(process);
    if (this.#trapped.delete(process)) this.#trappedUntilMs = this.#nowMs() + TRAPPED_MS;
  }

  /** The pid of the command if it was told, directly and alone; else 0. */
  takeReceiver(): number {
    const told = this.#tallies.get('first');
    if (told?.count !== 1 || this.#tallies.size > 1) return 0;
    this.#tallies.clear();
    return told.pid;
  }

  /** What was told since the last report. */
  takeTold(): readonly Told[] {
    const all = WHYS.flatMap((why) => this.#tallies.get(why) ?? []);
    this.#tallies.clear();
    return all;
  }

  /** Sends a signal that is no rung to the program that it is meant for. */
  pass(signal: number): void {
    const command = this.#command();
    if (command === undefined) return;
    const { first, hasExited } = command;
    const isForJob = signal >= SIGCONT && signal <= SIGTTOU;
    if (this.to === 'first' && !hasExited) this.#processes.signal(first, signal, 'pass');
    else if (this.to === 'group' || hasExited || isForJob) this.#signalGroup(first.group, signal, 'pass');
    else this.#passOn(first, signal, true);
  }

  #isTold(process: Process): boolean {
    if (this.#signal === 0) return false;
    return this.#told.has(process) || (this.to === 'group' && process.group === this.#command()?.first.group);
  }

  #tell(process: Process, why: Why, of = ''): void {
    if (process.exit !== undefined) return;
    this.#told.add(process);
    this.#changedAtMs = this.#nowMs();
    this.#processes.signal(process, this.#signal, 'rung');
    const told = this.#tallies.get(why);
    const tally = told ?? { signal: this.#signal, count: 0, pid: process.pid, why, name: nameOf(process), of };
    this.#tallies.set(why, { ...tally, count: tally.count + 1 });
  }

  /** Tells a process, or its children in its place where it would pass nothing on. */
  #visit(process: Process, why: Why, of = ''): void {
    const { program } = process.script;
    if (this.#isTold(process)) return;
    const reaction = reactionOf(process.script, this.#signal);
    const children = this.#processes.childrenOf(process.pid);
    if ((program === 'su' || reaction === 'ignores') && children.length > 0) {
      for (const child of children) this.#visit(child, 'through', nameOf(process));
      return;
    }
    const hasTrap = program === 'sh' && typeof reaction === 'object' && process.exit === undefined;
    const idlers = hasTrap ? children.filter((one) => this.#isIdler(one)) : [];
    this.#tell(process, why, of);
    if (hasTrap) this.#trapped.add(process);
    for (const idler of idlers) this.#tell(idler, 'trap', 'sh');
  }

  /** A child that a shell waits for, and that loses nothing. */
  #isIdler(process: Process): boolean {
    const isInBackground = reactionOf(process.script, SIGINT) === 'ignores';
    return process.script.program === 'sleep' && !isInBackground && this.#processes.hasWriter(process) === undefined;
  }

  #visitRoots(): void {
    const roots = this.#roots;
    if (this.#signal === SIGKILL) {
      for (const root of roots) this.#processes.signal(root, SIGKILL, 'rung');
      return;
    }
    const isReader = (root: Process): boolean => !this.#isTold(root) && this.#processes.hasWriter(root) !== undefined;
    const readers = roots.filter(isReader);
    for (const root of roots) {
      if (readers.includes(root)) this.#visitReader(root, false);
      else if (this.#trappedUntilMs <= this.#nowMs()) this.#visit(root, 'left');
    }
    if (readers.length === roots.length) for (const reader of readers) this.#visitReader(reader, true);
  }

  #visitReader(reader: Process, areOnlyReaders: boolean): void {
    const isQuiet = this.#changedAtMs + READER_MS <= this.#nowMs();
    const mayBeTold = areOnlyReaders || this.#processes.hasWriter(reader) === false;
    if (isQuiet && mayBeTold) this.#visit(reader, 'reader');
  }

  #tellLateInTime(): void {
    const isLast = this.#lastAtMs <= this.#nowMs();
    if (!isLast && this.#lateAtMs > this.#nowMs()) return;
    for (const process of this.#processes.all) this.#tellLate(process, isLast);
    this.#lateAtMs = NEVER;
    if (isLast) this.#lastAtMs = NEVER;
  }

  /** Tells a process that has not been told, and its parents before it. */
  #tellLate(process: Process | undefined, isLast: boolean): void {
    if (process === undefined || process.isOwn || process.exit !== undefined || this.#isTold(process)) return;
    this.#tellLate(this.#processes.get(process.parent), isLast);
    if (!isLast && this.#isLeftToParent(process.parent)) return;
    if (!isLast && this.#processes.hasWriter(process) === true) return;
    if (process.script.program !== 'su' || this.#processes.childrenOf(process.pid).length === 0)
      this.#tell(process, 'late');
  }

  /** A parent that was told, and is no shell, is to end its own; so is one that is left to its parent. */
  #isLeftToParent(parent: number): boolean {
    const process = this.#processes.get(parent);
    if (process === undefined) return false;
    if (this.#isTold(process)) return process.script.program !== 'sh';
    return process.script.program !== 'su' || this.#isLeftToParent(process.parent);
  }

  #signalGroup(group: number, signal: number, by: Sender): void {
    for (const process of this.#processes.all) if (process.group === group) this.#processes.signal(process, signal, by);
  }

  /** A signal that is no stop goes to what catches it, to a child where its parent does not. False: there is none. */
  #passOn(process: Process, signal: number, isFirst: boolean): boolean {
    const { program } = process.script;
    const reaction = reactionOf(process.script, signal);
    const catches = typeof reaction === 'object';
    // A PID 1 without a handler survives these, which ask for a reload or for a report.
    const isReload = [SIGHUP, SIGUSR1, SIGUSR2].includes(signal);
    const children = this.#processes.childrenOf(process.pid);
    const passesNothingOn = program === 'su';
    if ((passesNothingOn || (!catches && (isReload || program === 'sh'))) && children.length > 0) {
      const isTaken = children.filter((child) => this.#passOn(child, signal, false)).length > 0;
      if (passesNothingOn || isTaken) return isTaken;
    }
    const wouldDie = reaction === undefined;
    if (wouldDie && (isReload || !isFirst || program === 'sh')) return false;
    this.#processes.signal(process, signal, 'pass');
    return catches || isFirst;
  }
}

function nameOf({ script }: Process): string {
  return script.program ?? 'command';
}
