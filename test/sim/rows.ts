/** The rows `mains` and `end` of the orders, as `src/init/orders/mains.c` and `ends.c` carry them out. */
import { isDeepStrictEqual } from 'node:util';
import { type EndRow, endOf } from '../../src/core/end-rows.ts';
import { type ChildExit, SIGNAL_EXIT, statusOf } from '../../src/core/exit.ts';
import { formatTombstone, type Tombstone } from '../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../src/core/format/tombstone-parse.ts';
import { reduceAll } from '../../src/core/lifecycle/lifecycle.ts';
import { tombstoneOf } from '../../src/core/lifecycle/stop/record.ts';
import type { MainsRow } from '../../src/core/mains-row.ts';
import type { Orders } from '../../src/core/orders.ts';
import { SIGTERM } from '../../src/core/signals.ts';
import type { Event } from '../../src/core/state/events.ts';
import type { State } from '../../src/core/state/state.ts';
import { type Instant, instantAt } from '../../src/core/time.ts';
import type { TextsCommand } from '../../src/runtime/host/host.ts';
import { type Closing, closedMessage, closedTombstone } from '../core/closing.ts';
import type { EventOf } from '../core/host.ts';
import { differenceOf } from '../core/mains-ended.ts';
import { memberAt } from './contacts.ts';
import type { Container, Queued } from './container.ts';
import { Content } from './volume.ts';

/** Rows, and the state that they follow from. */
interface Ends {
  readonly id: number;
  readonly rows: readonly EndRow[];
  readonly state: State;
}
interface Mains {
  readonly row: MainsRow;
  readonly state: State;
}

type Exited = EventOf & { type: 'exited' };

const NEVER = Number.POSITIVE_INFINITY;

/** What a main has said of its end: it is for good, as asked, or by itself. `gone`: nothing. */
export type Notice = 'said' | 'asked' | 'ended' | 'gone';

export class SimRows {
  readonly #container: Container;
  #texts: TextsCommand | undefined;
  #ends: Ends | undefined;
  #committedMs = 0;
  /** When supervisors before this one were due. */
  #untilMs = NEVER;
  /** Those of the last row; they outlive it for the time in which no supervisor can be started. */
  #heard: Mains | undefined;
  #mayEnd = false;
  readonly #said = new Set<string>();
  /** The mains that have said that they have ended, in this stop. */
  readonly #ended = new Set<string>();
  /** The mains that have ended in any other way. */
  readonly #gone = new Set<string>();
  /** The last end of a main, CLOCK_MONOTONIC. */
  #endedMs = 0;
  /** Init alone has ended it because of mains that may come back. */
  isEndedUnsure = false;
  /** What was known when it last ended the command with the mains. */
  endedFrom: State | undefined;
  /** The deadline of a stop that init has carried out as prepared, CLOCK_MONOTONIC. */
  writtenDeadlineMs: number | undefined;
  /** The evidence that it left with its exit. */
  evidence: string | undefined;
  /** Init has announced an end after which no other life follows. */
  hasSaidFinal = false;

  constructor(container: Container) {
    this.#container = container;
  }

  commit(): void {
    this.#committedMs = this.#container.world.agenda.monoMs;
  }

  /** Another supervisor is started, which owes nothing yet. */
  expire(dueMs = NEVER): void {
    this.#untilMs = Math.min(this.#untilMs, dueMs);
  }

  leaveTexts(command: TextsCommand): void {
    this.#texts = command;
  }

  replace({ id, rows }: Orders): void {
    const { state } = this.#container.memo ?? {};
    this.#untilMs = NEVER;
    if (state === undefined) return;
    const ends = rows.filter((row) => row.when === 'end');
    this.#ends = ends.length === 0 ? undefined : { id, rows: ends, state };
    const row = rows.find(({ when }) => when === 'mains') as MainsRow | undefined;
    this.#mayEnd = row !== undefined && row.needed > 0;
    if (row !== undefined) this.#listen({ row, state });
  }

