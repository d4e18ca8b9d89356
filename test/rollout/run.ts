/**
 * `npm run bench:rollout -- [--svg FILE] [--json FILE] [--with COMPANY,..]` stops nginx behind haproxy under constant
 * load, while the balancer takes 0.4, 2.7 and 7 s to notice. It does so without sexton, with a fixed drain, and with a
 * drain that knows when it is over. Then it stops a server in the middle of long streams, and replaces a worker
 * of Celery that works off a queue. `--with streams` and `--with queue` do only that. It needs root, nginx, haproxy,
 * redis-server, celery and python3-redis.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { formatTable } from '../../src/text/table.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { chartOf } from './chart.ts';
import { COMPANIES, type Company, experiment, type Outcome, type Plan } from './experiment.ts';
import { NODE_ADDRESS } from './network.ts';
import { CELERY_IDLE, type QueuePlan, rollWorkers, whatQueueLacks } from './queue.ts';
import { whatIsMissing } from './servers.ts';
import { METRICS, type StreamPlan, stopAmongStreams } from './streams.ts';

export interface Trial extends Plan, Outcome {
  readonly title: string;
}

const NOTICES_MS = [400, 2_700, 7_000];
const QUIET_MS = 2_000;
const ADAPTIVE = 'min=1s,quiet=2s,max=30s';

type Named = Plan & { readonly title: string };

function plansOf(companies: readonly Company[]): readonly (readonly Named[])[] {
  const kinds: Omit<Named, 'noticesAfterMs'>[] = [
    { title: 'without sexton', drain: undefined, company: 'alone' },
    { title: '--drain 5s', drain: '5s', company: 'alone' },
    ...companies.map((company) => ({
      title: `--drain ${ADAPTIVE}${company === 'alone' ? '' : `, ${WITH[company]}`}`,
      drain: company === 'probe' || company === 'scrape' ? `${ADAPTIVE},ignore=${NODE_ADDRESS}/32` : ADAPTIVE,
      company,
    })),
  ];
  return kinds.map((kind) => NOTICES_MS.map((noticesAfterMs) => ({ ...kind, noticesAfterMs })));
}

function companiesIn(text: string | undefined): readonly Company[] {
  const words = text?.split(',') ?? COMPANIES;
  const unknown = words.find((word) => !COMPANIES.some((it) => it === word));
  if (unknown !== undefined) throw new Error(`there is no company ${unknown}; write ${COMPANIES.join(', ')}`);
  return COMPANIES.filter((it) => words.includes(it));
}

const WITH: Readonly<Record<Exclude<Company, 'alone'>, string>> = {
  'keep-alive': 'with connections that are kept',
  probe: 'with a probe every second',
  scrape: 'with a scrape every 5 s',
  neighbour: 'with a neighbour on loopback',
};

async function run(plan: Named): Promise<Trial> {
  const name = `${plan.company}-${plan.noticesAfterMs}-${plan.drain === undefined ? 'none' : plan.drain.length}`;
  return { ...plan, ...(await experiment(scratch, name, plan)) };
}

/** What stands for one to three minutes takes 4 to 12 s, so fixed times are a fifteenth as well. */
const LONGEST_MS = 12_000;
const WATCHED = ['--drain', 'min=1s,quiet=2s,max=30m'];
const STREAM_PLANS: readonly (Omit<StreamPlan, 'longestMs'> & { readonly title: string })[] = [
  { title: 'no sexton', flags: undefined },
  { title: '--drain 5s', flags: ['--drain', '333ms'] },
  { title: 'no sexton, a hook with sleep 60', flags: undefined, hookMs: 4_000 },
  { title: `${WATCHED.join(' ')}`, flags: WATCHED },
  { title: '.. --idle-when http://..,metric=', flags: [...WATCHED, '--idle-when', METRICS] },
  { title: '.. and no metrics for 4 s', flags: [...WATCHED, '--idle-when', METRICS], outageMs: 4_000 },
];

