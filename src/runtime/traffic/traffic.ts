/** Carries out the effects of a drain. The watch is loaded when a drain begins: most members never have one. */
import type { HttpOptions } from '../../config/run-config.ts';
import type { MemberConfig } from '../../core/config.ts';
import { sidecarPorts } from '../../core/lifecycle/stop/drain.ts';
import type { Effect, Event } from '../../core/state/events.ts';
import type { Clock } from '../clock.ts';
import type { Host } from '../host/host.ts';
import { ownPorts } from '../http/http.ts';
import type { TrafficWatch, WatchOptions } from './watch.ts';

export const loadTraffic = (): Promise<{
  readonly TrafficWatch: new (options: WatchOptions) => Pick<TrafficWatch, 'start' | 'close'>;
}> => import('./watch.ts');

interface Surroundings {
  readonly clock: Clock;
  readonly host: Host;
  readonly member: MemberConfig;
  readonly http?: HttpOptions | undefined;
  readonly machine: { readonly loadTraffic: typeof loadTraffic };
}

export class TrafficWatcher {
  readonly #surroundings: Surroundings;
  readonly #onEvent: (event: Event) => void;
  #watch: Pick<TrafficWatch, 'start' | 'close'> | undefined;
  #isWanted = false;

  constructor(surroundings: Surroundings, onEvent: (event: Event) => void) {
    this.#surroundings = surroundings;
    this.#onEvent = onEvent;
  }

  /** Never rejects: a drain that cannot be watched takes its longest time. */
  async watch({ drain, connections, ignored }: Effect & { type: 'watchTraffic' }): Promise<void> {
    const { clock, host, member, http, machine } = this.#surroundings;
    const onUnseen = (why: string): void => this.#onEvent({ type: 'trafficUnavailable', at: clock.now(), why });
    this.#isWanted = true;
    try {
      const { TrafficWatch } = await machine.loadTraffic();
      // The drain may be over by now.
      if (!this.#isWanted || this.#watch !== undefined) return;
      this.#watch = new TrafficWatch({
        drain,
        ownPorts: [...ownPorts(http), ...sidecarPorts(member)],
        connections,
        ignored,
        init: host.init,
        now: () => clock.now().mono,
        onSeen: (seen) => this.#onEvent({ type: 'trafficSeen', at: clock.now(), ...seen }),
        onUnseen,
      });
      await this.#watch.start();
    } catch (error) {
      this.close();
      onUnseen(String(error));
    }
  }

  close(): void {
    this.#isWanted = false;
    this.#watch?.close();
    this.#watch = undefined;
  }
}
