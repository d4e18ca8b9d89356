/** What a supervisor sees of connections during a drain: they come now and then, or cannot be seen. */
import type { Effect } from '../../src/core/state/events.ts';
import type { EventOf } from '../core/host.ts';
import type { Actor, Entry } from './agenda.ts';
import type { World } from './world.ts';

const COUNT_MS = 250;

export class SeenTraffic {
  readonly #world: World;
  readonly #actor: Actor;
  readonly #onEvent: (event: EventOf) => void;
  #counting: Entry | undefined;

  constructor(world: World, actor: Actor, onEvent: (event: EventOf) => void) {
    this.#world = world;
    this.#actor = actor;
    this.#onEvent = onEvent;
  }

  obey(effect: Effect): void {
    if (effect.type === 'watchTraffic') this.#count(effect.connections);
    if (effect.type === 'unwatchTraffic') this.#world.agenda.cancel(this.#counting);
  }

  #count(connections: number): void {
    const { agenda, dice } = this.#world;
    const atMs = agenda.monoMs;
    if (dice.chance(0.1))
      return void agenda.in(1, this.#actor, () => this.#onEvent({ type: 'trafficUnavailable', why: 'no /proc' }));
    const lastMs = dice.chance(0.5) ? atMs : undefined;
    this.#counting = agenda.in(COUNT_MS, this.#actor, () => {
      const seen = { lastMs, connections, ignored: 0, open: dice.int(2), byAddress: 0 };
      this.#count(connections + 1);
      this.#onEvent({ type: 'trafficSeen', ...seen });
    });
  }
}
