/** Whom a rung of the stop ladder reaches, and whom a signal that is no stop. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { send, stateOf } from '../helpers/process.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { attend, type Bench, begin, canUnshare, onBench, PID_NAMESPACE, type Scene, shell } from './scripted.ts';

const { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGKILL } = constants.signals;
/** Waits for ever, and survives what it traps. */
const STAY = 'while :; do sleep 1000 & wait $!; done';
const isRoot = process.getuid?.() === 0;

/** A server that says what it hears, and ends with 7 at these signals. It starts with the default dispositions. */
function layServer(bench: Bench, name = 'server', ends = ['SIGTERM', 'SIGINT']): string {
  const path = bench.path(`${name}.cjs`);
  writeFileSync(
    path,
    `const { writeSync } = require('fs');
     const say = (text) => writeSync(1, '${name} ' + text + '\\n');
     for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGTERM', 'SIGINT']) process.on(signal, () => say('heard ' + signal));
     for (const signal of ${JSON.stringify(ends)}) process.on(signal, () => { say('stops'); process.exit(7); });
     setInterval(() => {}, 1000);
     say('is up');`,
  );
  return `env --default-signal '${process.execPath}' ${path}`;
}

onBench('a shell without a trap ends, and what it leaves behind is told at once', async (bench) => {
  const { init, supervisor } = await up(bench, `${layServer(bench)}; echo never`);
  rung(supervisor, SIGTERM);
  await init.says('server stops');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', '15', '0']);
  await supervisor.expect('roots-gone');
  assert.deepEqual([await toldOf(supervisor), await toldOf(supervisor)], ['1 first sh', '1 left node']);
});

onBench('what ignores the signal is looked through', async (bench) => {
  const { init, supervisor } = await up(bench, `trap "" TERM; ${layServer(bench)}; exit 3`);
  rung(supervisor, SIGTERM);
  await init.says('server stops');
  assert.match(await toldOf(supervisor), /^1 through node \w*sh$/);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['3', '', '0']);
});

onBench('su is looked through, so that its child has the time that it needs', async (bench, t) => {
  if (!isRoot) return t.skip('needs root');
  const { init, supervisor } = await up(bench, `exec su root -c '${layServer(bench)}'`);
  rung(supervisor, SIGTERM);
  await init.says('server stops');
  assert.match(await toldOf(supervisor), /^1 through \w+ su$/);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['7', '', '0']);
});

for (const idler of ['sleep 1000', 'sleep infinity', 'tail -f /dev/null', 'tail --follow /dev/null', 'sleep 10m'])
  onBench(`a trap runs at once where the shell waits for ${idler}`, async (bench) => {
    const { init, supervisor } = await up(bench, `trap "echo trapped; exit 4" TERM; echo server is up; ${idler}`);
    await waitFor('it waits', () => readFileSync(`/proc/${init.pid}/status`, 'utf8') !== '');
    rung(supervisor, SIGTERM);
    await init.says('trapped');
    assert.deepEqual((await supervisor.expect('exited')).slice(2), ['4', '', '0']);
  });

onBench('the children of a shell are told at once if it was killed before its trap ran', async (bench) => {
  const { init, supervisor, pid } = await up(bench, `trap "exit 4" TERM; ${layServer(bench)} & echo up; wait`);
  send(init.pid, 'SIGSTOP');
  await waitFor('init stands still', () => stateOf(init.pid) === 'T');
  send(pid, 'SIGKILL');
  await waitFor('the shell has ended', () => stateOf(pid) === 'Z');
  rung(supervisor, SIGTERM);
  send(init.pid, 'SIGCONT');
  const endedMs = await timeOf(supervisor, 'exited');
  await init.says('server stops');
  const tookMs = (await timeOf(supervisor, 'roots-gone')) - endedMs;
  assert.ok(tookMs < 4_000, `${tookMs} ms`);
});

onBench('a trap has to wait for work: a copy, a short sleep, a child in the background is not told', async (bench) => {
  const copy = `cat ${bench.path('source')} >${bench.path('copy')}`;
  for (const [name, text] of [
    ['copies', `mkfifo ${bench.path('source')}; echo server is up; ${copy}; echo copied`],
    ['naps', 'echo server is up; touch naps.up; sleep 0.5; echo copied'],
  ] as const) {
    const script = bench.path(name);
    writeFileSync(script, `set -e; trap "stops=1" TERM\n${text}\n[ "$stops" = 1 ] && exit 6\n`);
    const { init, supervisor } = await up(bench, `exec sh ${script}`);
    rung(supervisor, SIGTERM);
    await toldOf(supervisor);
    if (name === 'copies') writeFileSync(bench.path('source'), 'all of it\n');
    await init.says('copied');
    assert.deepEqual((await supervisor.expect('exited')).slice(2), ['6', '', '0']);
    if (name === 'copies') assert.equal(readFileSync(bench.path('copy'), 'utf8'), 'all of it\n');
  }
});