  #listen(heard: Mains): void {
    this.#heard = heard;
    this.#said.clear();
    this.#ended.clear();
    this.#gone.clear();
    this.#endedMs = this.#container.world.agenda.monoMs;
    const { contacts } = this.#container;
    for (const { path, hostId } of heard.row.mains) if (!contacts.holds(path)) this.#gone.add(hostId);
    contacts.drop();
  }

  /** It holds connections to mains. */
  get isListening(): boolean {
    return this.#heard !== undefined;
  }

  /** Until when these events start no supervisor, CLOCK_MONOTONIC; undefined: they do. */
  preparedUntil(queue: readonly Queued[]): number | undefined {
    const [first] = queue;
    const row = this.#rowToCome(queue);
    return first !== undefined && row !== undefined && this.#container.isAsleep
      ? first.atMs + row.patienceMs
      : undefined;
  }

  /** The first row whose prelude the queue is, or begins. */
  #rowToCome(queue: readonly Queued[]): EndRow | undefined {
    const [first] = queue;
    const { prelude, exit } = happened(queue) ?? {};
    if (first === undefined || prelude === undefined || !this.#holds(first.atMs)) return undefined;
    if (exit !== undefined) return this.#rowFor(prelude, exit);
    return this.#ends?.rows.find((row) => row.prelude.startsWith(prelude));
  }

  /** How long a change starts no supervisor: the notice of a main follows, and behind it the stop request of the pod. */
  noticeMs(firedAtMs = this.#container.world.agenda.monoMs): number {
    const row = this.#heard?.row;
    if (row === undefined || this.#ends === undefined) return 0;
    const untilMs = firedAtMs + (this.#haveAllEnded(row) && row.holds ? REQUEST_MS : NOTICE_MS);
    return Math.max(0, untilMs - this.#container.world.agenda.monoMs);
  }

  #haveAllEnded({ mains }: MainsRow): boolean {
    return mains.every(({ hostId }) => this.#said.has(hostId) || this.#ended.has(hostId));
  }

  /** A main is gone and has announced nothing, so a stop that is held for it is not as prepared. */
  get isUrgent(): boolean {
    return this.#gone.size > 0;
  }

  /** Whether init has recorded this end in place of the supervisor. It may be in the queue already. */
  endByRow(event: Exited): boolean {
    const { world, member, queue } = this.#container;
    const [left, texts] = [this.#ends, this.#texts];
    const end = left?.id === event.id ? this.#endFor(event) : undefined;
    if (left === undefined || texts === undefined || end === undefined) return false;
    this.#ends = undefined;
    this.#mayEnd = false;
    this.hasSaidFinal = end.final;
    const notice = end.final ? 'said' : end.prelude === '' ? 'ended' : 'asked';
    for (const other of world.containers) other.hearOfMain(this.#container.hostId, notice);
    if (world.volume.trouble !== undefined || !world.volume.isThere) {
      world.count('prepared end that could not be written');
      return false;
    }
    const at = this.#container.now;
    const asked = queue.filter(({ event: { type } }) => type === 'signal' || type === 'ordered');
    const moments = [...asked.map((queued) => momentOf(queued, at)), at];
    const status = statusOf(event);
    const closing = { end, exit: event, moments, graceMs: this.#container.graceMs };
    const text = closedTombstone(texts.tombstone, closing);
    const parsed = parseTombstone(member.name, text);
    if (!parsed.ok) throw new Error(`init writes a tombstone that cannot be read: ${parsed.why}`);
    world.count(end.prelude === '' ? 'prepared end' : `prepared stop ${end.prelude}`);
    if (queue.some(({ event: { type } }) => type === 'exited'))
      world.count('prepared stop, also of what was left behind');
    // Init sees that its own file has changed in its next turn only.
    const { hasDecided } = this.#container;
    world.volume.put(member.name, new Content(text));
    world.laws.onTombstoneWritten(this.#container, parsed.tombstone, true);
    this.writtenDeadlineMs = parsed.tombstone.Deadline;
    this.#compareEnd(left.state, closing, parsed.tombstone);
    const leavesWith = end.code === 'same' ? status : end.code;
    if (!hasDecided && leavesWith !== undefined) {
      world.count('left as prepared');
      this.evidence = closedMessage(texts.evidence, closing);
      this.#container.end(leavesWith, 'left');
    }
    return end.prelude === '' && event.signal === undefined;
  }

  #endFor(exited: Exited): EndRow | undefined {
    const { queue, hasDecided, world } = this.#container;
    const { monoMs } = world.agenda;
    const sinceMs = queue[0]?.atMs ?? monoMs;
    const { prelude, exit } = happened(queue) ?? {};
    if (prelude === undefined || !this.#holds(sinceMs) || !this.#holds(monoMs)) return undefined;
    // If no stop was requested, a supervisor stops the processes that the command left behind.
    if (prelude === '' && exit !== undefined) return undefined;
    if (prelude !== '' && (hasDecided || monoMs < (queue.at(-1)?.atMs ?? 0))) return undefined;
    return this.#rowFor(prelude, exited);
  }

  #rowFor(prelude: string, { code, signal }: ChildExit): EndRow | undefined {
    const how = code ?? SIGNAL_EXIT + (signal ?? 0);
    return this.#ends?.rows.find((row) => row.prelude === prelude && row.from <= how && how <= row.to);
  }

  /** What init has written is, in every key that is read, what the rules make of the same events. */
  #compareEnd(state: State, { exit, moments }: Closing, { History: _, ...written }: Tombstone): void {
    const { world, member, queue } = this.#container;
    const at = moments.at(-1);
    if (state.child.is !== 'alive' || at === undefined) return;
    const before = queue.map((queued) => ({ ...queued.event, at: momentOf(queued, at) }) as Event);
    const how = exit.code ?? SIGNAL_EXIT + (exit.signal ?? 0);
    const end = endOf(state.child, { at, how });
    // The command may have ended before the processes that it left behind. Its end is then in the queue already.
    const isQueued = before.some(({ type }) => type === 'exited');
    const after = reduceAll(member.config, state, [...before, ...(isQueued ? end.slice(1) : end)]);
    world.judges('rows');
    const own = parseTombstone(member.name, formatTombstone(tombstoneOf(member.config, after.state)));
    if (!own.ok) throw new Error(`the rules make a tombstone that cannot be read: ${own.why}`);
    const { History, ...shouldBe } = own.tombstone;
    if (!isDeepStrictEqual(written, shouldBe))
      world.laws.breaks('rows', this.#container, `init has written ${text(written)}, not ${text(shouldBe)}`);
  }

  hear(hostId: string, how: Notice): void {
    if (this.#heard === undefined || this.#isKnown(hostId)) return;
    // A main that has ended by itself before the stop request may come back. Init reads notices before signals.
    const { queue, actor, world } = this.#container;
    const { nowMs, bootAtMs, pausedUntilMs } = world.agenda;
    const isAsked = Math.max((queue[0]?.atMs ?? NEVER) + bootAtMs, actor.frozenUntilMs, pausedUntilMs) < nowMs;
    const isHeld = how === 'asked' || (how === 'ended' && isAsked);
    const heard = how === 'said' ? this.#said : isHeld ? this.#ended : this.#gone;
    heard.add(hostId);
    this.#endedMs = world.agenda.monoMs;
    this.#container.contacts.drop();
  }

  /** It has spoken, or is gone. */
  #isKnown(hostId: string): boolean {
    return this.#said.has(hostId) || this.#ended.has(hostId) || this.#gone.has(hostId);
  }

  isWaitingFor(socket: string): boolean {
    const mains = this.#heard?.row.mains ?? [];
    return mains.some(({ path, hostId }) => path === socket && !this.#isKnown(hostId));
  }

  /** The time that is left between the last end of a main and the signal. */
  get lingersMs(): number {
    const { lingerMs = 0 } = this.#heard?.row ?? {};
    return Math.max(0, this.#endedMs + lingerMs - this.#container.world.agenda.monoMs);
  }

  /** The signal that is due because a stop request was held, and all mains have ended; undefined: none is. */
  takeHold(): number | undefined {
    const { queue, world } = this.#container;
    const { row, state } = this.#heard ?? {};
    if (row?.holds !== true || this.#rowToCome(queue) === undefined || this.#container.hasDecided) return undefined;
    if (queue.length !== 1 || queue[0]?.event.type !== 'signal' || !this.#haveAllEnded(row)) return undefined;
    this.endedFrom = state;
    world.count('held until the mains had ended');
    return row.signal;
  }

  /** Whether as many mains as needed are gone; alone, also where a supervisor would have to judge. */
  get haveMainsFinished(): boolean {
    const { isAlone, isStopping, queue, world } = this.#container;
    if (this.#heard === undefined) return false;
    const { mains, needed, countsLost } = this.#heard.row;
    const isLostCounted = isAlone && (countsLost || isStopping);
    const isGone = (hostId: string): boolean =>
      this.#said.has(hostId) || (isLostCounted && (this.#gone.has(hostId) || this.#ended.has(hostId)));
    if (mains.filter(({ hostId }) => isGone(hostId)).length < (needed || mains.length)) return false;
    return isAlone || (this.#mayEnd && queue.length === 0 && this.#holds(world.agenda.monoMs));
  }

  /** The signal that is due; undefined: none yet. */
  takeEnd(): number | undefined {
    const { isAlone, world } = this.#container;
    if (this.#heard === undefined || !this.haveMainsFinished) return undefined;
    const { row, state } = this.#heard;
    if (!isAlone) this.#compare(state, row);
    const { mains, needed, signal } = row;
    this.#mayEnd = false;
    this.isEndedUnsure = mains.filter(({ hostId }) => this.#said.has(hostId)).length < (needed || mains.length);
    this.endedFrom = state;
    world.count(isAlone ? 'ended with the mains, alone' : 'ended with the mains');
    return signal;
  }

  /** What follows from it is what would have followed from the record of their deaths. */
  #compare(state: State, { mains, signal }: MainsRow): void {
    const { world, member } = this.#container;
    const at = this.#container.now;
    world.judges('rows');
    const why = differenceOf(member.config, state, { mains: mains.map(({ path }) => memberAt(path)), signal, at });
    if (why !== undefined) world.laws.breaks('rows', this.#container, why);
  }

  #holds(monoMs: number): boolean {
    const { dueMs = NEVER } = this.#container;
    return monoMs > this.#committedMs && monoMs < this.#untilMs && monoMs < dueMs;
  }
}

function text(value: unknown): string {
  return JSON.stringify(value);
}

/** In the words of the supervisor that hears of it. */
function momentOf({ event, atMs, wall }: Queued, at: Instant): Instant {
  return event.type === 'ordered' ? { mono: atMs, wall } : instantAt(at, atMs);
}

/** As in `src/init/orders/ends.c`. */
const NOTICE_MS = 20;
const REQUEST_MS = 500;

/** As `read_queue` in `src/init/orders/ends.c`; undefined: one of them is in no row. */
function happened(
  queue: readonly Queued[],
): { readonly prelude: string; readonly exit: Exited | undefined } | undefined {
  let prelude = '';
  let exit: Exited | undefined;
  for (const { event, isOnce } of queue) {
    if (event.type === 'told') continue;
    if (exit !== undefined) return undefined;
    if (event.type === 'exited') exit = event;
    else if (event.type === 'signal' && event.signal === SIGTERM) prelude += 's';
    else if (event.type !== 'ordered') return undefined;
    else if (event.row === 'mains') prelude += 't';
    else if (event.signal === SIGTERM && isOnce) prelude += 'f';
    else return undefined;
  }
  return { prelude, exit };
}
