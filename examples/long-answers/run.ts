/**
 * One of two servers behind haproxy is stopped while it gives long answers, three times side by side: as it is, with a
 * drain that watches connections, and with one that also asks the server whether it is idle.
 * `node run.ts [seconds]`: how long an answer takes at least, 4 when nothing is said.
 *
 * Exits with 0 when answers were cut without `--idle-when`, and none failed with it.
 */
import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, freePort, NODE, onStage, printTable, reportOf, SEXTON, type Stage, until } from '../stage.ts';
import { Clients, type Result } from './clients.ts';

interface Outcome extends Result {
  /** From the stop request to the end. */
  readonly tookMs: number;
}

const HERE = import.meta.dirname;
const HAPROXY = '/usr/sbin/haproxy';
/** Answers under way when the server is asked to stop. */
const ENOUGH = 5;
/** Clients that come when the server has ended. */
const AFTERWARDS = 8;
const answerMs = Number(process.argv[2] ?? 4) * 1_000;

for (const program of [HAPROXY, SEXTON]) {
  if (existsSync(program)) continue;
  console.error(`cannot run this: there is no ${program}; apt-get install haproxy, and npm run build`);
  process.exit(1);
}
await onStage('answers', async (stage) => {
  console.log(`One of two servers is stopped. Its answers take ${answerMs / 1_000} s and more.\n`);
  const drain = (port: number, maxMs = 50_000) => ['--drain', `min=1s,quiet=1s,max=${maxMs}ms,ports=${port}`];
  const idle = (port: number) => ['--idle-when', `http://:${port}/metrics,metric=requests_running,period=200ms,for=1s`];
  const [bare, watched, asked] = await Promise.all([
    stopOne(stage, 'bare', undefined),
    // On a slow machine connections come late. An answer has to outlast this drain all the same.
    stopOne(stage, 'watched', (port) => drain(port, answerMs - 1_000)),
    stopOne(stage, 'asked', (port) => [...drain(port), ...idle(port)]),
  ]);
  printTable(
    ['', 'CUT', 'REFUSED', 'OF', 'STOPPED AFTER'],
    [
      ['as it is', ...cells(bare)],
      ['sexton, --drain', ...cells(watched)],
      ['sexton, --drain and --idle-when', ...cells(asked)],
    ],
  );
  console.log(`\nThe stop of the last one, by its report:\n${reportOf(join(stage.folder('asked'), 'end'))}`);
  return bare.cut > 0 && watched.cut > 0 && asked.cut + asked.refused === 0;
});

type Flags = (port: number) => readonly string[];

async function stopOne(stage: Stage, title: string, flags: Flags | undefined): Promise<Outcome> {
  const [webPort, a, aCheck, b] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const env = { PORT: String(a), NAME: 'a', SEXTON_TERMINATION_LOG: join(stage.folder(title), 'end') };
  const actor =
    flags === undefined
      ? stage.launch(NODE, [join(HERE, 'server.mjs')], env)
      : stage.launch(SEXTON, ['run', ...checkedAt(aCheck), ...flags(a), '--', NODE, join(HERE, 'server.mjs')], env);
  const other = stage.launch(NODE, [join(HERE, 'server.mjs')], { PORT: String(b), NAME: 'b' });
  const haproxy = stage.launch(HAPROXY, ['-db', '-q', '-f', join(HERE, 'haproxy.cfg')], {
    WEB_PORT: String(webPort),
    A_PORT: String(a),
    A_CHECK_PORT: String(flags === undefined ? a : aCheck),
    B_PORT: String(b),
    B_CHECK_PORT: String(b),
  });
  await bothServe(webPort);
  const clients = new Clients(webPort, answerMs);
  await until('a has some answers to give', () => clients.answersOf('a') >= ENOUGH);
  const since = performance.now();
  await stop(actor);
  const tookMs = performance.now() - since;
  const { asked } = clients;
  await until('haproxy has had time to notice', () => clients.asked >= asked + AFTERWARDS);
  const result = await clients.end();
  await Promise.all([other, haproxy].map(stop));
  return { ...result, tookMs };
}

/** What haproxy asks: sexton itself, which says no from the stop request on. */
function checkedAt(port: number): readonly string[] {
  const http = ['--http', `127.0.0.1:${port}`, '--readyz-on-drain', 'fail'];
  return ['--name', 'server', ...http, '--grace-period', '60s', '--log-level', 'error'];
}

async function stop({ process, ended }: Actor): Promise<void> {
  process.kill('SIGTERM');
  await ended;
}

async function bothServe(port: number): Promise<void> {
  const seen = new Set<string>();
  while (seen.size < 2) {
    const by = await servedBy(port);
    if (by === undefined) await sleep(50);
    else seen.add(by);
  }
}

function servedBy(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (response) => {
      response.resume();
      resolve(response.headers['served-by']?.toString());
    });
    request.once('error', () => resolve(undefined));
  });
}

function cells({ cut, refused, asked, tookMs }: Outcome): readonly string[] {
  return [String(cut), String(refused), String(asked), `${(tookMs / 1_000).toFixed(1)} s`];
}
