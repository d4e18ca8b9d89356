/**
 * A pod in which no member sees anything by itself: each looks at the others only when the test makes it look. So a
 * death, a stop or a start may be seen early, late or together, in every order.
 */
import type { MemberConfig } from '../../src/core/config.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import { START } from '../core/helpers.ts';
import { type ChildScript, Life, type Step } from '../core/life.ts';
import { due, essence } from './essence.ts';

export interface LaggingMember {
  readonly config: MemberConfig;
  readonly child: ChildScript;
  readonly observe: (step: Step) => void;
}

export class LaggingPod {
  readonly lives: ReadonlyMap<string, Life>;
  /** When each was killed with its whole container. */
  readonly killed: Map<string, number>;
  #nowMs: number;

  constructor(members: readonly LaggingMember[], from?: LaggingPod) {
    this.lives =
      from === undefined
        ? new Map(members.map((member) => [member.config.name, new Life(member)]))
        : new Map([...from.lives].map(([name, life]) => [name, life.fork()]));
    this.killed = new Map(from?.killed);
    this.#nowMs = from?.nowMs ?? START;
  }

  fork(): LaggingPod {
    return new LaggingPod([], this);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  of(name: string): Life {
    const life = this.lives.get(name);
    if (life === undefined) throw new Error(`nobody is called ${name}`);
    return life;
  }

  runs(name: string): boolean {
    return this.of(name).exitCode === undefined && !this.killed.has(name);
  }

  act(name: string, does: (life: Life) => void): this {
    if (this.runs(name)) does(this.of(name));
    return this;
  }

  /** It looks at all the others, as they are now. */
  look(name: string): this {
    const others = [...this.lives.keys()].filter((other) => other !== name && this.#hasWritten(other));
    return this.act(name, (life) => life.see(...others.map((other) => this.#view(other))));
  }

  kill(name: string): this {
    if (this.runs(name)) this.killed.set(name, this.#nowMs);
    return this;
  }

  /** To the next moment at which something happens by itself; or by so much, if nothing does. */
  passOn(mostMs: number): this {
    const moments = this.#running().map((life) => life.nextMs ?? Number.POSITIVE_INFINITY);
    this.#nowMs = Math.min(
      this.#nowMs + mostMs,
      Math.max(this.#nowMs, ...[Math.min(...moments)].filter(Number.isFinite)),
    );
    for (const life of this.#running()) life.pass(this.#nowMs - life.nowMs);
    return this;
  }

  /** Equal for pods with the same future. */
  get key(): string {
    return JSON.stringify(
      [...this.lives].map(([name, life]) => [
        this.killed.has(name),
        life.exitCode,
        essence(life.state, this.#nowMs),
        life.host.dueFrom(this.#nowMs).map(due),
        Object.values(life.state.peers ?? {}).map(({ tombstone, liveness, sinceMs }) => [
          tombstone.Phase,
          tombstone.Incarnation,
          tombstone.Final,
          tombstone.StopRequested !== undefined,
          tombstone.Deadline === undefined ? 0 : tombstone.Deadline - this.#nowMs,
          liveness,
          liveness === 'lost' ? Math.max(0, sinceMs + 2_000 - this.#nowMs) : 0,
        ]),
      ]),
    );
  }

  #running(): readonly Life[] {
    return [...this.lives].filter(([name]) => this.runs(name)).map(([, life]) => life);
  }

  #hasWritten(name: string): boolean {
    return this.of(name).done.length > 0 || this.of(name).config.role === 'sidecar';
  }

  #view(name: string): PeerView {
    const { History: _history, ...tombstone } = this.of(name).tombstone;
    const lostAt = this.killed.get(name);
    const view = { tombstone, foundAtStart: false, vanished: false };
    if (tombstone.Died !== undefined) return { ...view, liveness: 'none' };
    return lostAt === undefined ? { ...view, liveness: 'held' } : { ...view, liveness: 'lost', lostAt };
  }
}
