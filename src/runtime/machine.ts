/** What a supervisor loads or reads only when it needs it, a port: of this machine, or of the simulator. */
import { readOomKills } from './oom.ts';
import type { startAction } from './probes/probe.ts';
import type { TrafficWatch, WatchOptions } from './traffic/watch.ts';

export interface Machine {
  readonly readOomKills: typeof readOomKills;
  loadActions(): Promise<{ readonly startAction: typeof startAction }>;
  loadTraffic(): Promise<{
    readonly TrafficWatch: new (options: WatchOptions) => Pick<TrafficWatch, 'start' | 'close'>;
  }>;
}

export const MACHINE: Machine = {
  readOomKills,
  loadActions: () => import('./probes/probe.ts'),
  loadTraffic: () => import('./traffic/watch.ts'),
};
