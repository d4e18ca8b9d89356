/**
 * Several lives over one graveyard on one fake clock: what one writes the others see in the same millisecond.
 */
import type { MemberConfig } from '../../src/core/config.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import type { State } from '../../src/core/state/state.ts';
import { START } from './helpers.ts';
import { type ChildScript, Life, type LifeOptions } from './life.ts';

export interface MemberScript {
  readonly config: MemberConfig;
  readonly child?: ChildScript;
  readonly observe?: LifeOptions['observe'];
}

export class Pod {
  readonly lives: ReadonlyMap<string, Life>;
  /** Killed with the whole container, without a word. */
  readonly #killed: Map<string, number>;
  /** What each has been shown last. */
  readonly #shown: Map<string, string>;
  readonly #ended: string[];
  #nowMs: number;

  constructor(members: readonly MemberScript[], from?: Pod) {
    if (from === undefined) {
      this.lives = new Map(members.map((member) => [member.config.name, new Life(member)]));
      this.#killed = new Map();
      this.#shown = new Map();
      this.#ended = [];
      this.#nowMs = START;
      this.#settle();
      return;
    }
    this.lives = new Map([...from.lives].map(([name, life]) => [name, life.fork()]));
    this.#killed = new Map(from.#killed);
    this.#shown = new Map(from.#shown);
    this.#ended = [...from.#ended];
    this.#nowMs = from.#nowMs;
  }

  /** The same pod from here on, twice. */
  fork(): Pod {
    return new Pod([], this);
  }

  /** Something happens to one of them. */
  act(name: string, does: (life: Life) => void): this {
    const life = this.of(name);
    if (life.exitCode === undefined) does(life);
    return this.#settle();
  }

  /** To the next moment at which something happens by itself, if there is one. */
  passOn(): this {
    const nextMs = this.#nextMs;
    return Number.isFinite(nextMs) ? this.pass(nextMs - this.#nowMs) : this;
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

  get nowMs(): number {
    return this.#nowMs;
  }

  get #nextMs(): number {
    return Math.min(...this.#living().map(([, life]) => life.nextMs ?? Number.POSITIVE_INFINITY));
  }

  #living(): readonly (readonly [string, Life])[] {
    return [...this.lives].filter(([name]) => !this.#killed.has(name));
  }

  /** Until nobody has anything new to see. */
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

  #view(name: string, life: Life): Shown {
    const lostAt = this.#killed.get(name);
    const known = VIEWS.get(life.state);
    if (known !== undefined && lostAt === undefined) return known;
    const { History: _history, ...tombstone } = life.tombstone;
    const liveness: Partial<PeerView> & Pick<PeerView, 'liveness'> =
      tombstone.Died !== undefined
        ? { liveness: 'none' }
        : lostAt === undefined
          ? { liveness: 'held' }
          : { liveness: 'lost', lostAt };
    const view: PeerView = { tombstone, foundAtStart: false, vanished: false, ...liveness };
    const shown = { view, text: JSON.stringify(view) };
    if (lostAt === undefined) VIEWS.set(life.state, shown);
    return shown;
  }
}

interface Shown {
  readonly view: PeerView;
  readonly text: string;
}

/** What a state looks like from outside, worked out once: whoever tries everything comes by many times. */
const VIEWS = new WeakMap<State, Shown>();
