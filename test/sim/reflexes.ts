/**
 * Reflexes, as `src/init/reflex.c` has them: what a supervisor has left behind, done by init at every chance. What is
 * left is kept as the state that it was made from, and made when it is needed: it is the same data, and most of it is
 * never needed.
 */
import { parseTombstone } from '../../src/core/format/tombstone-parse.ts';
import { coveredEnd, type Ended, fill } from '../../src/core/lifecycle/covered-ends.ts';
import { type EndWith, endWithMains, isCalm, isStill, type Known } from '../../src/core/lifecycle/reflexes.ts';
import type { State } from '../../src/core/state/state.ts';
import type { EventOf } from '../core/host.ts';
import { differenceOf } from '../core/reflex.ts';
import type { Container } from './container.ts';
import { Content } from './volume.ts';

/** The command has ended with this code, nothing is left of it, and init has written this. */
export interface Worded {
  readonly type: 'worded';
  readonly id: number;
  readonly pid: number;
  readonly ended: Ended;
  readonly text: string;
  readonly from: Known;
}

export class SimReflexes {
  readonly #container: Container;
  #left: Known | undefined;
  #committedMs = 0;
  /** The mains to which there are connections; they outlive what has been taken back, for a time without a supervisor. */
  #heard: { readonly endWith: EndWith; readonly from: Known } | undefined;
  readonly #said = new Set<string>();
  /** The mains whose connection has ended although they have said nothing. */
  readonly #gone = new Set<string>();
  /** Init alone has ended it because of mains that may come back. */
  isEndedUnsure = false;
  /** What was known when it last ended the command with the mains. */
  endedFrom: State | undefined;
  /** Its last word was that no other life will follow. */
  hasSaidFinal = false;

  constructor(container: Container) {
    this.#container = container;
  }

  /** With every commit: what no longer holds is taken back in it. */
  commit(known: Known): void {
    this.#committedMs = this.#container.world.agenda.monoMs;
    if (this.#left !== undefined && !isStill(this.#left, known)) this.#left = undefined;
  }

  leave(known: Known): void {
    if (!isCalm(known.state)) return;
    this.#left = known;
    const { member, world } = this.#container;
    const endWith = endWithMains(member.config, known.state);
    if (endWith === undefined) return;
    this.#heard = { endWith, from: known };
    this.#said.clear();
    this.#gone.clear();
    for (const { name, hostId } of endWith.mains)
      if (world.volume.sockets.get(name)?.isRunning !== true) this.#gone.add(hostId);
  }

  /** It holds connections to mains. */
  get isListening(): boolean {
    return this.#heard !== undefined;
  }

  /** Init has taken note of this end; undefined: it is for the supervisor. */
  sayLastWord({ id, pid, code }: EventOf & { type: 'exited' }): Worded | undefined {
    const { world, member, queue } = this.#container;
    const left = this.#left;
    if (left === undefined || code === undefined || queue.length > 0 || !this.#holds(left)) return undefined;
    const use = { untilMs: left.wakeAtMs, needsSupervisor: false, lineOf: () => '' };
    const end = coveredEnd(member.config, left.state, use, code);
    if (end === undefined) return undefined;
    this.hasSaidFinal = end.final;
    if (end.final) for (const other of world.containers) other.hearOfMain(this.#container.hostId, true);
    if (world.volume.trouble !== undefined || !world.volume.isThere) {
      this.#left = undefined;
      world.count('last word that could not be written');
      return undefined;
    }
    const ended = { at: { mono: world.agenda.monoMs, wall: world.wallOf(member) }, code };
    const text = fill(end.text, ended);
    const parsed = parseTombstone(member.name, text);
    if (!parsed.ok) throw new Error(`init writes what nobody can read: ${parsed.why}`);
    this.#left = undefined;
    world.count('last word');
    if (this.#container.command !== undefined) this.#container.command.isGroupGone = true;
    world.volume.put(member.name, new Content(text));
    world.laws.onTombstoneWritten(this.#container, parsed.tombstone, true);
    const status = end.code === 'same' ? code : end.code;
    if (this.#container.brain === undefined && status !== undefined) {
      world.count('left with its last word');
      this.#container.end(status, 'left');
    }
    return { type: 'worded', id, pid, ended, text, from: left };
  }

  hear(hostId: string, isFinal: boolean): void {
    if (this.#heard !== undefined) (isFinal ? this.#said : this.#gone).add(hostId);
  }

  /** The mains by which it ends, when so many of them are gone; alone, also where a supervisor would have to judge. */
  get departed(): EndWith | undefined {
    const { isAlone, isStopping, member, queue } = this.#container;
    const { endWith, from } = this.#heard ?? {};
    if (endWith === undefined || this.#said.size + this.#gone.size === 0) return undefined;
    if (!isAlone && (this.#left !== from || from === undefined || queue.length > 0 || !this.#holds(from)))
      return undefined;
    const { mains, needed } = endWith;
    if (!isAlone && needed === 0) return undefined;
    const countsLost = isAlone && (member.config.restartPolicy === 'Never' || isStopping);
    const isGone = (hostId: string): boolean => this.#said.has(hostId) || (countsLost && this.#gone.has(hostId));
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
    this.#left = undefined;
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

  #holds({ wakeAtMs }: Known): boolean {
    const { monoMs } = this.#container.world.agenda;
    return monoMs > this.#committedMs && (wakeAtMs === undefined || monoMs < Math.ceil(wakeAtMs));
  }
}
