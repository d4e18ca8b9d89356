/**
 * `node test/stops/run.ts [--rounds 20] [--jobs 6] [--limit 60] [--only PATTERN]` stops pods that many times for each
 * fault of `faults.ts` and each way of `pod.ts`, and prints the figures. The faults keep supervisors from being
 * started. `--limit` is the time in seconds after which a container counts as one that does not end.
 *
 * The last line is `N passed, N failed`; a line before it names each fault that could not be had.
 */
import { parseArgs } from 'node:util';
import { buildFixtures } from '../helpers/fixture.ts';
import { inRounds } from '../helpers/rounds.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { FAULTS, type Fault } from './faults.ts';
import { type End, LIMIT_MS, nameOf, stopUnder, WAYS, type Way } from './pod.ts';
import { Table } from './table.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: process.env.TEST_ROUNDS ?? '20' },
    jobs: { type: 'string', default: '6' },
    limit: { type: 'string', default: `${LIMIT_MS / 1000}` },
    only: { type: 'string', default: '' },
  },
});
const only = new RegExp(values.only);
const fixtures = await buildFixtures();
const rounds = Array.from({ length: Number(values.rounds) }, () =>
  FAULTS.filter(({ why }) => why === undefined).flatMap((fault) => WAYS.map((way) => ({ fault, way }))),
)
  .flat()
  .filter(({ fault, way }) => only.test(`${fault.name}: ${nameOf(way)}`));
const table = new Table(rounds);
let [passed, failed] = [0, 0];

const left = [...rounds];
await inRounds(rounds.length, Number(values.jobs), async () => {
  const next = left.shift();
  if (next === undefined) return;
  const ends = await play(next.fault, next.way);
  if (ends?.every(({ violations }) => violations.length === 0)) passed += 1;
  else failed += 1;
  table.add(next.fault, next.way, ends ?? []);
});
process.stdout.write(`${table}`);
for (const { name, why } of FAULTS) if (why !== undefined) process.stdout.write(`not played: ${name}: ${why}\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** undefined: it could not be played to its end. */
async function play(fault: Fault, way: Way): Promise<End[] | undefined> {
  const steps: (() => unknown)[] = [];
  const scratch = await tempGraveyard({ after: (step: unknown) => void steps.push(step as () => unknown) });
  try {
    return await stopUnder({ scratch, fixtures }, fault, way, Number(values.limit) * 1_000);
  } catch (error) {
    process.stdout.write(`FAILED ${fault.name}: ${nameOf(way)}: ${error}\n${scratch.story()}\n`);
    return undefined;
  } finally {
    for (const step of steps) await step();
  }
}
