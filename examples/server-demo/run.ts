/**
 * A rolling restart of two replicas under constant load, three times side by side: as it is, with a readiness probe,
 * and with sexton, which probes and drains. `node run.ts [seconds]`: how long the drain lasts, 2 when nothing is said.
 *
 * Exits with 0 when requests failed without sexton, and none did with it.
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, freePort, NODE, onStage, printTable, reportOf, SEXTON, type Stage, until } from '../stage.ts';
import { Balancer, type Traffic } from './balancer.ts';

interface Replica extends Actor {
  readonly port: number;
  /** Resolves when the platform may send it requests. */
  readonly ready: Promise<void>;
}

type Start = (home: string, warmUpMs: number) => Promise<Replica>;

const REPLICAS = 2;
const WARM_UP_MS = 2_000;
/** How long the load lasts before and after the restart, so that both are seen to be well. */
const CALM_MS = 600;
const SERVER = join(import.meta.dirname, 'server.mjs');
const drainSeconds = Number(process.argv[2] ?? 2);

await onStage('server', async (stage) => {
  console.log(
    `A rolling restart of ${REPLICAS} replicas, which need ${WARM_UP_MS / 1_000} s to be ready, under load.\n`,
  );
  const [bare, probed, drained] = await Promise.all([
    restart(stage, 'bare', (_home, warmUpMs) => startBare(stage, warmUpMs, () => Promise.resolve())),
    restart(stage, 'probed', (_home, warmUpMs) => startBare(stage, warmUpMs, untilItListens)),
    restart(stage, 'drained', (home, warmUpMs) => startWithSexton(stage, home, warmUpMs)),
  ]);
  printTable(
    ['', 'FAILED', 'OF', 'LONGEST TIME WITHOUT AN ANSWER'],
    [
      ['as it is', ...cells(bare)],
      ['with a readiness probe', ...cells(probed)],
      ['with sexton: probe and drain', ...cells(drained)],
    ],
  );
  console.log(`\nThe first replica under sexton, by its report:\n${reportOf(stage.folder(join('drained', '0')))}`);
  return bare.failed > 0 && probed.failed > 0 && drained.failed === 0;
});

/**
 * As a Deployment with maxSurge 1 and maxUnavailable 0 does it: when a new replica is ready an old one gets its TERM.
 */
async function restart(stage: Stage, name: string, start: Start): Promise<Traffic> {
  const balancer = new Balancer();
  const home = (number: number) => stage.folder(join(name, String(number)));
  const old = await Promise.all(Array.from({ length: REPLICAS }, (_, number) => start(home(number), 0)));
  // Before the load all is well, whatever is assumed afterwards.
  await Promise.all(old.map(({ port }) => untilItListens(port)));
  balancer.open(old.map(({ port }) => port));
  await sleep(CALM_MS);
  const heard: Promise<unknown>[] = [];
  const fresh: Replica[] = [];
  for (const [index, { port, process, ended }] of old.entries()) {
    const replica = await start(home(REPLICAS + index), WARM_UP_MS);
    fresh.push(replica);
    await replica.ready;
    heard.push(balancer.add(replica.port), balancer.remove(port), ended);
    process.kill('SIGTERM');
  }
  await Promise.all([...heard, ...fresh.map(({ port }) => untilItListens(port))]);
  await sleep(CALM_MS);
  // The new replicas go when the stage is cleared: a drain would only take time now.
  return await balancer.close();
}

/** A container without a readiness probe is ready as soon as it runs. */
async function startBare(stage: Stage, warmUpMs: number, ready: (port: number) => Promise<void>): Promise<Replica> {
  const port = await freePort();
  const actor = stage.launch(NODE, [SERVER], { PORT: String(port), WARM_UP_MS: String(warmUpMs) });
  return { ...actor, port, ready: ready(port) };
}

/** Each replica is a pod of its own and has its own graveyard, in which its sexton says when it is ready. */
async function startWithSexton(stage: Stage, graveyard: string, warmUpMs: number): Promise<Replica> {
  const port = await freePort();
  const flags = ['--name', 'web', '--graveyard', graveyard, '--session', 'example', '--restart-policy', 'Always'];
  const stopping = ['--drain', `${drainSeconds}s`, '--grace-period', `${drainSeconds + 10}s`];
  const probe = ['--readiness', `http://127.0.0.1:${port}/ready,period=200ms`];
  const argv = ['run', ...flags, ...stopping, ...probe, '--log-level', 'error', '--', NODE, SERVER];
  const actor = stage.launch(SEXTON, argv, { PORT: String(port), WARM_UP_MS: String(warmUpMs) });
  const tombstone = join(graveyard, 'web');
  return { ...actor, port, ready: until('the tombstone says Healthy', () => isHealthy(tombstone)) };
}

/** `sexton status -o json` shows the same. */
function isHealthy(tombstone: string): boolean {
  try {
    return JSON.parse(readFileSync(tombstone, 'utf8')).Healthy !== undefined;
  } catch {
    return false;
  }
}

async function untilItListens(port: number): Promise<void> {
  while (!(await isReady(port))) await sleep(50);
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('error', () => resolve(false));
  });
}

function cells({ failed, total, gapMs }: Traffic): readonly string[] {
  return [String(failed), String(total), `${gapMs} ms`];
}
