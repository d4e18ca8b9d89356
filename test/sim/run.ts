/**
 * `node test/sim/run.ts [--runs N] [--seed S] [--seconds N] [--trace SEED]`: simulates pods from seeds S, S + 1 and so on (default: 20,000
 * from 1), until so many were run, so many seconds have passed, or a law is broken. Then the run is made smaller and told as a timeline.
 * `--trace` tells one run. The last line has the counts.
 */
import { parseArgs } from 'node:util';
import { Coverage } from './coverage.ts';
import { draw } from './draw.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import { timelineOf } from './timeline.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    trace: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

if (values.trace !== undefined) {
  console.log(timelineOf(draw(Number(values.trace))).join('\n'));
} else {
  const first = Number(values.seed);
  const runs = Number(values.runs);
  const endMs =
    values.seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + Number(values.seconds) * 1_000;
  const coverage = new Coverage();
  const startMs = performance.now();
  const breaches = new Map<string, number>();
  let done = 0;
  let members = 0;
  for (; done < runs && performance.now() < endMs; done += 1) {
    const scenario = draw(first + done);
    members += scenario.members.length;
    const breach = simulate(scenario, coverage);
    if (breach === undefined) continue;
    breaches.set(breach.law, (breaches.get(breach.law) ?? 0) + 1);
    if (values.keep) {
      console.log(`seed ${scenario.seed}: ${breach.law}: ${breach.who}: ${breach.what.split('\n', 1)[0]}`);
      continue;
    }
    const small = shrink(scenario, breach.law);
    console.log(`seed ${scenario.seed} breaks "${breach.law}": ${breach.who}: ${breach.what}`);
    console.log(timelineOf(small).join('\n'));
    done += 1;
    break;
  }
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const violations = [...breaches.values()].reduce((sum, count) => sum + count, 0);
  console.log(coverage.lines().join('\n'));
  for (const [law, count] of breaches) console.log(`${law}: ${count} breaches`);
  console.log(
    `${done} runs of pods with ${members} members in ${seconds.toFixed(1)} s (${Math.round(done / seconds)} runs/s, ${Math.round(done / cpuSeconds)} per second of CPU), ${violations} violations`,
  );
  process.exitCode = violations === 0 ? 0 : 1;
}
