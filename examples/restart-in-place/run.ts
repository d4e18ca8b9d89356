/**
 * A web pod of a server and its cache, restarted in place under constant load, three times side by side: by
 * `sexton restart` with a second replica beside it and without one, and with all containers killed at once, as
 * Kubernetes' RestartAllContainers does it. `node run.ts [seconds]`: how long the drain lasts, 2 when nothing is said.
 *
 * Exits with 0 when requests failed where all was killed, and none did where sexton restarted one of two replicas.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Balancer, type Traffic } from '../server-demo/balancer.ts';
import {
  type Actor,
  freePort,
  NODE,
  onStage,
  printTable,
  reportOf,
  SEXTON,
  type Stage,
  until,
  withoutSettings,
} from '../stage.ts';

interface Replica {
  readonly port: number;
  readonly isReady: () => Promise<boolean>;
  /** Resolves when it is under way. */
  readonly restart: () => Promise<void>;
}

interface Outcome extends Traffic {
  /** From the request to restart until it was ready again. */
  readonly awayMs: number;
}

type Start = (stage: Stage, home: string) => Promise<Replica>;

/** How long the load lasts before and after, so that both are seen to be well. */
const CALM_MS = 600;
const LOOK_MS = 20;
const HERE = import.meta.dirname;
const drainSeconds = Number(process.argv[2] ?? 2);

await onStage('restart', async (stage) => {
  console.log('A web pod is restarted in place under load: its server, and a cache whose volume stays warm.\n');
  const [killed, one, only] = await Promise.all([
    rehearse(stage, 'killed', 2, startBare),
    rehearse(stage, 'sexton', 2, startWithSexton),
    rehearse(stage, 'alone', 1, startWithSexton),
  ]);
  printTable(
    ['', 'FAILED', 'OF', 'NOT READY FOR'],
    [
      ['all containers killed at once, one of two replicas', ...cells(killed)],
      ['sexton restart, one of two replicas', ...cells(one)],
      ['sexton restart, the only replica', ...cells(only)],
    ],
  );
  console.log(
    `\nThe replica with a second one beside it, by its report:\n${reportOf(stage.folder('sexton/0/graveyard'))}`,
  );
  return killed.failed > 0 && one.failed === 0;
});

async function rehearse(stage: Stage, name: string, count: number, start: Start): Promise<Outcome> {
  const replicas = await Promise.all(Array.from({ length: count }, (_, number) => start(stage, `${name}/${number}`)));
  for (const replica of replicas) await untilReady(replica, true);
  const balancer = new Balancer();
  balancer.open(replicas.map(({ port }) => port));
  await sleep(CALM_MS);
  const [first] = replicas;
  if (first === undefined) throw new Error('internal error: no replica');
  const askedAt = performance.now();
  await first.restart();
  await untilReady(first, false);
  const heard = balancer.remove(first.port);
  await untilReady(first, true);
  const awayMs = Math.round(performance.now() - askedAt);
  await heard;
  await balancer.add(first.port);
  await sleep(CALM_MS);
  return { ...(await balancer.close()), awayMs };
}

/** In the place of a readiness probe. */
async function untilReady({ isReady }: Replica, wanted: boolean): Promise<void> {
  while ((await isReady()) !== wanted) await sleep(LOOK_MS);
}

/** All of a pod's containers end by KILL, and start again. */
async function startBare(stage: Stage, home: string): Promise<Replica> {
  const { port, env } = await placeOf(stage, home);
  const launch = (): readonly Actor[] =>
    ['cache.mjs', 'server.mjs'].map((program) => stage.launch(NODE, [join(HERE, program)], env));
  let containers = launch();
  const restart = async (): Promise<void> => {
    for (const { process } of containers) process.kill('SIGKILL');
    await Promise.all(containers.map(({ ended }) => ended));
    containers = launch();
  };
  return { port, isReady: () => answers(port), restart };
}

async function startWithSexton(stage: Stage, home: string): Promise<Replica> {
  const { port, cachePort, env } = await placeOf(stage, home);
  const graveyard = stage.folder(join(home, 'graveyard'));
  const member = (name: string, flags: readonly string[], program: string): Actor => {
    const shared = ['--name', name, '--graveyard', graveyard, '--session', 'example', '--restart-policy', 'Always'];
    const grace = ['--grace-period', `${drainSeconds + 10}s`, '--log-level', 'error'];
    return stage.launch(SEXTON, ['run', ...shared, ...grace, ...flags, '--', NODE, join(HERE, program)], env);
  };
  const probed = (at: number, path: string): readonly string[] => [
    '--readiness',
    `http://127.0.0.1:${at}${path},period=200ms`,
  ];
  member('cache', ['--role', 'sidecar', '--mains', 'web', ...probed(cachePort, '/')], 'cache.mjs');
  const gate = ['--start-after', 'cache=healthy', '--drain', `${drainSeconds}s`];
  member('web', [...gate, ...probed(port, '/ready')], 'server.mjs');
  const isReady = async (): Promise<boolean> => isReadyByTombstone(join(graveyard, 'web'));
  await until('the server is ready', () => isReadyByTombstone(join(graveyard, 'web')));
  const restart = async (): Promise<void> => {
    const args = ['restart', '--no-wait', '--graveyard', graveyard];
    await promisify(execFile)(SEXTON, args, { env: withoutSettings(process.env) });
  };
  return { port, isReady, restart };
}

async function placeOf(stage: Stage, home: string) {
  const [port, cachePort] = [await freePort(), await freePort()];
  const env = { PORT: String(port), CACHE_PORT: String(cachePort), CACHE_DIR: stage.folder(join(home, 'cache')) };
  return { port, cachePort, env };
}

/** `/readyz` of --http says the same. */
function isReadyByTombstone(path: string): boolean {
  try {
    const { Healthy, StopRequested } = JSON.parse(readFileSync(path, 'utf8'));
    return Healthy !== undefined && StopRequested === undefined;
  } catch {
    return false;
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('error', () => resolve(false));
  });
}

function cells({ failed, total, awayMs }: Outcome): readonly string[] {
  return [String(failed), String(total), `${awayMs} ms`];
}
