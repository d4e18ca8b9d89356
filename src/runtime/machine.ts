/** What a supervisor loads or reads only when it needs it, a port: of this machine, or of the simulator. */
import { readOomKills } from './oom.ts';
import { loadActions } from './probes/network-tasks.ts';
import { loadTraffic } from './traffic/traffic.ts';

export const MACHINE = { readOomKills, loadActions, loadTraffic } as const;

export type Machine = typeof MACHINE;
