/** The scripted world of one member. It carries out effects as a host does, and keeps the events still to come. */
import type { TaskAction } from '../../src/core/config.ts';
import type { ChildExit } from '../../src/core/exit.ts';
import { SIGCHLD, SIGCONT, SIGKILL, SIGWINCH } from '../../src/core/signals.ts';
import type { Effect, Event } from '../../src/core/state/events.ts';

/** After a while, with a code; by default a signal ends a process at once. */
export type Reaction = 'ignores' | { readonly afterMs: number; readonly code: number };

/** One run of an action. `never`: it ends only on request. `deaf`: not even then. */
export type Run =
  | { readonly afterMs: number; readonly ok: boolean; readonly sum?: number; readonly detail?: string }
  | 'never'
  | 'deaf';

export interface ChildScript {
  /** It ends by itself this long after each start. */
  readonly endsAfterMs?: number;
  readonly code?: number;
  /** By signal number. */
  readonly on?: Readonly<Record<number, Reaction>>;
  /** What it started outlives it: until any signal, until KILL, for so long after its end, or even KILL. */
  readonly leaves?: 'untilAsked' | 'untilKilled' | 'unkillable' | number;
  /** It cannot be started. */
  readonly errno?: string;
  /** How runs end, by the action's name and the time of the start; the last entry repeats. Others succeed at once. */
  readonly actions?: Readonly<Record<string, readonly Run[] | ((atMs: number) => Run)>>;
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type EventOf = DistributiveOmit<Event, 'at'>;

interface Due {
  readonly atMs: number;
  readonly event: EventOf;
}

interface Running {
  readonly id: number;
  readonly action: TaskAction;
  readonly run: Run;
}

export class ScriptedHost {
  #script: ChildScript;
  /** One script for each life, by its id; else the same for all. */
  readonly #scriptOf: ((id: number) => ChildScript) | undefined;
  #nowMs = 0;
  #due: readonly Due[] = [];
  /** The stop signals that the host may pass on by itself. */
  #reaped = 0;
  #gone = 0;
  /** The last child that has had a rung. */
  #stopped = 0;
  #running: readonly Running[] = [];
  #counts: Readonly<Record<string, number>> = {};

  constructor(script: ChildScript | ((id: number) => ChildScript), from?: ScriptedHost) {
    this.#script = typeof script === 'function' ? {} : script;
    this.#scriptOf = typeof script === 'function' ? script : undefined;
    if (from === undefined) return;
    this.#script = from.#script;
    this.#due = from.#due;
    this.#reaped = from.#reaped;
    this.#gone = from.#gone;
    this.#stopped = from.#stopped;
    this.#running = from.#running;
    this.#counts = from.#counts;
  }

