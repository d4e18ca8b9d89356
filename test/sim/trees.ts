/** Whom a stop has reached by the truth of the processes, and when. */
import { SIGKILL } from '../../src/core/signals.ts';
import type { Container } from './container.ts';
import { Judge } from './judge.ts';
import { INIT, type Process, reactionOf, type Sender } from './processes.ts';
import { TRAPPED_MS } from './rungs.ts';

/** When init is to tell those that nobody has told. */
interface Times {
  readonly lateMs?: number | undefined;
  readonly lastMs?: number | undefined;
}

interface Rung {
  readonly signal: number;
  lateAtMs: number;
  lastAtMs: number;
  readonly reached: Set<Process>;
}

const NEVER = Number.POSITIVE_INFINITY;
/** What init may take until it sees what it has adopted. */
const SEEN_MS = 60;
const READER_MS = 1_000;

export class Trees extends Judge {
  readonly #rungs = new Map<Container, Rung>();
  /** When a child of init ended or a process was told, CLOCK_MONOTONIC of the run. */
  readonly #changedAtMs = new Map<Container, number>();
  /** The trap of a shell that has ended may have told what it has left behind. */
  readonly #trappedUntilMs = new Map<Container, number>();

  /** Init is to send this signal to the tree. */
  begins(container: Container, signal: number, { lateMs = NEVER, lastMs = NEVER }: Times): void {
    const { agenda } = this.world;
    const before = this.#rungs.get(container);
    const lastAtMs = lastMs + agenda.bootAtMs;
    // A ladder that begins with KILL has no other stop signal.
    if (signal === SIGKILL && before !== undefined && before.signal !== SIGKILL) this.#judgeKill(container, before);
    const isLimited = container.member.config.gracePeriodMs !== undefined && container.command?.exit === undefined;
    if (signal !== SIGKILL && isLimited && lastMs === NEVER)
      this.breaks('told before KILL', container, 'its grace period is declared, and the rung has no last time');
    this.#rungs.set(container, { signal, lateAtMs: lateMs + agenda.bootAtMs, lastAtMs, reached: new Set() });
    this.#changedAtMs.set(container, agenda.nowMs);
    this.#trappedUntilMs.delete(container);
    if (signal === SIGKILL || container.command?.exit === undefined) return;
    for (const process of container.processes.childrenOf(INIT)) this.adopted(container, process);
  }

