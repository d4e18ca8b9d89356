/**
 * Reflexes, as `src/init/reflex/mains.c` has them: what a supervisor has left behind, done by init at every chance.
 * They are kept as the state that they follow from, and derived when they are needed. The data is the same, and most of
 * it is never needed.
 */
import { SIGNAL_EXIT, statusOf } from '../../src/core/exit.ts';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../src/core/format/tombstone-parse.ts';
import { reduceAll } from '../../src/core/lifecycle/lifecycle.ts';
import {
  type Ended,
  endOf,
  fill,
  type PreparedEnd,
  type PreparedStop,
  preparedEndBy,
  preparedStop,
} from '../../src/core/lifecycle/prepared/prepared-ends.ts';
import {
  type EndWith,
  endWithMains,
  isIdle,
  isUnchanged,
  type Known,
} from '../../src/core/lifecycle/prepared/reflexes.ts';
import { tombstoneOf } from '../../src/core/lifecycle/stop/record.ts';
import type { Event } from '../../src/core/state/events.ts';
import type { State } from '../../src/core/state/state.ts';
import { instantAt } from '../../src/core/time.ts';
import type { EventOf } from '../core/host.ts';
import { differenceOf } from '../core/reflex.ts';
import type { Container, Queued } from './container.ts';
import { Content } from './volume.ts';

/** The command has ended with this code, nothing is left of it, and init has written this. */
export interface EndWritten {
  readonly type: 'endWritten';
  readonly id: number;
  readonly pid: number;
  readonly ended: Ended;
  readonly text: string;
  readonly from: Known;
}

export class SimReflexes {
  readonly #container: Container;
  #left: Known | undefined;
  #stop: PreparedStop | undefined | 'unmade' = 'unmade';
  #committedMs = 0;
  /** The mains to which there are connections; they outlive what has been taken back, for a time without a supervisor. */
  #heard: { readonly endWith: EndWith; readonly from: Known } | undefined;
  readonly #said = new Set<string>();
  /** The mains that have said that they have ended, and may come back. */
  readonly #ended = new Set<string>();
  /** The mains whose connection has ended although they have said nothing. */
  readonly #gone = new Set<string>();
  /** Init alone has ended it because of mains that may come back. */
  isEndedUnsure = false;
  /** What was known when it last ended the command with the mains. */
  endedFrom: State | undefined;
  /** The deadline of a stop that init has carried out as prepared, CLOCK_MONOTONIC. */
  writtenDeadlineMs: number | undefined;
  /** Init has announced an end after which no other life follows. */
  hasSaidFinal = false;

  constructor(container: Container) {
    this.#container = container;
  }

