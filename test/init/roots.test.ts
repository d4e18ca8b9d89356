/** Roots: what a command leaves behind. A rung reaches it, in whatever group or session it is. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hasEnded, stateOf } from '../helpers/process.ts';
import { build } from '../helpers/program.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { type Bench, begin, type Init, onBench } from './scripted.ts';

const [HUP, TERM, KILL] = ['1', '15', '9'];
/** A shell that waits for ever and survives what it traps. */
const STAY = 'while :; do sleep 1000 & wait $!; done';

onBench('a stop reaches what the command has left behind, and roots-gone follows', async (bench) => {
  const { supervisor, pids } = await withDaemons(bench, ['exec sleep 1000', 'exec sleep 1000']);
  stop(supervisor, TERM);
  assert.deepEqual(await supervisor.expect('roots-gone'), ['1']);
  for (const pid of pids) assert.equal(stateOf(pid), undefined);
  const [name, , , id, signal, count, pid, why] = await supervisor.news();
  assert.deepEqual([name, id, signal, count, why], ['told', '1', TERM, '2', 'left']);
  assert.ok(pids.includes(Number(pid)));
});

onBench('zombies of which the parent does not live here do not keep a command', async (bench) => {
  const { init, supervisor } = await begin(bench);
  init.write(`${build('init/zombie.c')} setsid sh -c 'echo left; exec sleep 1000' &\n`);
  await init.says('left');
  init.write('exit 3\n');
  await supervisor.expect('exited');
  supervisor.commit('kill', 1, KILL);
  await supervisor.expect('roots-gone');
});

onBench('a process of which only the first thread has ended is still there', async (bench) => {
  const { init, supervisor } = await begin(bench);
  init.write(`${build('init/headless.c')} & echo pid $!.\n`);
  await init.says('headless');
  const headless = await waitFor('its pid', () => /pid (\d+)\./.exec(init.stdout())?.[1]);
  await waitFor('its first thread has ended', () => stateOf(Number(headless)) === 'Z');
  init.write('exit 3\n');
  await supervisor.expect('exited');
  // Init has looked several times by then.
  supervisor.commit('exec', 1, 0, 2, 'sleep', 0.4);
  await supervisor.expect('helper-ended');
  supervisor.commit('kill', 1, KILL);
  assert.deepEqual(await supervisor.expect('roots-gone'), ['1']);
});

onBench('neither a helper nor the supervisor is a root', async (bench) => {
  const { init, supervisor } = await begin(bench);
  supervisor.commit('exec', 1, 0, 2, 'sleep', 1000);
  init.write('exit 0\n');
  await supervisor.expect('exited');
  assert.deepEqual(await supervisor.expect('roots-gone'), ['1']);
  supervisor.commit('end-helper', 1);
  await supervisor.expect('helper-ended');
});

onBench('a process gets a rung once, with CONT, and the next one, too', async (bench) => {
  const traps = `trap "echo TERM >>got" TERM; trap "echo HUP >>got" HUP`;
  const { supervisor, pids } = await withDaemons(bench, [`${traps}; kill -STOP $$; ${STAY}`]);
  await waitFor('it is stopped', () => stateOf(pids[0] ?? 0) === 'T');
  stop(supervisor, TERM);
  await waitForFile(bench.path('got'));
  await lookAgain(supervisor);
  stop(supervisor, TERM);
  await lookAgain(supervisor);
  assert.equal(readFileSync(bench.path('got'), 'utf8'), 'TERM\n');
  stop(supervisor, HUP);
  await waitFor('it has the next', () => readFileSync(bench.path('got'), 'utf8') === 'TERM\nHUP\n');
  supervisor.commit('kill', 1, KILL);
  await supervisor.expect('roots-gone');
  assert.ok(pids.every(hasEnded));
});

onBench('a parent is told before its children, in whatever group or session they are', async (bench) => {
  const child = 'sh -c "echo \\$\\$ >>more; exec sleep 1000"';
  const script = `${child} & setsid ${child} & while [ "$(cat more 2>/dev/null | wc -l)" != 2 ]; do :; done; touch all; wait`;
  const { supervisor, pids } = await withDaemons(bench, [script], () => waitForFile(bench.path('all')));
  const more = readFileSync(bench.path('more'), 'utf8').trim().split('\n').map(Number);
  assert.equal(more.length, 2);
  await waitFor('they sleep', () => more.every((pid) => stateOf(pid) === 'S'));
  stop(supervisor, TERM);
  await supervisor.expect('roots-gone');
  assert.ok([...pids, ...more].every(hasEnded));
  // Init may report the parent and its children together.
  const [, , , , , count, first] = await supervisor.news();
  assert.equal(first, String(pids[0]));
  if (count === '1') assert.equal((await supervisor.news())[5], '2');
  else assert.equal(count, '3');
});

onBench('while the command lives its daemons are not told', async (bench) => {
  const { init, supervisor } = await begin(bench, ['--', 'sh', '-c', `trap "touch first" TERM; echo up; ${READS}`]);
  init.write(`(setsid sh -c 'trap "touch second; exit" TERM; touch up; ${STAY}' &)\n`);
  await waitForFile(bench.path('up'));
  stop(supervisor, TERM);
  init.write('\n');
  await waitForFile(bench.path('first'));
  await lookAgain(supervisor);
  assert.equal(existsSync(bench.path('second')), false);
  init.write('exit 0\n');
  await supervisor.skip('exited', 'roots-gone');
  assert.ok(existsSync(bench.path('second')));
});

