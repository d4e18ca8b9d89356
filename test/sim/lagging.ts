/**
 * A pod in which no member sees anything by itself: each looks at the others only when the test makes it look. So a
 * death, a stop or a start may be seen early, late or together, in every order.
 */
import type { MemberConfig } from '../../src/core/config.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import type { State } from '../../src/core/state/state.ts';
import { START } from '../core/helpers.ts';
import { type ChildScript, Life, type Step } from '../core/life.ts';

export interface LaggingMember {
  readonly config: MemberConfig;
  readonly child: ChildScript;
  readonly observe: (step: Step) => void;
}

export class LaggingPod {
  readonly lives: ReadonlyMap<string, Life>;
  /** When each was killed with its whole container. */
  readonly killed: Map<string, number>;
  nowMs: number;

  constructor(members: readonly LaggingMember[], from?: LaggingPod) {
    this.lives =
      from === undefined
        ? new Map(members.map((member) => [member.config.name, new Life(member)]))
        : new Map([...from.lives].map(([name, life]) => [name, life.fork()]));
    this.killed = new Map(from?.killed);
    this.nowMs = from?.nowMs ?? START;
  }

  fork(): LaggingPod {
    return new LaggingPod([], this);
  }

  of(name: string): Life {
    const life = this.lives.get(name);
    if (life === undefined) throw new Error(`no member is called ${name}`);
    return life;
  }

  runs(name: string): boolean {
    return this.of(name).exitCode === undefined && !this.killed.has(name);
  }

  act(name: string, does: (life: Life) => void): void {
    if (this.runs(name)) does(this.of(name));
  }

  /** It looks at all the others, as they are now. */
  look(name: string): void {
    const others = [...this.lives.keys()].filter((other) => other !== name && this.#hasWritten(other));
    this.act(name, (life) => life.see(...others.map((other) => this.#view(other))));
  }

  kill(name: string): void {
    if (this.runs(name)) this.killed.set(name, this.nowMs);
  }

  /** To the next moment at which something happens by itself; or by so much, if nothing does. */
  passOn(mostMs: number): void {
    const moments = this.#running().map((life) => life.nextMs ?? Number.POSITIVE_INFINITY);
    this.nowMs = Math.min(this.nowMs + mostMs, Math.max(this.nowMs, ...[Math.min(...moments)].filter(Number.isFinite)));
    for (const life of this.#running()) life.pass(this.nowMs - life.nowMs);
  }

  /** Equal for pods with the same future. */
  get key(): string {
    return JSON.stringify(
      [...this.lives].map(([name, life]) => [
        this.killed.has(name),
        life.exitCode,
        essence(life.state, this.nowMs),
        life.host.dueFrom(this.nowMs).map(due),
        Object.values(life.state.peers ?? {}).map(({ tombstone, liveness, sinceMs }) => [
          tombstone.Phase,
          tombstone.Incarnation,
          tombstone.Final,
          tombstone.StopRequested !== undefined,
          tombstone.Deadline === undefined ? 0 : tombstone.Deadline - this.nowMs,
          liveness,
          liveness === 'lost' ? Math.max(0, sinceMs + 2_000 - this.nowMs) : 0,
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

/** An end that is due, without its absolute times. */
function due([inMs, event]: readonly [number, object]): readonly unknown[] {
  return [inMs, Object.values(event).filter((value) => typeof value !== 'number')];
}

/** All that decides what comes next, with times from now. A time that is past for good counts as 0. */
function essence(state: State, nowMs: number): unknown {
  const from = (atMs: number | undefined): number | undefined => (atMs === undefined ? undefined : atMs - nowMs);
  const ahead = (atMs: number): number => Math.max(0, atMs - nowMs);
  const { child, stop, climb, deadline, failing, hooks, vitals, tasks, chronicle } = state;
  return [
    state.phase,
    child.is === 'backoff'
      ? [ahead(child.untilMs), child.exit]
      : child.is === 'gone'
        ? [child.code, child.final]
        : child.is,
    stop && [stop.origin, stop.reason, stop.requests, stop.waitsFor, ahead(stop.earliestMs), ahead(stop.atMs + 1_000)],
    stop && [stop.alone, stop.asked && ahead(stop.asked.atMs + 1_000)],
    climb && [climb.why, climb.killed, from(climb.killAtMs)],
    deadline && [from(deadline.atMs), from(deadline.sinceMs)],
    failing && from(failing.killAtMs),
    hooks.preStop && from(hooks.preStop.sinceMs),
    Object.entries(vitals).map(([kind, { verdict, run, lastOk, nextAtMs }]) => [
      kind,
      verdict,
      run,
      lastOk,
      ahead(nextAtMs),
    ]),
    tasks.map(({ key, sinceMs, untilMs, toldMs }) => [key, from(sinceMs), from(untilMs), from(toldMs)]),
    state.backoffMs,
    chronicle.healthy !== undefined,
  ];
}
