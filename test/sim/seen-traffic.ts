/** What a supervisor sees of connections during a drain: they come now and then, or cannot be seen. */
import type { Machine } from '../../src/runtime/machine.ts';
import type { WatchOptions } from '../../src/runtime/traffic/watch.ts';
import type { Actor, Entry } from './agenda.ts';
import type { World } from './world.ts';

type Traffic = Awaited<ReturnType<Machine['loadTraffic']>>['TrafficWatch'];

const COUNT_MS = 250;

export function trafficOf({ agenda, dice }: World, by: Actor): Traffic {
  return class {
    readonly #options: WatchOptions;
    #counting: Entry | undefined;

    constructor(options: WatchOptions) {
      this.#options = options;
    }

    async start(): Promise<void> {
      if (dice.chance(0.1)) this.#counting = agenda.in(1, by, () => this.#options.onUnseen('no /proc'));
      else this.#count(agenda.monoMs, this.#options.connections);
    }

    close(): void {
      agenda.cancel(this.#counting);
    }

    #count(sinceMs: number, connections: number): void {
      const lastMs = dice.chance(0.5) ? agenda.monoMs : sinceMs;
      this.#counting = agenda.in(COUNT_MS, by, () => {
        this.#count(lastMs, connections + 1);
        this.#options.onSeen({ lastMs, connections, ignored: 0, open: dice.int(2), byAddress: 0 });
      });
    }
  };
}
