/**
 * A stop request arrives, whatever keeps a supervisor from being started. The command gets its stop signal before any
 * KILL, each container ends, and a sidecar ends after its main. `node test/stops/run.ts` does it many times.
 */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe } from 'node:test';
import { roundsOr } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { FAULTS } from './faults.ts';
import { LIMIT_MS, nameOf, stopUnder, WAYS } from './pod.ts';

const ROUNDS = roundsOr(1, 0);

describe('a stop arrives', { concurrency: 2 }, () => {
  for (const fault of FAULTS.filter(({ isTypical }) => isTypical))
    describe(fault.name, {
      // Each way has two supervisors to start, which all wait for the one processor of an emulated machine.
      concurrency: availableParallelism() > 1 ? WAYS.length : 1,
      skip: fault.why ?? false,
    }, () => {
      for (const way of WAYS)
        for (let round = 1; round <= ROUNDS; round++)
          scenario(`${fault.name}: a pod ${nameOf(way)}${round > 1 ? ` (${round})` : ''}`, async (stage) => {
            const ends = await stopUnder(stage, fault, way, LIMIT_MS);
            assert.deepEqual(
              ends.flatMap(({ violations }) => violations),
              [],
            );
          });
    });
});
