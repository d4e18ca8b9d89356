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
  #endWith: EndWith | undefined;
  readonly #gone = new Set<string>();
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
    if (this.#left === undefined || isStill(this.#left, known)) return;
    this.#left = undefined;
    this.#endWith = undefined;
  }

  leave(known: Known): void {
    if (!isCalm(known.state)) return;
    this.#left = known;
    this.#endWith = undefined;
    this.#gone.clear();
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
    if (end.final) for (const other of world.containers) other.hearOfMain(this.#container.hostId);
    if (world.volume.trouble !== undefined || !world.volume.isThere) {
      this.#left = undefined;
      this.#endWith = undefined;
      world.count('last word that could not be written');
      return undefined;
    }
    const ended = { at: { mono: world.agenda.monoMs, wall: world.wallOf(member) }, code };
    const text = fill(end.text, ended);
    const parsed = parseTombstone(member.name, text);
    if (!parsed.ok) throw new Error(`init writes what nobody can read: ${parsed.why}`);
    this.#left = undefined;
    this.#endWith = undefined;
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

  /** A main has said that it is gone. The signal that is due; undefined: none yet. */
  hear(hostId: string): number | undefined {
    if (this.#left === undefined) return undefined;
    this.#endWith ??= endWithMains(this.#container.member.config, this.#left.state);
    if (this.#endWith?.mains.some((main) => main.hostId === hostId) !== true) return undefined;
    this.#gone.add(hostId);
    const { needed, signal } = this.#endWith;
    if (needed === 0 || this.#gone.size < needed || this.#container.queue.length > 0 || !this.#holds(this.#left))
      return undefined;
    this.#compare(this.#left.state, this.#endWith);
    this.endedFrom = this.#left.state;
    this.#left = undefined;
    this.#endWith = undefined;
    this.#container.world.count('ended with the mains');
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
