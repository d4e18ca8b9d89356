/**
 * The watch of a drain, as the effects of the core want it. What it takes is loaded when a drain begins: most members
 * never have one.
 */

import type { HttpOptions } from '../config/run-config.ts';
import type { MemberConfig } from '../core/config.ts';
import { sidecarPorts } from '../core/lifecycle/drain.ts';
import type { Effect, Event } from '../core/state/events.ts';
import type { Clock } from './clock.ts';
import type { Host } from './host/host.ts';
import { ownPorts } from './http.ts';
import type { TrafficWatch } from './traffic/watch.ts';

interface Surroundings {
  readonly clock: Clock;
  readonly host: Host;
  readonly member: MemberConfig;
  readonly http?: HttpOptions | undefined;
}

export class TrafficWatcher {
  readonly #clock: Clock;
  readonly #init: string | undefined;
  readonly #ownPorts: readonly number[];
  readonly #onEvent: (event: Event) => void;
  #watch: TrafficWatch | undefined;
  #isWanted = false;

  constructor({ clock, host, member, http }: Surroundings, onEvent: (event: Event) => void) {
    this.#clock = clock;
    this.#init = host.init;
    this.#ownPorts = [...ownPorts(http), ...sidecarPorts(member)];
    this.#onEvent = onEvent;
  }

  watch(effect: Effect & { type: 'watchTraffic' }): void {
    void this.#begin(effect);
  }

  close(): void {
    this.#isWanted = false;
    this.#watch?.close();
    this.#watch = undefined;
  }

  /** Never rejects: what cannot be watched has its longest drain, and no command is ended for it. */
  async #begin(effect: Effect & { type: 'watchTraffic' }): Promise<void> {
    this.#isWanted = true;
    try {
      await this.#open(effect);
    } catch (error) {
      this.close();
      this.#onEvent({ type: 'trafficUnavailable', at: this.#clock.now(), why: String(error) });
    }
  }

  async #open({ drain, connections, ignored }: Effect & { type: 'watchTraffic' }): Promise<void> {
    const { TrafficWatch } = await import('./traffic/watch.ts');
    // It may be over by now.
    if (!this.#isWanted || this.#watch !== undefined) return;
    this.#watch = new TrafficWatch({
      drain,
      ownPorts: this.#ownPorts,
      connections,
      ignored,
      init: this.#init,
      now: () => this.#clock.now().mono,
      onSeen: (seen) => this.#onEvent({ type: 'trafficSeen', at: this.#clock.now(), ...seen }),
      onUnseen: (why) => this.#onEvent({ type: 'trafficUnavailable', at: this.#clock.now(), why }),
    });
    await this.#watch.start();
  }
}