onBench('a shell that waits catches INT without a trap: its child gets it, too', async (bench) => {
  const { init, supervisor } = await up(bench, `${layServer(bench)}; exit 8`);
  rung(supervisor, SIGINT);
  await init.says('server stops');
  await supervisor.skip('exited', 'roots-gone');
});

onBench('a child that the trap leaves alone is told late, and a pool only in the last moment', async (bench) => {
  const trap = `trap "echo too late" TERM; ${layServer(bench)}; exit 5`;
  const { init, supervisor } = await up(bench, trap);
  rung(supervisor, SIGTERM, 300, 60_000);
  await init.says('server stops');
  await init.says('too late');
  assert.deepEqual([await toldOf(supervisor), await toldOf(supervisor)], ['1 first sh', '1 late node']);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['5', '', '0']);
});

onBench('workers of a parent that was told, and is no shell, have its time', async (bench) => {
  const pool = bench.path('pool.cjs');
  const words = layServer(bench).replaceAll("'", '').split(' ');
  writeFileSync(
    pool,
    `const [program, ...words] = ${JSON.stringify(words)};
     const worker = require('child_process').spawn(program, words, { stdio: 'inherit' });
     process.on('SIGTERM', () => console.log('parent waits'));
     worker.on('exit', (code) => process.exit(code + 1));`,
  );
  const { init, supervisor } = await up(bench, `exec '${process.execPath}' ${pool}`);
  const [late, last] = [200, 1_200];
  const since = now();
  rung(supervisor, SIGTERM, late, last);
  await init.says('parent waits');
  await init.says('server stops');
  assert.ok(now() >= since + last, 'not before the last moment');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['8', '', '0']);
});

onBench('a reader is told when only readers are left, and reads to the end', async (bench) => {
  const says = `trap "for i in 1 2 3 4; do echo last word \\$i; sleep 0.05; done; exit" TERM; echo server is up; ${STAY}`;
  writeFileSync(bench.path('talker'), says);
  const { init, supervisor } = await up(bench, `sh ${bench.path('talker')} | sed -u s/^/app:/`);
  rung(supervisor, SIGTERM);
  await supervisor.skip('exited', 'roots-gone');
  await init.says('app:last word 4');
});

onBench('readers of each other are told in the end', async (bench) => {
  const script = 'mkfifo ring; exec 3<>ring; (cat <&3 | cat >&3) & echo server is up; exec 3>&-; read -r l; exit 0';
  const { init, supervisor } = await up(bench, script);
  init.write('\n');
  await supervisor.expect('exited');
  rung(supervisor, SIGTERM);
  await supervisor.expect('roots-gone');
});

onBench('the next rung goes to all that was told and lives', async (bench) => {
  const { init, supervisor } = await up(
    bench,
    `${layServer(bench, 'stubborn', ['SIGINT'])}; echo never`,
    'stubborn is up',
  );
  rung(supervisor, SIGTERM);
  await init.says('stubborn heard SIGTERM');
  rung(supervisor, SIGINT);
  await init.says('stubborn stops');
  await supervisor.skip('exited', 'roots-gone');
});

onBench('KILL is for everything, parents first', async (bench) => {
  const script = `trap "" TERM; (setsid sh -c 'trap "" TERM; touch away; ${STAY}' &); sh -c '${STAY}' & echo server is up; ${STAY}`;
  const { supervisor } = await up(bench, script);
  await waitForFile(bench.path('away'));
  supervisor.commit('kill', 1, SIGKILL);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', '9', '0']);
  await supervisor.expect('roots-gone');
});

