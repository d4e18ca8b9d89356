/**
 * `node test/faults/run.ts`: all parts one after the other, which takes about an hour: simulated pods, pods of real processes under
 * faults, and what else `PARTS` lists.
 *
 * `node test/faults/run.ts [--rounds 2000] [--seed S] [--jobs N]` runs only the real rounds, from seed S on. To repeat
 * a failure, use `--seed S --rounds 1`. The plan is the same, but a strike may arrive at another instruction, so it may
 * take some tries.
 *
 * `--containers` takes the named cases in containers of an engine as well.
 *
 * The last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NODE, ROOT } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import type { RoundResult } from './round.ts';
import { IS_ROOT, playRounds } from './rounds.ts';
import { Tally } from './tally.ts';

/** A program of its own, whose exit code is its verdict. */
interface Part {
  readonly name: string;
  /** Arguments of Node. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** In their order; the real rounds come after them. */
const PARTS: readonly Part[] = [
  { name: 'simulated pods', argv: ['test/sim/run.ts', '--runs', '1000000'] },
  { name: 'hostile graveyards', argv: ['test/hostile/run.ts', '--seconds', '600'] },
  // It must end as it does without.
  {
    name: 'all tests of pods, K01-K19 and J01-J18 among them, with supervisors that are killed',
    argv: ['test/run.ts', 'test/pods/'],
    env: { TEST_SUPERVISOR_KILLS: '1' },
  },
  {
    name: 'P12: 500 supervisors are killed',
    argv: ['test/run.ts', '--grep', 'P12 leaves', 'test/pid1/undisturbed'],
    env: { TEST_ROUNDS: '500' },
  },
  { name: 'stops while no supervisor can be started, 20 of each', argv: ['test/stops/run.ts', '--rounds', '20'] },
  { name: 'a soak of 20 minutes', argv: ['test/scale/soak.ts', '--minutes', '20'] },
];

/** With `--containers`: the same in containers of an engine. */
const IN_CONTAINERS: readonly Part[] = [
  {
    name: 'K01-K19 and J01-J18 in containers with supervisors that are killed',
    argv: ['test/run.ts', '--containers', '--grep', String.raw`[JK]\d\d`, 'test/pods/', 'test/pid1/'],
    env: { TEST_SUPERVISOR_KILLS: '1' },
  },
];

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seed: { type: 'string' },
    jobs: { type: 'string' },
    containers: { type: 'boolean', default: false },
  },
});
const only = values.rounds !== undefined || values.seed !== undefined;
const first = Number(values.seed ?? Date.now() % 1_000_000_000);
const count = Number(values.rounds ?? (values.seed === undefined ? 2_000 : 1));
const jobs = Number(values.jobs ?? 8);
for (const [name, value] of Object.entries({ seed: first, rounds: count, jobs }))
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} takes a whole number`);

let [passed, failed] = [0, 0];
process.chdir(ROOT);
if (!only) for (const part of PARTS) await runPart(part);
if (values.containers) for (const part of IN_CONTAINERS) await runPart(part);
await runRounds();
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** A part counts as one: its own figures stand above. One that is to kill supervisors has to hit some. */
async function runPart({ name, argv, env }: Part): Promise<void> {
  process.stdout.write(`== ${name}\n`);
  const tally = join(temporaryDirectory(), 'kills');
  const all = { ...process.env, ...env, TEST_SUPERVISOR_KILLS_TALLY: tally };
  const child = spawn(NODE, argv, { stdio: ['ignore', 'inherit', 'inherit'], env: all });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const isToKill = env?.TEST_SUPERVISOR_KILLS !== undefined;
  const kills = statSync(tally, { throwIfNoEntry: false })?.size ?? 0;
  if (isToKill) process.stdout.write(`${kills} supervisors were killed\n`);
  if (code === 0 && (kills > 0 || !isToKill)) passed += 1;
  else failed += 1;
}

async function runRounds(): Promise<void> {
  process.stdout.write(`== real processes: ${count} rounds from seed ${first} on, ${jobs} at a time\n`);
  if (!IS_ROOT) process.stdout.write('without root there are no faults that need mounts, cgroups or other uids\n');
  const tally = new Tally();
  const started = performance.now();
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  await playRounds(seeds, { jobs, isStrict: true }, (result) => {
    tally.add(result);
    if (result.violations.length > 0) tell(result);
    const done = tally.passed + tally.failed;
    if (done % 100 === 0) process.stdout.write(`${done} rounds, ${tally.failed} failed\n`);
  });
  passed += tally.passed;
  failed += tally.failed;
  process.stdout.write(`${tally}${((performance.now() - started) / 1_000).toFixed(0)} s\n`);
}

function tell({ seed, violations, artefacts }: RoundResult): void {
  const where = artefacts === undefined ? '' : `    see ${artefacts}\n`;
  const again = `    again: node test/faults/run.ts --seed ${seed} --rounds 1\n`;
  process.stdout.write(`FAILED seed ${seed}\n${violations.map((it) => `    ${it}\n`).join('')}${where}${again}`);
}
