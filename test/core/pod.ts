/** Several lives over one graveyard on one fake clock: what one writes the others see in the same millisecond. */
import type { MemberConfig } from '../../src/core/config.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import { START } from './helpers.ts';
import { type ChildScript, Life, type LifeOptions } from './life.ts';

export interface MemberScript {
  readonly config: MemberConfig;
  readonly child?: ChildScript;
  readonly observe?: LifeOptions['observe'];
}

export class Pod {
  readonly lives: ReadonlyMap<string, Life>;
  /** Members that were killed with the whole container and wrote nothing. */
  readonly #killed = new Map<string, number>();
  readonly #shown = new Map<string, string>();
  readonly #ended: string[] = [];
  #nowMs = START;

  constructor(members: readonly MemberScript[]) {
    this.lives = new Map(members.map((member) => [member.config.name, new Life(member)]));
    this.#settle();
  }

  act(name: string, does: (life: Life) => void): this {
    const life = this.of(name);
    if (life.exitCode === undefined) does(life);
    return this.#settle();
  }

  /** TERM to all at once, as a platform ends a pod. */
  delete(): this {
    for (const [name, life] of this.lives) if (!this.#killed.has(name) && life.exitCode === undefined) life.signal(15);
    return this.#settle();
  }

  /** The container is killed as a whole: its liveness ends, its tombstone stays as it was. */
  kill(name: string): this {
    this.#killed.set(name, this.#nowMs);
    return this.#settle();
  }

  pass(ms: number): this {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const nextMs = this.#nextMs;
      this.#nowMs = Math.min(Math.max(nextMs, this.#nowMs), untilMs);
      for (const [, life] of this.#living()) life.pass(this.#nowMs - life.nowMs);
      this.#settle();
      if (nextMs > untilMs) return this;
    }
  }

  of(name: string): Life {
    const life = this.lives.get(name);
    if (life === undefined) throw new Error(`nobody is called ${name}`);
    return life;
  }

  /** `name code` of all that have ended, in the order of their ends. */
  get ends(): readonly string[] {
    return this.#ended.map((name) => `${name} ${this.of(name).exitCode}`);
  }

  get #nextMs(): number {
    return Math.min(...this.#living().map(([, life]) => life.nextMs ?? Number.POSITIVE_INFINITY));
  }

  #living(): readonly (readonly [string, Life])[] {
    return [...this.lives].filter(([name]) => !this.#killed.has(name));
  }

  /** Shows each member the others until none has anything new to see. */
  #settle(): this {
    for (let isNews = true; isNews; ) {
      isNews = false;
      for (const [name, life] of this.lives)
        if (life.exitCode !== undefined && !this.#ended.includes(name)) this.#ended.push(name);
      const shown = [...this.lives].map(([name, life]) => ({ name, ...this.#view(name, life) }));
      for (const [name, life] of this.#living()) {
        const others = shown.filter((other) => other.name !== name);
        const text = others.map((other) => other.text).join();
        if (this.#shown.get(name) === text) continue;
        this.#shown.set(name, text);
        life.see(...others.map(({ view }) => view));
        isNews = true;
      }
    }
    return this;
  }

  #view(name: string, life: Life): { readonly view: PeerView; readonly text: string } {
    const lostAt = this.#killed.get(name);
    const { History: _history, ...tombstone } = life.tombstone;
    const isDead = tombstone.Died !== undefined;
    const liveness = isDead ? 'none' : lostAt === undefined ? 'held' : 'lost';
    const isLost = liveness === 'lost' && lostAt !== undefined;
    const view = { tombstone, foundAtStart: false, vanished: false, liveness, ...(isLost && { lostAt }) } as const;
    return { view, text: JSON.stringify(view) };
  }
}
