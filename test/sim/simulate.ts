import { Coverage } from './coverage.ts';
import type { Breach } from './dues.ts';
import type { Scenario } from './scenario.ts';
import { type Told, World } from './world.ts';

/** What was broken first; undefined: nothing. An error of the core itself is a breach as well. */
export function simulate(scenario: Scenario, coverage: Coverage = new Coverage(), tell?: Told): Breach | undefined {
  const world = new World(scenario, coverage.count, tell);
  world.judges('no crash');
  try {
    world.run();
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { law: 'no crash', atMs: world.agenda.nowMs, who: 'pod', what };
  }
  coverage.add([['reductions', world.reductions]]);
  return world.laws.breach;
}