async function stopStreams(): Promise<void> {
  const rows = await Promise.all(
    STREAM_PLANS.map(async ({ title, ...plan }, index) => {
      const outcome = await stopAmongStreams(scratch, `streams-${index}`, { ...plan, longestMs: LONGEST_MS });
      const { cut, asked, tookMs, afterLastMs } = outcome;
      const isAsked = plan.flags?.includes('--idle-when') === true;
      const aim = isAsked ? (cut === 0 && afterLastMs <= 3_000 ? 'met' : 'missed') : '';
      return [title, String(cut), String(asked), seconds(tookMs), cut === 0 ? seconds(afterLastMs) : '', aim];
    }),
  );
  const header = ['three-minute streams, 1:15', 'cut or refused', 'of', 'stopped after', 'after the last', 'aim'];
  console.log(`${formatTable(header, rows, Number.POSITIVE_INFINITY)}\n`);
}

/** Jobs of seconds stand for jobs of minutes, and 2 s for the usual 30 s of grace. */
const JOBS = Array.from({ length: 1_000 }, (_, number) => (number % 20 === 0 ? 4 : 0.2));
const QUEUE_PLANS: readonly (Pick<QueuePlan, 'flags' | 'graceMs'> & { readonly title: string })[] = [
  { title: 'no sexton, KILL after 2 s', flags: undefined, graceMs: 2_000 },
  { title: 'no sexton, KILL after 60 s', flags: undefined, graceMs: 60_000 },
  { title: '--signal-to group', flags: () => ['--grace-period', '1h', '--signal-to', 'group'], graceMs: 60_000 },
  { title: 'sexton, no flag for it', flags: () => ['--grace-period', '1h'], graceMs: 60_000 },
  { title: '--drain quiet=off --idle-when exec:..', flags: CELERY_IDLE, graceMs: 60_000 },
];

async function rollQueues(): Promise<void> {
  const rows = await Promise.all(
    QUEUE_PLANS.map(async ({ title, ...plan }, index) => {
      const outcome = await rollWorkers(scratch, `queue-${index}`, { ...plan, jobs: JOBS, rolls: 10 });
      const { lost, doubled, longestMs } = outcome;
      const aim = plan.flags === CELERY_IDLE ? (lost + doubled === 0 ? 'met' : 'missed') : '';
      return [title, String(lost), String(doubled), seconds(longestMs), aim];
    }),
  );
  const header = ['a worker of Celery, rolled 10 times', 'lost of 1000', 'doubled', 'longest stop', 'aim'];
  console.log(`${formatTable(header, rows, Number.POSITIVE_INFINITY)}\n`);
}

function print(some: readonly Trial[]): void {
  const header = ['drain', 'noticed after', 'failed', 'of', 'stopped after', 'aim'];
  const rows = some.map(({ title, drain, noticesAfterMs, failed, asked, tookMs }) => [
    title,
    seconds(noticesAfterMs),
    String(failed),
    String(asked),
    seconds(tookMs),
    drain?.includes('quiet') ? verdict(failed, tookMs, noticesAfterMs) : '',
  ]);
  console.log(`${formatTable(header, rows, Number.POSITIVE_INFINITY)}\n`);
}

/** No request fails, and the drain takes no longer than the balancer, the quiet after it and half a second. */
function verdict(failed: number, tookMs: number, noticesAfterMs: number): string {
  return failed === 0 && tookMs <= noticesAfterMs + QUIET_MS + 500 ? 'met' : 'missed';
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

const { values } = parseArgs({
  options: { svg: { type: 'string' }, json: { type: 'string' }, with: { type: 'string' } },
});
const missing = whatIsMissing() || whatQueueLacks();
if (missing !== false) {
  process.stderr.write(`bench:rollout: it needs network namespaces, nginx, haproxy and celery: ${missing}\n`);
  process.exit(2);
}
const steps: (() => void)[] = [];
const scratch = await tempGraveyard({ after: (step) => steps.push(step as () => void) });
const trials: Trial[] = [];
try {
  const isAlone = values.with === 'streams' || values.with === 'queue';
  for (const plans of isAlone ? [] : plansOf(companiesIn(values.with))) {
    // The three times of one kind at the same time: they mostly wait.
    trials.push(...(await Promise.all(plans.map(run))));
    print(trials.slice(-plans.length));
  }
  if (values.with !== 'queue') await stopStreams();
  if (values.with !== 'streams') await rollQueues();
} catch (error) {
  // What is left behind is an error of its own, and would hide this one.
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const step of steps) await step();
}
if (trials.length > 0) print(trials);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(trials, undefined, 2)}\n`);
if (values.svg !== undefined) writeFileSync(values.svg, chartOf(trials, QUIET_MS));
