import { Coverage } from './coverage.ts';
import type { Breach } from './dues.ts';
import { inMacrotask } from './microtasks.ts';
import type { Scenario } from './scenario.ts';
import { type Told, World } from './world.ts';

/** What was broken first; undefined: nothing. An error of the core or of the runtime is a breach as well. */
export async function simulate(
  scenario: Scenario,
  coverage: Coverage = new Coverage(),
  tell?: Told,
): Promise<Breach | undefined> {
  const world = new World(scenario, coverage.count, tell);
  world.judges('no crash');
  let crash: Breach | undefined;
  const onError = (error: unknown): void => {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    crash ??= { law: 'no crash', atMs: world.agenda.nowMs, who: 'pod', what };
  };
  await inMacrotask(() => {
    try {
      world.run();
    } catch (error) {
      onError(error);
    }
  }, onError);
  if (crash !== undefined) return crash;
  coverage.add([['reductions', world.reductions]]);
  return world.laws.breach;
}
