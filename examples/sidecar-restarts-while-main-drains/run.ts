/**
 * The same pod twice, as processes on this machine: with sexton, and as native sidecars would have it. It is deleted; while the main drains
 * its proxy dies. `node run.ts [seconds]`: how long the drain lasts, 20 when nothing is said.
 *
 * Exits with 0 when the last request went well with sexton and failed without.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
  readonly work: ChildProcess;
  readonly proxy: ChildProcess;
}

const HERE = import.meta.dirname;
const SEXTON = join(HERE, '..', '..', 'dist', 'sexton', 'sexton');
const NODE = process.execPath;
const drainSeconds = Number(process.argv[2] ?? 20);
const graceSeconds = drainSeconds + 10;

const dir = mkdtempSync(join(tmpdir(), 'sexton-drain-'));
const running = new Set<ChildProcess>();
try {
  console.log(`The pod is deleted, its main drains for ${drainSeconds} s, and in the middle of that its proxy dies.\n`);
  const [withSexton, without] = await Promise.all([
    rehearse('sexton', startWithSexton),
    rehearse('native', startAsNative),
  ]);
  print('with sexton', withSexton);
  print('as a native sidecar', without);
  process.exitCode = withSexton.lastOk && !without.lastOk ? 0 : 1;
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
}

async function rehearse(name: string, start: (home: string, env: NodeJS.ProcessEnv) => Pod): Promise<Outcome> {
  const home = join(dir, name);
  mkdirSync(home);
  const port = await freePort();
  const log = join(home, 'log');
  const pod = start(home, { ...withoutSettings(process.env), PROXY_PORT: String(port), WORK_LOG: log });
  const ends = [pod.work, pod.proxy].map((child) => new Promise((resolve) => child.once('exit', resolve)));
  await until(() => requestsOf(log).some(({ ok }) => ok));
  pod.work.kill('SIGTERM');
  // The kubelet sends a native sidecar its TERM only when the mains have ended; elsewhere all containers get it at once.
  if (name === 'sexton') pod.proxy.kill('SIGTERM');
  const deletedAt = Date.now();
  await sleep((drainSeconds * 1_000) / 2);
  crash(port);
  await ends[0];
  if (name !== 'sexton') pod.proxy.kill('SIGTERM');
  await ends[1];
  return outcomeOf(requestsOf(log).filter(({ at }) => at >= deletedAt));
}

function startWithSexton(home: string, env: NodeJS.ProcessEnv): Pod {
  const graveyard = join(home, 'graveyard');
  mkdirSync(graveyard);
  const member = (name: string, flags: readonly string[], program: string): ChildProcess => {
    const shared = ['--name', name, '--graveyard', graveyard, '--session', 'example', '--restart-policy', 'Never'];
    const grace = ['--grace-period', `${graceSeconds}s`, '--log-level', 'error'];
    return launch(SEXTON, ['run', ...shared, ...grace, ...flags, '--', NODE, join(HERE, program)], env);
  };
  return {
    proxy: member('proxy', ['--role', 'sidecar', '--mains', 'work'], 'proxy.mjs'),
    work: member('work', ['--start-after', 'proxy=started', '--drain', `${drainSeconds}s`], 'work.mjs'),
  };
}

/** Without sexton the main's drain is a preStop sleep, which ends before its TERM; nobody starts a dead sidecar again. */
function startAsNative(_home: string, env: NodeJS.ProcessEnv): Pod {
  const proxy = launch(NODE, [join(HERE, 'proxy.mjs')], env);
  const drain = `trap 'sleep ${drainSeconds}; kill -TERM $pid' TERM; ${NODE} ${join(HERE, 'work.mjs')} & pid=$!; wait; wait $pid`;
  return { proxy, work: launch('/bin/sh', ['-c', drain], env) };
}

function launch(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  child.once('error', (cause) => {
    throw new Error(`cannot start ${file}: run npm run build first`, { cause });
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** What this shell has set for sexton is not meant for the example. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([key]) => !/^(SEXTON|KUBEXIT|KRUISE)_/.test(key)));
}

function crash(port: number): void {
  get({ host: '127.0.0.1', port, path: '/crash', agent: false }).once('error', () => {});
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function requestsOf(log: string): readonly Request[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 1_200) throw new Error('the main did not reach its proxy within a minute: see the messages above');
    await sleep(50);
  }
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