  /** Before KILL all that was there in the last moment has been told, but sexton's own and a wrapper. */
  #judgeKill(container: Container, { lastAtMs }: Rung): void {
    const { nowMs, pausedUntilMs } = this.world.agenda;
    if (lastAtMs === NEVER || nowMs <= lastAtMs) return;
    if (Math.max(container.actor.frozenUntilMs, pausedUntilMs) >= lastAtMs)
      return this.world.count('excused: the machine stood still before KILL');
    this.world.judges('told before KILL');
    for (const process of container.processes.all) {
      if (process.isOwn || process.bornAtMs >= lastAtMs || isTold(process)) continue;
      if (isWrapper(container, process)) continue;
      if (isLateMember(container, process)) {
        this.world.count('excused: a member of the group that was born after the signal to the group');
        continue;
      }
      this.breaks('told before KILL', container, `${describe(process)} has had no stop signal`);
    }
  }

  signalled(container: Container, process: Process, signal: number, by: Sender): void {
    if (by === 'pass') return this.#judgePass(container, process, signal);
    const rung = this.#rungs.get(container);
    if (by !== 'rung' || rung === undefined) return;
    this.world.judges('own processes');
    if (process.isOwn) this.breaks('own processes', container, `${describe(process)} is told`);
    if (signal === SIGKILL) return;
    this.world.judges('one rung once');
    if (rung.reached.has(process)) this.breaks('one rung once', container, `${describe(process)} gets ${signal} twice`);
    rung.reached.add(process);
    const isFirst = !isTold(process);
    const { nowMs } = this.world.agenda;
    if (isFirst && container.member.signalTo !== 'group') this.#judgeOrder(container, process, signal, rung);
    this.#changedAtMs.set(container, nowMs);
  }

  #judgeOrder(container: Container, process: Process, signal: number, rung: Rung): void {
    const { nowMs } = this.world.agenda;
    const isLast = nowMs >= rung.lastAtMs;
    if (container.member.signalTo === 'tree') this.#judgeWrapper(container, process, signal, rung);
    for (let it = container.processes.get(process.parent); it !== undefined; it = container.processes.get(it.parent)) {
      this.world.judges('parents first');
      const passesNothingOn = it.script.program === 'su' || reactionOf(it.script, signal) === 'ignores';
      if (!isTold(it) && !passesNothingOn)
        this.breaks('parents first', container, `${describe(process)} before ${describe(it)}`);
    }
    const parent = container.processes.get(process.parent);
    if (parent !== undefined && isTold(parent)) {
      this.world.judges('workers');
      const isIdle = process.script.program === 'sleep' && process.script.place !== 'background';
      const mayBeTold = parent.script.program === 'sh' ? isIdle || nowMs >= rung.lateAtMs : isLast;
      if (!mayBeTold) this.breaks('workers', container, `${describe(process)} is told, whose parent is to end it`);
    }
    const { first } = container.command ?? {};
    if (process.script.reads === true && process.parent === INIT && process !== first && !isLast)
      this.#judgeReader(container, process, rung);
  }

  #judgeWrapper(container: Container, process: Process, signal: number, { lateAtMs }: Rung): void {
    const ignores = reactionOf(process.script, signal) === 'ignores' && this.world.agenda.nowMs < lateAtMs;
    if (process.script.program !== 'su' && !ignores) return;
    this.world.judges('wrappers');
    if (container.processes.childrenOf(process.pid).length > 0)
      this.breaks('wrappers', container, `${describe(process)} is told, and passes nothing on to its child`);
  }

  #judgeReader(container: Container, reader: Process, { lateAtMs }: Rung): void {
    const { processes, command } = container;
    const { nowMs } = this.world.agenda;
    this.world.judges('readers last');
    const hasWriter = processes.hasWriter(reader) === true;
    if (nowMs >= lateAtMs && !hasWriter) return;
    const quietMs = nowMs - (this.#changedAtMs.get(container) ?? 0);
    if (quietMs < READER_MS) this.breaks('readers last', container, `${describe(reader)} is told after ${quietMs} ms`);
    if (!hasWriter) return;
    const others = processes
      .childrenOf(INIT)
      .filter((root) => !root.isOwn && root.script.reads !== true && root !== command?.first);
    if (others.length > 0 || command?.exit === undefined)
      this.breaks('readers last', container, `${describe(reader)} is told, and others may write`);
  }

  /** Init has become its parent. Once the command has ended it is told at once, but a reader. */
  adopted(container: Container, process: Process): void {
    this.#lookLater(container, process, undefined);
  }

  /** Breaks the law when the second look in the same rung finds it as the first did. */
  #lookLater(container: Container, process: Process, first: Rung | undefined): void {
    const { agenda } = this.world;
    if (process.isOwn) return;
    agenda.in(SEEN_MS, undefined, () => {
      const rung = this.#rungs.get(container);
      if (!container.isRunning || rung === undefined || process.exit !== undefined) return;
      if (container.command?.exit !== undefined && rung.signal !== SIGKILL) this.world.judges('roots at once');
      if (!isOverlooked(container, process, rung)) return;
      const trappedUntilMs = this.#trappedUntilMs.get(container) ?? 0;
      if (agenda.nowMs < trappedUntilMs) return this.#lookLater(container, process, undefined);
      const stoodUntilMs = Math.max(container.actor.frozenUntilMs, agenda.pausedUntilMs);
      if (first !== rung || agenda.nowMs - stoodUntilMs < SEEN_MS || agenda.nowMs - trappedUntilMs < SEEN_MS)
        this.#lookLater(container, process, rung);
      else this.breaks('roots at once', container, `${describe(process)} is left behind and not told`);
    });
  }

  #judgePass(container: Container, process: Process, signal: number): void {
    if (container.member.signalTo !== 'tree' || ![1, 10, 12].includes(signal)) return;
    this.world.judges('reload');
    if (reactionOf(process.script, signal) === undefined && container.command?.exit === undefined)
      this.breaks('reload', container, `${describe(process)} would die of signal ${signal}`);
  }

  /** A child of init has ended, and init knows. */
  reaped(container: Container, process: Process): void {
    const { nowMs } = this.world.agenda;
    this.#changedAtMs.set(container, nowMs);
    const { signal = 0 } = this.#rungs.get(container) ?? {};
    const isTrap = process.script.program === 'sh' && typeof reactionOf(process.script, signal) === 'object';
    if (isTrap && isTold(process)) this.#trappedUntilMs.set(container, nowMs + TRAPPED_MS);
  }

  /** Only the times of the rung are new. */
  continues(container: Container, { lateMs = NEVER, lastMs = NEVER }: Times): void {
    const rung = this.#rungs.get(container);
    const { bootAtMs } = this.world.agenda;
    if (rung === undefined) return;
    rung.lateAtMs = lateMs + bootAtMs;
    rung.lastAtMs = lastMs + bootAtMs;
  }

  /** Another command is started. */
  forget(container: Container): void {
    this.#rungs.delete(container);
  }
}

/** It has had a stop signal of init's. */
function isTold({ got }: Process): boolean {
  return got.some(({ by, signal }) => by === 'rung' && signal !== SIGKILL);
}

/** The command has ended, and this root of it has not been told. */
function isOverlooked(container: Container, process: Process, { signal }: Rung): boolean {
  const { command, processes } = container;
  if (process.exit !== undefined || process.parent !== INIT || command?.exit === undefined) return false;
  if (signal === SIGKILL || process.script.reads === true || isTold(process)) return false;
  if (isLateMember(container, process)) return false;
  const passesNothingOn = reactionOf(process.script, signal) === 'ignores' || process.script.program === 'su';
  return !passesNothingOn || processes.childrenOf(process.pid).length === 0;
}

/** To the group it counts as told: it joined that later. */
function isLateMember({ member, command }: Container, { group }: Process): boolean {
  return member.signalTo === 'group' && group === command?.first.group;
}

function isWrapper({ processes }: Container, { pid, script }: Process): boolean {
  return script.program === 'su' && processes.childrenOf(pid).length > 0;
}

function describe({ pid, script }: Process): string {
  return `${script.program ?? 'process'} ${pid}`;
}