  /** With every commit: what no longer holds is taken back in it. */
  commit(known: Known): void {
    this.#committedMs = this.#container.world.agenda.monoMs;
    if (this.#left !== undefined && !isUnchanged(this.#left, known)) this.#left = undefined;
  }

  leave(known: Known): void {
    if (!isIdle(known.state)) return;
    this.#left = known;
    const { member, world } = this.#container;
    const endWith = endWithMains(member.config, known.state);
    if (endWith === undefined) return;
    this.#heard = { endWith, from: known };
    this.#said.clear();
    this.#ended.clear();
    this.#gone.clear();
    for (const { name, hostId } of endWith.mains)
      if (world.volume.sockets.get(name)?.isRunning !== true) this.#gone.add(hostId);
  }

  /** It holds connections to mains. */
  get isListening(): boolean {
    return this.#heard !== undefined;
  }

  /** The supervisor falls asleep: what it leaves behind for a whole stop is made when the first event comes. */
  fallAsleep(): void {
    this.#stop = 'unmade';
  }

  /** Until when these events start no supervisor, CLOCK_MONOTONIC; undefined: they do. */
  preparedUntil(queue: readonly Queued[]): number | undefined {
    const [first] = queue;
    const left = this.#left;
    if (first === undefined || left === undefined || !this.#container.isAsleep) return undefined;
    if (!this.#holds(left, first.atMs)) return undefined;
    const stop = this.#stopOf(left);
    const prelude = stop === undefined ? undefined : preludeOf(queue, stop.signal);
    if (stop === undefined || prelude === undefined) return undefined;
    const isBegun = stop.ends.some((end) => end.prelude !== '' && end.prelude.startsWith(prelude));
    return isBegun ? first.atMs + stop.patienceMs : undefined;
  }

  /** How long a change starts no supervisor: the notice of a main follows, and behind it the stop request of the pod. */
  noticeMs(firedAtMs = this.#container.world.agenda.monoMs): number {
    const { endWith, from } = this.#heard ?? {};
    if (endWith === undefined || from !== this.#left) return 0;
    const isTold = endWith.mains.every(({ hostId }) => this.#said.has(hostId) || this.#ended.has(hostId));
    const untilMs = firedAtMs + (isTold && endWith.holds ? REQUEST_MS : NOTICE_MS);
    return Math.max(0, untilMs - this.#container.world.agenda.monoMs);
  }

  /** A main is gone and has announced nothing, so a stop that is held for it is not as prepared. */
  get isUrgent(): boolean {
    return this.#gone.size > 0;
  }

  #stopOf({ state, wakeAtMs }: Known): PreparedStop | undefined {
    if (this.#stop !== 'unmade') return this.#stop;
    const { config } = this.#container.member;
    const use = { untilMs: wakeAtMs, needsSupervisor: false, lineOf: () => '' };
    this.#stop = preparedStop(config, state, use, endWithMains(config, state));
    return this.#stop;
  }

  /** Init has recorded this end; undefined: the supervisor has to. */
  endAsPrepared(event: EventOf & { type: 'exited' }): EndWritten | undefined {
    const { world, member, queue } = this.#container;
    const { id, pid, code, signal } = event;
    const left = this.#left;
    const how = code ?? SIGNAL_EXIT + (signal ?? 0);
    if (left === undefined || !this.#holds(left)) return undefined;
    const end = this.#endFor(left, queue, how);
    if (end === undefined) return undefined;
    this.hasSaidFinal = end.final;
    for (const other of world.containers) other.hearOfMain(this.#container.hostId, end.final ? 'said' : 'ended');
    this.#left = undefined;
    if (world.volume.trouble !== undefined || !world.volume.isThere) {
      world.count('prepared end that could not be written');
      return undefined;
    }
    const ended = { at: { mono: world.agenda.monoMs, wall: world.wallOf(member) }, how };
    const moments = [...queue.map(({ atMs }) => instantAt(ended.at, atMs)), ended.at];
    const status = statusOf({ code, signal });
    const text = fill(end.text, { moments, code: status });
    const parsed = parseTombstone(member.name, text);
    if (!parsed.ok) throw new Error(`init writes what nobody can read: ${parsed.why}`);
    world.count(end.prelude === '' ? 'prepared end' : `prepared stop ${end.prelude}`);
    if (this.#container.command !== undefined) this.#container.command.isGroupGone = true;
    world.volume.put(member.name, new Content(text));
    world.laws.onTombstoneWritten(this.#container, parsed.tombstone, true);
    this.writtenDeadlineMs = parsed.tombstone.Deadline;
    if (end.prelude !== '') this.#compareStop(left.state, [...queue], ended, text);
    const leavesWith = end.code === 'same' ? status : end.code;
    if (this.#container.brain === undefined && leavesWith !== undefined) {
      world.count('left as prepared');
      this.#container.end(leavesWith, 'left');
    }
    return end.prelude === '' ? { type: 'endWritten', id, pid, ended, text, from: left } : undefined;
  }

  #endFor(left: Known, queue: readonly Queued[], how: number): PreparedEnd | undefined {
    const { config } = this.#container.member;
    if (queue.length === 0) {
      const use = { untilMs: left.wakeAtMs, needsSupervisor: false, lineOf: () => '' };
      return how >= SIGNAL_EXIT ? undefined : preparedEndBy(config, left.state, use, how);
    }
    const untilMs = this.preparedUntil(queue);
    if (untilMs === undefined || this.#container.world.agenda.monoMs > untilMs) return undefined;
    if ((queue.at(-1)?.atMs ?? 0) > this.#container.world.agenda.monoMs) return undefined;
    const stop = this.#stopOf(left);
    const prelude = stop === undefined ? undefined : preludeOf(queue, stop.signal);
    return stop?.ends.find((end) => end.prelude === prelude && end.from <= how && how <= end.to);
  }

  /** What init has written is what the rules make of the same events. */
  #compareStop(state: State, queue: readonly Queued[], ended: Ended, text: string): void {
    const { world, member } = this.#container;
    if (state.child.is !== 'alive') return;
    const before = queue.map(({ event, atMs }) => ({ ...event, at: instantAt(ended.at, atMs) }) as Event);
    const after = reduceAll(member.config, state, [...before, ...endOf(state.child, ended)]);
    world.judges('reflex');
    const own = formatTombstone(tombstoneOf(member.config, after.state));
    if (own !== text)
      world.laws.wrongReflex(this.#container, `init has written ${text.trimEnd()}, not ${own.trimEnd()}`);
  }

  hear(hostId: string, how: 'said' | 'ended' | 'gone'): void {
    if (this.#heard === undefined || this.#said.has(hostId) || this.#ended.has(hostId)) return;
    const heard = { said: this.#said, ended: this.#ended, gone: this.#gone }[how];
    heard.add(hostId);
  }

  /** The signal that is due because a stop request was held, and all mains have ended; undefined: none is. */
  takeHold(): number | undefined {
    const { queue, world } = this.#container;
    const { endWith, from } = this.#heard ?? {};
    const untilMs = this.preparedUntil(queue);
    if (endWith?.holds !== true || from !== this.#left || untilMs === undefined || world.agenda.monoMs >= untilMs)
      return undefined;
    if (queue.length !== 1 || queue[0]?.event.type !== 'signal') return undefined;
    if (!endWith.mains.every(({ hostId }) => this.#said.has(hostId) || this.#ended.has(hostId))) return undefined;
    this.endedFrom = from?.state;
    world.count('held until the mains had ended');
    return endWith.signal;
  }

  /** The mains by which it ends, when so many of them are gone; alone, also where a supervisor would have to judge. */
  get departed(): EndWith | undefined {
    const { isAlone, isStopping, member, queue } = this.#container;
    const { endWith, from } = this.#heard ?? {};
    if (endWith === undefined || this.#said.size + this.#ended.size + this.#gone.size === 0) return undefined;
    if (!isAlone && (this.#left !== from || from === undefined || queue.length > 0 || !this.#holds(from)))
      return undefined;
    const { mains, needed } = endWith;
    if (!isAlone && needed === 0) return undefined;
    const countsLost = isAlone && (member.config.restartPolicy === 'Never' || isStopping);
    const isGone = (hostId: string): boolean =>
      this.#said.has(hostId) || (countsLost && (this.#gone.has(hostId) || this.#ended.has(hostId)));
    return mains.filter(({ hostId }) => isGone(hostId)).length < (needed || mains.length) ? undefined : endWith;
  }

  /** The signal that is due; undefined: none yet. */
  takeEnd(): number | undefined {
    const { departed } = this;
    const { isAlone, world } = this.#container;
    if (this.#heard === undefined || departed === undefined) return undefined;
    const { state } = this.#heard.from;
    const { mains, needed, signal } = departed;
    if (!isAlone) this.#compare(state, departed);
    this.isEndedUnsure = mains.filter(({ hostId }) => this.#said.has(hostId)).length < (needed || mains.length);
    this.endedFrom = state;
    world.count(isAlone ? 'ended with the mains, alone' : 'ended with the mains');
    return signal;
  }

  /** What follows from it is what would have followed from the record of their deaths. */
  #compare(state: State, { mains, signal }: EndWith): void {
    const { world, member } = this.#container;
    const at = { mono: world.agenda.monoMs, wall: world.wallOf(member) };
    world.judges('reflex');
    const why = differenceOf(member.config, state, { mains: mains.map(({ name }) => name), signal, at });
    if (why !== undefined) world.laws.wrongReflex(this.#container, why);
  }

  #holds({ wakeAtMs }: Known, monoMs = this.#container.world.agenda.monoMs): boolean {
    return monoMs > this.#committedMs && (wakeAtMs === undefined || monoMs < Math.ceil(wakeAtMs));
  }
}

/** As in `src/init/reflex/prepared-end.c`. */
const NOTICE_MS = 20;
const REQUEST_MS = 500;

/** As `read_prelude` in `src/init/reflex/prepared-end.c`; undefined: one of them is in no prelude. */
function preludeOf(queue: readonly Queued[], signal: number): string | undefined {
  let prelude = '';
  for (const { event, isOnce } of queue) {
    if (event.type === 'signal' && event.signal === signal) prelude += 's';
    else if (event.type === 'forwarded' && event.signal === signal && isOnce) prelude += 'f';
    else if (event.type === 'stopSent' && event.isByMains) prelude += 't';
    else return undefined;
  }
  return prelude;
}
