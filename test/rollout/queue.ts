/**
 * A worker of Celery is replaced again and again while it works off a queue in Redis. As in a Deployment, the next
 * worker is ready before the last one is asked to stop. Which jobs never end, and which begin twice?
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Container, startContainer } from '../helpers/container.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';

export interface QueuePlan {
  /** Flags of sexton; undefined: the worker without it. */
  readonly flags: ((worker: string) => readonly string[]) | undefined;
  /** KILL follows after that. */
  readonly graceMs: number;
  /** How many seconds each job takes. */
  readonly jobs: readonly number[];
  readonly rolls: number;
}

export interface QueueOutcome {
  readonly lost: number;
  readonly doubled: number;
  /** How many workers drained, after a stop request, until they were idle. */
  readonly drained: number;
  /** The longest time from a stop request to the end of its container. */
  readonly longestMs: number;
}

export const HERE = join(import.meta.dirname, 'celery');
const REDIS = '/usr/bin/redis-server';
const CELERY = '/usr/bin/celery';
const PYTHON = '/usr/bin/python3';

/** The worker takes no new job any more, and has none. */
export const CELERY_IDLE = (worker: string): readonly string[] => [
  ...['--grace-period', '1h', '--drain', 'min=0,quiet=off,max=30m'],
  ...['--idle-when', `exec:${PYTHON} ${join(HERE, 'idle.py')} ${worker},timeout=10s`],
];

/** Why there can be no worker here; false: there can. */
export function whatQueueLacks(): string | false {
  const missing = [REDIS, CELERY].find((it) => !existsSync(it));
  return missing === undefined
    ? false
    : `${missing} is not installed (apt-get install redis-server celery python3-redis)`;
}

export async function rollWorkers(scratch: Scratch, name: string, plan: QueuePlan): Promise<QueueOutcome> {
  const socket = scratch.path(`${name}.sock`);
  const python = { PYTHONPATH: HERE, PYTHONDONTWRITEBYTECODE: '1' };
  // A worker that gets KILL leaves files behind.
  const env = { PATH: '/usr/bin:/bin', TMPDIR: scratch.dir, REDIS_SOCKET: socket, ...python };
  const settings = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', scratch.dir];
  const redis = startContainer(scratch, { name: `${name}-redis`, bare: true, command: [REDIS, ...settings] });
  await waitFor('redis is ready', () => redis.stdout().includes('ready to accept connections'));
  const ask = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await run('redis-cli', ['-s', socket, ...words], { env })).stdout.trim().split('\n');
  const start = (number: number): Promise<Worker> => startWorker(scratch, `${name}-${number}@rollout`, plan, env);
  await run(PYTHON, [join(HERE, 'jobs.py'), ...plan.jobs.map(String)], { env });
  let worker = await start(0);
  let drained = 0;
  let longestMs = 0;
  for (let roll = 1; roll <= plan.rolls; roll += 1) {
    const enough = (plan.jobs.length * roll) / (plan.rolls + 1);
    await waitFor('some jobs have begun', async () => Number((await ask('-n', '1', 'HLEN', 'begun'))[0]) >= enough);
    const next = await start(roll);
    longestMs = Math.max(longestMs, await stop(worker.container, plan));
    if (worker.container.stderr().includes('the drain is over: the application is idle')) drained += 1;
    worker = next;
  }
  await waitFor('no job waits', async () => (await ask('LLEN', 'celery'))[0] === '0');
  const isIdle = (): Promise<boolean> =>
    run(PYTHON, [join(HERE, 'idle.py'), worker.name], { env }).then(
      () => true,
      () => false,
    );
  await waitFor('no job is under way', isIdle);
  const [begun, ended] = [await ask('-n', '1', 'HGETALL', 'begun'), await ask('-n', '1', 'HGETALL', 'ended')];
  await Promise.all([worker.container.kill(), redis.kill()]);
  const doubled = begun.filter((times, index) => index % 2 === 1 && times !== '1').length;
  return { lost: plan.jobs.length - ended.length / 2, doubled, drained, longestMs };
}

const run = promisify(execFile);

interface Worker {
  readonly name: string;
  readonly container: Container;
}

async function startWorker(
  scratch: Scratch,
  name: string,
  { flags }: QueuePlan,
  env: Readonly<Record<string, string>>,
): Promise<Worker> {
  const options = [
    '--concurrency',
    '4',
    '-O',
    'fair',
    '--without-gossip',
    '--without-mingle',
    '-l',
    'info',
    '-n',
    name,
  ];
  const container = startContainer(scratch, {
    name,
    ...(flags === undefined ? { bare: true } : { flags: flags(name) }),
    command: [CELERY, '-A', 'jobs', 'worker', ...options],
    env,
  });
  await waitFor(`${name} is ready`, () => {
    if (container.process.exitCode !== null) throw new Error(`${name} has ended: ${container.stderr()}`);
    return container.stderr().includes(`${name} ready.`);
  });
  return { name, container };
}

/** As a kubelet does it. Celery does not always end. */
async function stop(container: Container, { graceMs }: QueuePlan): Promise<number> {
  const since = performance.now();
  await container.signal('SIGTERM');
  const kill = setTimeout(() => container.kill(), graceMs);
  await container.ended;
  clearTimeout(kill);
  return performance.now() - since;
}