  fork(): ScriptedHost {
    return new ScriptedHost(this.#scriptOf ?? this.#script, this);
  }

  get nextMs(): number | undefined {
    return this.#due[0]?.atMs;
  }

  /** What is to happen by itself, and in how long. */
  dueFrom(nowMs: number): readonly (readonly [number, EventOf])[] {
    return this.#due.map(({ atMs, event }) => [atMs - nowMs, event]);
  }

  take(): EventOf | undefined {
    const [next, ...rest] = this.#due;
    this.#due = rest;
    if (next?.event.type === 'exited') this.#leave(next.event.id, next.atMs);
    if (next?.event.type === 'rootsGone') this.#gone = next.event.id;
    return next?.event;
  }

  obey(effect: Effect, nowMs: number): void {
    this.#nowMs = nowMs;
    if (effect.type === 'spawn') this.#spawn(effect.id);
    if (effect.type === 'kill') this.#strike(effect.id, effect.signal);
    if (effect.type === 'stop') this.#stop(effect.id, effect.signal);
    if (effect.type === 'startTask') this.#run(effect.id, effect.action);
    if (effect.type === 'endTask') this.#endTask(effect.id);
  }

  /** Signals the child before the core hears of it. False: the child has gone, and the core decides. */
  passOn(id: number, as: number, nowMs: number): boolean {
    if (id <= this.#reaped) return false;
    this.#nowMs = nowMs;
    this.#stop(id, as);
    return true;
  }

  /** The earliest end counts. Later events of the same child are dropped. */
  end(id: number, exit: ChildExit, atMs: number, oom = false): void {
    if (id <= this.#reaped) return;
    const isExit = ({ event }: Due): boolean => event.type === 'exited' && event.id === id;
    if (this.#due.some((due) => isExit(due) && due.atMs <= atMs)) return;
    const isOfIt = (due: Due): boolean => isExit(due) || (due.event.type === 'rootsGone' && due.event.id === id);
    this.#due = this.#due.filter((due) => !isOfIt(due));
    this.#at(atMs, { type: 'exited', id, pid: 100 + id, ...exit, core: false, oom });
    const { leaves = 0 } = this.#script;
    const isKilled = exit.signal === SIGKILL && !oom;
    if (leaves === 'unkillable' || (typeof leaves === 'string' && !isKilled)) return;
    this.#empty(id, typeof leaves === 'string' || isKilled ? atMs : atMs + leaves);
  }

  /** The supervisor is gone, and so are the actions that only it ran. The host continues the commands. */
  loseSupervisor(): void {
    const lost = this.#running.filter(({ action }) => action.kind !== 'exec').map(({ id }) => id);
    this.#running = this.#running.filter(({ id }) => !lost.includes(id));
    this.#due = this.#due.filter(({ event }) => event.type !== 'taskEnded' || !lost.includes(event.id));
  }

  #spawn(id: number): void {
    this.#script = this.#scriptOf?.(id) ?? this.#script;
    const { errno, endsAfterMs, code = 0 } = this.#script;
    if (errno !== undefined) return this.#at(this.#nowMs, { type: 'spawnFailed', id, errno, why: `app: ${errno}` });
    this.#at(this.#nowMs, { type: 'spawned', id, pid: 100 + id });
    if (endsAfterMs !== undefined) this.end(id, { code, signal: undefined }, this.#nowMs + endsAfterMs);
  }

  /** What it leaves behind has had no signal, unless a rung is under way. */
  #leave(id: number, atMs: number): void {
    this.#reaped = id;
    if (this.#script.leaves === 'untilAsked' && this.#stopped === id) this.#empty(id, atMs);
  }

  #stop(id: number, signal: number): void {
    const isLeft = id === this.#reaped && id > this.#gone;
    this.#stopped = id;
    if (isLeft && this.#script.leaves === 'untilAsked') this.#empty(id, this.#nowMs);
    else this.#strike(id, signal);
  }

  #strike(id: number, signal: number): void {
    if (id <= this.#gone) return;
    if (signal === SIGKILL) {
      this.end(id, { code: undefined, signal }, this.#nowMs);
      this.#due = this.#due.filter(({ event }) => event.type !== 'rootsGone' || event.id !== id);
      if (this.#script.leaves !== 'unkillable') this.#empty(id, this.#nowMs);
      return;
    }
    const reaction = this.#script.on?.[signal];
    if (reaction === 'ignores' || (reaction === undefined && HARMLESS.has(signal))) return;
    if (reaction === undefined) return this.end(id, { code: undefined, signal }, this.#nowMs);
    this.end(id, { code: reaction.code, signal: undefined }, this.#nowMs + reaction.afterMs);
  }

  #empty(id: number, atMs: number): void {
    this.#at(atMs, { type: 'rootsGone', id });
  }

  #run(id: number, action: TaskAction): void {
    const name = nameOf(action);
    const nth = this.#counts[name] ?? 0;
    this.#counts = { ...this.#counts, [name]: nth + 1 };
    const runs = this.#script.actions?.[name] ?? [];
    const scripted = typeof runs === 'function' ? runs(this.#nowMs) : (runs[nth] ?? runs.at(-1));
    const run = scripted ?? { afterMs: 0, ok: true };
    this.#running = [...this.#running, { id, action, run }];
    if (typeof run === 'object') this.#at(this.#nowMs + run.afterMs, endOf(id, run));
  }

  #endTask(id: number): void {
    const running = this.#running.find((one) => one.id === id);
    this.#running = this.#running.filter((one) => one.id !== id);
    if (running === undefined || running.run === 'deaf') return;
    const isEnd = ({ event }: Due): boolean => event.type === 'taskEnded' && event.id === id;
    this.#due = this.#due.filter((due) => !isEnd(due));
    this.#at(this.#nowMs, endOf(id, { ok: false }));
  }

  #at(atMs: number, event: EventOf): void {
    this.#due = [...this.#due, { atMs, event }].sort((a, b) => a.atMs - b.atMs);
  }
}

/** What the script calls it: the command, the path, or the port. */
export function nameOf(action: TaskAction): string {
  if (action.kind === 'exec') return action.argv[0];
  if (action.kind === 'http' || action.kind === 'file') return action.path;
  if (action.kind === 'gauge') return action.call.path;
  if (action.kind === 'quit' || action.kind === 'ready') return action.name;
  return action.kind === 'sleep' ? 'sleep' : `${action.kind}:${action.port}`;
}

function endOf(id: number, { ok, sum, detail }: { ok: boolean; sum?: number; detail?: string }): EventOf {
  const how = detail ?? (ok ? '' : 'exit code 1');
  return { type: 'taskEnded', id, ok, detail: how, output: '', ...(sum !== undefined && { sum }) };
}

/** What by default does not end a process, signal(7). */
const HARMLESS: ReadonlySet<number> = new Set([SIGCHLD, SIGCONT, SIGWINCH, 23]);
