/**
 * `node test/hostile/run.ts [--seconds N] [--seed S]`: the long form, 600 s by default. A third of the time goes to
 * damaged tombstones, and a third to init's frame decoder (with clang). The rest goes to pairs of real members in
 * graveyards of 100,000 files. Exits 1 when a test failed; the titles name the seeds.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { parseArgs } from 'node:util';
import { ROOT } from '../helpers/paths.ts';
import { chance } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { playLittered } from './directory.ts';
import { checkParsed, mutated } from './tombstones.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string', default: String(Date.now() % 1e6) } },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write('usage: node test/hostile/run.ts [--seconds N] [--seed S]\n');
  process.exit(2);
}
const thirdMs = (seconds * 1000) / 3;
/** A pair in 100,000 files needs about that long. */
const ROUND_MS = 60_000;

it(`damaged tombstones, from seed ${seed} on, are valid tombstones or none`, (t) => {
  const until = performance.now() + thirdMs;
  let [next, taken] = [seed, 0];
  while (performance.now() < until) {
    const text = mutated(chance(next)).toString();
    try {
      if (checkParsed(text)) taken++;
    } catch (cause) {
      throw new Error(`seed ${next}: ${JSON.stringify(text.slice(0, 2000))}`, { cause });
    }
    next++;
  }
  t.diagnostic(`${next - seed} tombstones, ${taken} of them valid`);
});

const noClang = spawnSync('clang', ['--version']).status === 0 ? false : 'clang is not installed';
it('frames of any bytes neither crash the decoder of init nor make it read beyond their end', {
  skip: noClang,
}, (t) => {
  const args = ['test/init/fuzz.ts', String(Math.max(1, Math.round(thirdMs / 1000)))];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: join(ROOT), encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  t.diagnostic(stdout.trim());
});

for (let round = 0; round < Math.max(1, thirdMs / ROUND_MS); round++) {
  const isNamed = round % 4 !== 3;
  const foreign = isNamed ? 100_000 : 1_000;
  scenario(`a pair lives and ends among ${foreign} files, round ${round}, seed ${seed + round}`, async (stage) => {
    const littered = { isNamed, foreign, late: isNamed ? 10_000 : 0, seed: seed + round, idleMs: 30_000 };
    stage.t.diagnostic(await playLittered(stage, littered));
  });
}