onBench('a process that a helper left behind in another session is a root', async (bench) => {
  const { init, supervisor } = await begin(bench);
  const leave = 'setsid sh -c "echo $$ >pid; touch up; exec sleep 1000" & while [ ! -e up ]; do :; done';
  supervisor.commit('exec', 1, 0, 3, 'sh', '-c', leave);
  await supervisor.expect('helper-ended');
  init.write('exit 0\n');
  await supervisor.expect('exited');
  stop(supervisor, TERM);
  await supervisor.expect('roots-gone');
  assert.ok(hasEnded(Number(readFileSync(bench.path('pid'), 'utf8'))));
});

onBench('a stop ends 3,000 daemons', async (bench) => {
  const { init, supervisor } = await begin(bench);
  init.write('for i in $(seq 3000); do (setsid sleep 1000 &); done; exit 0\n');
  await supervisor.expect('exited');
  stop(supervisor, TERM);
  await supervisor.expect('roots-gone');
});

onBench('K01 a rung goes on when its supervisor dies', async (bench) => {
  const { init, supervisor } = await withDaemons(bench, [
    `trap "touch got; (setsid sh -c \\"exec sleep 1000\\" &); exit" TERM; ${STAY}`,
  ]);
  await supervisor.kill();
  const next = await init.supervisor();
  await next.skip('spawned', 'exited');
  stop(next, TERM);
  await waitForFile(bench.path('got'));
  await next.kill();
  const last = await init.supervisor();
  await last.skip('spawned', 'exited', 'roots-gone');
});

onBench('init finds roots where the kernel does not list children', async (bench, t) => {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0) return t.skip('needs the right to mount');
  mkdirSync(bench.path('empty'));
  const { init, supervisor } = await begin(bench, undefined, { launcher: ['unshare', '--mount'] });
  const hide = spawnSync('nsenter', [
    ...['--mount', `--target=${init.pid}`, 'mount', '--bind', bench.path('empty'), `/proc/${init.pid}/task`],
  ]);
  assert.equal(String(hide.stderr), '');
  init.write('setsid sh -c "touch up; exec sleep 1000" & while [ ! -e up ]; do :; done; exit 0\n');
  await supervisor.expect('exited');
  stop(supervisor, TERM);
  await supervisor.expect('roots-gone');
});

onBench('without /proc the group of the command stands for its tree', async (bench, t) => {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0) return t.skip('needs the right to mount');
  mkdirSync(bench.path('empty'));
  const second = `sh -c 'trap "touch second; exit" TERM; touch up; ${STAY}' &`;
  const { init, supervisor } = await begin(bench, ['--', 'sh', '-c', `${second} trap exit TERM; echo up; ${STAY}`], {
    launcher: ['unshare', '--mount'],
  });
  await waitForFile(bench.path('up'));
  const hide = spawnSync('nsenter', [
    ...['--mount', `--target=${init.pid}`, 'mount', '--bind', bench.path('empty'), '/proc'],
  ]);
  assert.equal(String(hide.stderr), '');
  stop(supervisor, TERM);
  await waitForFile(bench.path('second'));
  await supervisor.expect('exited');
  supervisor.commit('kill', 1, KILL);
  await supervisor.expect('roots-gone');
});

/** It does what its input says, and reads on after a trap. */
const READS = 'while :; do if read -r line; then eval "$line"; fi; done';

function stop(supervisor: Supervisor, signal: string, late = 0, last = 0): void {
  supervisor.commit('stop', 1, signal, late, last);
}

/** Init looks after each process that it reaps, here two helpers: the second comes after the first look. */
async function lookAgain(supervisor: Supervisor): Promise<void> {
  for (const id of [next(), next()]) {
    supervisor.commit('exec', id, 0, 1, 'true');
    await supervisor.expect('helper-ended');
  }
}

let helpers = 100;
function next(): number {
  helpers += 1;
  return helpers;
}

/** The application leaves one daemon for each script and ends once `ready` says that all is set up. */
async function withDaemons(
  bench: Bench,
  scripts: readonly string[],
  ready: (pids: readonly number[]) => Promise<unknown> = async () => {},
): Promise<{ init: Init; supervisor: Supervisor; pids: number[] }> {
  const { init, supervisor } = await begin(bench);
  for (const [index, script] of scripts.entries()) {
    const path = bench.path(`script-${index}`);
    writeFileSync(path, `echo $$ >pid-${index}; mv pid-${index} daemon-${index}; ${script}\n`);
    init.write(`setsid sh ${path} &\n`);
  }
  for (const index of scripts.keys()) await waitForFile(bench.path(`daemon-${index}`));
  const pids = scripts.map((_, index) => Number(readFileSync(bench.path(`daemon-${index}`), 'utf8')));
  await ready(pids);
  init.write('exit 0\n');
  await supervisor.expect('exited');
  return { init, supervisor, pids };
}
