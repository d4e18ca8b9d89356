/**
 * `node test/sim/run.ts [--runs N] [--seed S] [--workers N] [--keep | --brief] [--trace SEED]` simulates pods from seeds
 * S, S + 1 and so on (default: 20,000 from 1). It ends after the runs, or when a law is broken. It shrinks that run and
 * prints its timeline; `--brief` leaves that out, `--keep` goes on and only lists. `--trace` prints the timeline of one
 * run. The last line has the counts.
 */
import { parseArgs } from 'node:util';
import { Coverage } from './coverage.ts';
import { draw } from './draw.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import { timelineOf } from './timeline.ts';
import { summaryOf, type Totals, workTogether } from './workers.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    trace: { type: 'string' },
    keep: { type: 'boolean', default: false },
    brief: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const flags = [values.keep ? '--keep' : [], values.brief ? '--brief' : []].flat();
const PROGRESS_MS = 60_000;
const order = { first: Number(values.seed), runs: Number(values.runs) };

if (values.trace !== undefined) {
  console.log((await timelineOf(draw(Number(values.trace)))).join('\n'));
} else {
  const totals =
    values.workers === '1' ? await simulateAll() : await workTogether(Number(values.workers), order, flags);
  console.log(values.json ? JSON.stringify(totals) : summaryOf(totals));
  process.exitCode = totals.violations === 0 ? 0 : 1;
}

async function simulateAll(): Promise<Totals> {
  const startMs = performance.now();
  const coverage = new Coverage();
  let done = 0;
  let members = 0;
  let violations = 0;
  let toldMs = startMs;
  while (done < order.runs) {
    const scenario = draw(order.first + done);
    members += scenario.members.length;
    done += 1;
    const breach = await simulate(scenario, coverage);
    if (performance.now() - toldMs > PROGRESS_MS) {
      toldMs = performance.now();
      console.error(`${done} runs, ${violations} violations`);
    }
    if (breach === undefined) continue;
    violations += 1;
    console.error(`seed ${scenario.seed} breaks "${breach.law}": ${breach.who}: ${breach.what}`);
    if (values.keep) continue;
    if (values.brief) break;
    const small = await shrink(scenario, async (candidate) => (await simulate(candidate))?.law === breach.law);
    console.error((await timelineOf(small)).join('\n'));
    break;
  }
  const { user, system } = process.cpuUsage();
  const seconds = (performance.now() - startMs) / 1_000;
  return { done, members, violations, seconds, cpuSeconds: (user + system) / 1e6, counts: [...coverage.counts] };
}
