/**
 * The same pod twice, as processes on this machine: with sexton, and as native sidecars would have it. It is deleted;
 * while the main drains its proxy dies. `node run.ts [seconds]`: how long the drain lasts, 20 when nothing is said.
 *
 * Exits with 0 when the last request went well with sexton and failed without.
 */
import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, freePort, NODE, onStage, reportOf, SEXTON, type Stage, until } from '../stage.ts';

interface Request {
  readonly at: number;
  readonly what: string;
  readonly ok: boolean;
}

interface Outcome {
  readonly asked: number;
  readonly failed: number;
  readonly lastOk: boolean;
  /** From the first request that failed to the next one that did not; undefined: it stayed away. */
  readonly awayMs: number | undefined;
}

interface Pod {
  readonly work: Actor;
  readonly proxy: Actor;
}

type Start = (stage: Stage, env: Readonly<Record<string, string>>) => Pod;

const HERE = import.meta.dirname;
const drainSeconds = Number(process.argv[2] ?? 20);
const graceSeconds = drainSeconds + 10;

await onStage('drain', async (stage) => {
  console.log(`The pod is deleted, its main drains for ${drainSeconds} s, and in the middle of that its proxy dies.\n`);
  const [withSexton, without] = await Promise.all([
    rehearse(stage, 'sexton', startWithSexton),
    rehearse(stage, 'native', startAsNative),
  ]);
  print('with sexton', withSexton);
  print('as a native sidecar', without);
  console.log(`\n${reportOf(stage.folder('graveyard'))}`);
  return withSexton.lastOk && !without.lastOk;
});

async function rehearse(stage: Stage, name: 'sexton' | 'native', start: Start): Promise<Outcome> {
  const port = await freePort();
  const log = join(stage.folder(name), 'log');
  const { work, proxy } = start(stage, { PROXY_PORT: String(port), WORK_LOG: log });
  await until('the main reaches its proxy', () => requestsOf(log).some(({ ok }) => ok));
  work.process.kill('SIGTERM');
  // The kubelet sends a native sidecar its TERM only when the mains have ended; elsewhere all containers get it at
  // once.
  if (name === 'sexton') proxy.process.kill('SIGTERM');
  const deletedAt = Date.now();
  await sleep((drainSeconds * 1_000) / 2);
  crash(port);
  await work.ended;
  if (name === 'native') proxy.process.kill('SIGTERM');
  await proxy.ended;
  return outcomeOf(requestsOf(log).filter(({ at }) => at >= deletedAt));
}

function startWithSexton(stage: Stage, env: Readonly<Record<string, string>>): Pod {
  const graveyard = stage.folder('graveyard');
  const member = (name: string, flags: readonly string[], program: string): Actor => {
    const shared = ['--name', name, '--graveyard', graveyard, '--session', 'example', '--restart-policy', 'Never'];
    const grace = ['--grace-period', `${graceSeconds}s`, '--log-level', 'error'];
    return stage.launch(SEXTON, ['run', ...shared, ...grace, ...flags, '--', NODE, join(HERE, program)], env);
  };
  return {
    proxy: member('proxy', ['--role', 'sidecar', '--mains', 'work'], 'proxy.mjs'),
    work: member('work', ['--start-after', 'proxy=started', '--drain', `${drainSeconds}s`], 'work.mjs'),
  };
}

/**
 * Without sexton the main's drain is a preStop sleep, which ends before its TERM; nobody starts a dead sidecar again.
 */
function startAsNative(stage: Stage, env: Readonly<Record<string, string>>): Pod {
  const proxy = stage.launch(NODE, [join(HERE, 'proxy.mjs')], env);
  const drain = `trap 'sleep ${drainSeconds}; kill -TERM $pid' TERM; ${NODE} ${join(HERE, 'work.mjs')} & pid=$!; wait; wait $pid`;
  return { proxy, work: stage.launch('/bin/sh', ['-c', drain], env) };
}

function crash(port: number): void {
  get({ host: '127.0.0.1', port, path: '/crash', agent: false }).once('error', () => {});
}

function requestsOf(log: string): readonly Request[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function outcomeOf(requests: readonly Request[]): Outcome {
  const sorted = requests.toSorted((a, b) => a.at - b.at);
  const first = sorted.findIndex(({ ok }) => !ok);
  const back = sorted.slice(first).find(({ ok }) => ok);
  const awayMs = first < 0 ? 0 : back === undefined ? undefined : back.at - (sorted[first]?.at ?? 0);
  const last = sorted.find(({ what }) => what === 'last request');
  return {
    asked: sorted.length,
    failed: sorted.filter(({ ok }) => !ok).length,
    lastOk: last?.ok === true,
    awayMs,
  };
}

function print(title: string, { asked, failed, lastOk, awayMs }: Outcome): void {
  const away = awayMs === undefined ? 'for good' : `for ${awayMs} ms`;
  console.log(
    `${title.padEnd(22)}${failed} of ${asked} requests failed; the proxy was away ${away}; the last request ${lastOk ? 'succeeded' : 'failed'}`,
  );
}