onBench('late on, a process that came by exec is told, and none of sexton itself', async (bench, t) => {
  if (!canUnshare() || !isRoot) return t.skip('needs PID namespaces and root');
  const server = layServer(bench);
  const { init, supervisor } = await attend(bench, shell(`trap "" TERM; echo first is up; ${STAY}`), {
    launcher: PID_NAMESPACE,
  });
  await init.says('first is up');
  await supervisor.expect('spawned');
  const [pid1 = 0] = readFileSync(`/proc/${init.pid}/task/${init.pid}/children`, 'utf8').split(' ').map(Number);
  const guest = bench.launch([
    'nsenter',
    '--pid',
    '--mount',
    `--target=${pid1}`,
    ...server.replaceAll("'", '').split(' '),
  ]);
  await guest.says('server is up');
  const other = bench.launch([
    'nsenter',
    '--pid',
    `--target=${pid1}`,
    ...layServer(bench, 'other').replaceAll("'", '').split(' '),
  ]);
  await other.says('other is up');
  supervisor.commit('exec', 1, 0, 2, 'sleep', 0.7);
  rung(supervisor, SIGTERM, 200, 60_000);
  await guest.says('server stops');
  assert.deepEqual((await supervisor.expect('helper-ended')).slice(1, 3), ['0', ''], 'the helper was not told');
  assert.equal(other.stdout(), 'other is up\n', 'another container was not told');
  supervisor.commit('exit', 0);
  await init.ended;
});

onBench('a signal that is no stop goes to the server behind a shell, in front of a reader', async (bench) => {
  const { init, supervisor } = await up(bench, `exec 3>&1; ${layServer(bench)} | cat >&3; echo never`);
  supervisor.commit('kill', 1, SIGHUP);
  await init.says('server heard SIGHUP');
  supervisor.commit('kill', 1, SIGUSR1);
  await init.says('server heard SIGUSR1');
  supervisor.commit('kill', 1, SIGKILL);
  await supervisor.skip('exited', 'roots-gone');
});

onBench('HUP, USR1 and USR2 do not end a command that has no use for them, and init says so once', async (bench) => {
  const { init, supervisor } = await begin(bench);
  supervisor.commit('kill', 1, SIGHUP, 'kill', 1, SIGHUP, 'kill', 1, SIGUSR1);
  await waitFor('it is said', () => init.stderr().includes('signal 10'));
  assert.equal(init.stderr().split('handles signal 1:').length, 2);
  init.write('exit 0\n');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['0', '', '0']);
});

onBench('a command of another user is reported, and a KILL that is refused ends it for init', async (bench, t) => {
  if (!isRoot || existsSync('/usr/bin/setpriv') === false) return t.skip('needs root and setpriv');
  const user = ['setpriv', '--reuid', '12345', '--regid', '12345', '--clear-groups', '--inh-caps=-all'];
  for (const path of [bench.dir, bench.path('control')]) chmodSync(path, 0o777);
  const other = bench.path('other');
  writeFileSync(other, readFileSync('/usr/bin/setpriv'), { mode: 0o4755 });
  const command = [
    other,
    '--reuid',
    '12346',
    '--regid',
    '12346',
    '--clear-groups',
    'sh',
    '-c',
    'echo up; exec sleep 1000',
  ];
  const { init, supervisor } = await attend(bench, ['--', ...command], { launcher: user });
  await init.says('up');
  const [, pid] = await supervisor.expect('spawned');
  rung(supervisor, SIGTERM);
  await waitFor('it is said', () => /not permitted to signal sleep \(pid \d+, of user 12346\)/.test(init.stderr()));
  supervisor.commit('kill', 1, SIGKILL);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', '9', '0']);
  assert.ok(send(Number(pid), 'SIGKILL'), 'it lives');
  await supervisor.expect('roots-gone');
});

async function up(bench: Bench, script: string, line = 'server is up'): Promise<Scene> {
  const { init, supervisor } = await attend(bench, shell(script));
  const [, pid] = await supervisor.expect('spawned');
  await init.says(line);
  return { bench, init, supervisor, pid: Number(pid) };
}

function rung(supervisor: Supervisor, signal: number, lateMs?: number, lastMs?: number): void {
  const [late, last] = [lateMs, lastMs].map((ms) => (ms === undefined ? 0 : now() + ms));
  supervisor.commit('stop', 1, signal, late ?? 0, last ?? 0);
}

/** The time of the next event of this name, CLOCK_MONOTONIC in milliseconds. */
async function timeOf(supervisor: Supervisor, wanted: string): Promise<number> {
  for (;;) {
    const [name, , atMs] = await supervisor.next();
    if (name === wanted) return Number(atMs);
  }
}

/** CLOCK_MONOTONIC. */
function now(): number {
  return Math.ceil(Number(process.hrtime.bigint()) / 1e6);
}

/** How many, why, the name of the first, and what it came by. */
async function toldOf(supervisor: Supervisor): Promise<string> {
  const [name, , , , , count, , ...rest] = await supervisor.news();
  assert.equal(name, 'told');
  return [count, ...rest].join(' ').trim();
}
