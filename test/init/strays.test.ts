/** Strays: processes that left the application's group and lost their parent. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { hasEnded, stateOf } from '../helpers/process.ts';
import { build } from '../helpers/program.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { type Bench, begin, type Init, onBench } from './scripted.ts';

const [TERM, KILL] = ['15', '9'];
/** A shell that waits for ever and survives what it traps. */
const STAY = 'while :; do sleep 1000 & wait $!; done';

onBench('group-gone counts the strays that are left, and a sweep ends them', async (bench) => {
  const { supervisor, pids } = await withStrays(bench, ['exec sleep 1000', 'exec sleep 1000']);
  supervisor.commit('sweep', TERM);
  assert.deepEqual(await supervisor.expect('strays-gone'), []);
  for (const pid of pids) assert.equal(stateOf(pid), undefined);
});

onBench('a group of which only zombies are left is gone, and its stray is counted', async (bench) => {
  const { init, supervisor } = await begin(bench);
  init.write(`${build('init/zombie.c')} setsid sh -c 'echo left; exec sleep 1000' &\n`);
  await init.says('left');
  init.write('exit 3\n');
  await supervisor.expect('exited');
  assert.deepEqual(await supervisor.expect('group-gone'), ['1', '1']);
  supervisor.commit('sweep', KILL);
  await supervisor.expect('strays-gone');
});

onBench('a process of which only the first thread has ended keeps its group', async (bench) => {
  const { init, supervisor } = await begin(bench);
  init.write(`${build('init/headless.c')} & echo pid $!.\n`);
  await init.says('headless');
  const headless = await waitFor('its pid', () => /pid (\d+)\./.exec(init.stdout())?.[1]);
  await waitFor('its first thread has ended', () => stateOf(Number(headless)) === 'Z');
  init.write('exit 3\n');
  await supervisor.expect('exited');
  // Init has looked at the group several times by then.
  supervisor.commit('exec', 1, 0, 2, 'sleep', 0.4);
  await supervisor.expect('helper-ended');
  supervisor.commit('kill', 1, KILL);
  assert.deepEqual(await supervisor.expect('group-gone'), ['1', '0']);
});

onBench('a sweep without a stray is over at once', async (bench) => {
  const { init, supervisor } = await begin(bench);
  supervisor.commit('exec', 1, 0, 2, 'sleep', 1000);
  supervisor.commit('sweep', KILL);
  assert.deepEqual(await supervisor.expect('strays-gone'), [], 'child, helper and supervisor are none');
  init.write('exit 0\n');
  await supervisor.expect('exited');
  assert.deepEqual(await supervisor.expect('group-gone'), ['1', '0']);
  supervisor.commit('sweep', TERM);
  await supervisor.expect('strays-gone');
  supervisor.commit('end-helper', 1);
  await supervisor.expect('helper-ended');
});

onBench('a sweep sends its signal once, with CONT, and another replaces it', async (bench) => {
  const { supervisor, pids } = await withStrays(bench, [`trap "echo TERM >>got" TERM; kill -STOP $$; ${STAY}`]);
  await waitFor('it is stopped', () => stateOf(pids[0] ?? 0) === 'T');
  supervisor.commit('sweep', TERM);
  await waitForFile(bench.path('got'));
  await lookAgain(supervisor);
  assert.equal(readFileSync(bench.path('got'), 'utf8'), 'TERM\n');
  supervisor.commit('sweep', KILL);
  await supervisor.expect('strays-gone');
  assert.ok(pids.every(hasEnded));
});

onBench('a sweep reaches the group of a stray, and processes that become strays later', async (bench) => {
  // One in its group, and one that is in a session of its own and whose parent is the stray.
  const script = `sleep 1000 & echo $! >>more; setsid sh -c "echo \\$\\$ >>more; exec sleep 1000" & while [ $(wc -l <more) != 2 ]; do :; done; touch all; wait`;
  const { supervisor, pids } = await withStrays(bench, [script], () => waitForFile(bench.path('all')));
  const more = readFileSync(bench.path('more'), 'utf8').trim().split('\n').map(Number);
  assert.deepEqual(more.map(stateOf), ['S', 'S']);
  supervisor.commit('sweep', TERM);
  await supervisor.expect('strays-gone');
  assert.ok([...pids, ...more].every(hasEnded));
});

onBench('a sweep reaches processes that a living application leaves behind', async (bench) => {
  const { init, supervisor } = await begin(bench);
  const stray = (name: string): string => `(setsid sh -c 'trap "touch ${name}" TERM; touch ${name}.up; ${STAY}' &)\n`;
  init.write(stray('first'));
  await waitForFile(bench.path('first.up'));
  supervisor.commit('sweep', TERM);
  await waitForFile(bench.path('first'));
  // Its parent ends, and the application reaps that, not init.
  init.write(stray('second'));
  await waitForFile(bench.path('second'));
  supervisor.commit('sweep', KILL);
  await supervisor.expect('strays-gone');
  init.write('exit 0\n');
  assert.equal((await supervisor.expect('exited'))[2], 'code', 'it was not touched');
});

onBench('a sweep signals a group once, however many strays are in it', async (bench) => {
  const member = `sh -c 'trap "echo TERM >>got" TERM; echo $$ >>members; ${STAY}' &`;
  const script = `${member} ${member} ${member} while [ "$(wc -l 2>/dev/null <members)" != 3 ]; do :; done; exit`;
  const { supervisor } = await withStrays(
    bench,
    [script],
    ([leader = 0]) => waitFor('the leader has ended', () => hasEnded(leader)),
    '3',
  );
  const members = readFileSync(bench.path('members'), 'utf8').trim().split('\n').map(Number);
  supervisor.commit('sweep', TERM);
  const lines = (): string[] =>
    existsSync(bench.path('got')) ? readFileSync(bench.path('got'), 'utf8').split('\n') : [];
  await waitFor('each has one', () => lines().length >= 4);
  await lookAgain(supervisor);
  assert.equal(lines().length, 4);
  supervisor.commit('sweep', KILL);
  await supervisor.expect('strays-gone');
  assert.ok(members.every(hasEnded));
});

onBench('a process that a helper left behind in another session is a stray', async (bench) => {
  const { init, supervisor } = await begin(bench);
  const leave = 'setsid sh -c "echo $$ >pid; touch up; exec sleep 1000" & while [ ! -e up ]; do :; done';
  supervisor.commit('exec', 1, 0, 3, 'sh', '-c', leave);
  await supervisor.expect('helper-ended');
  init.write('exit 0\n');
  await supervisor.expect('exited');
  assert.deepEqual(await supervisor.expect('group-gone'), ['1', '1']);
  supervisor.commit('sweep', TERM);
  await supervisor.expect('strays-gone');
  assert.ok(hasEnded(Number(readFileSync(bench.path('pid'), 'utf8'))));
});

onBench('a sweep ends 300 strays, more than init remembers', async (bench) => {
  const { init, supervisor } = await begin(bench);
  init.write('for i in $(seq 300); do (setsid sleep 1000 &); done; exit 0\n');
  await supervisor.expect('exited');
  const [, strays] = await supervisor.expect('group-gone');
  assert.equal(strays, '300');
  supervisor.commit('sweep', TERM);
  await supervisor.expect('strays-gone');
});

onBench('K01 a sweep goes on when its supervisor dies', async (bench) => {
  const { init, supervisor, pids } = await withStrays(bench, [`trap "touch got" TERM; ${STAY}`]);
  supervisor.commit('sweep', TERM);
  await waitForFile(bench.path('got'));
  await supervisor.kill();
  const next = await init.supervisor();
  await next.skip('spawned', 'exited', 'group-gone');
  process.kill(-(pids[0] ?? Number.NaN), 'SIGKILL');
  await next.expect('strays-gone');
});

onBench('init finds strays where the kernel does not list children', async (bench, t) => {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0) return t.skip('needs the right to mount');
  mkdirSync(bench.path('empty'));
  const { init, supervisor } = await begin(bench, undefined, { launcher: ['unshare', '--mount'] });
  const hide = spawnSync('nsenter', [
    ...['--mount', `--target=${init.pid}`, 'mount', '--bind', bench.path('empty'), `/proc/${init.pid}/task`],
  ]);
  assert.equal(String(hide.stderr), '');
  init.write('setsid sh -c "touch up; exec sleep 1000" & while [ ! -e up ]; do :; done; exit 0\n');
  await supervisor.expect('exited');
  assert.deepEqual(await supervisor.expect('group-gone'), ['1', '1']);
  supervisor.commit('sweep', TERM);
  await supervisor.expect('strays-gone');
});

/** Init looks for strays after each process that it reaps, here two helpers: the second comes after the first look. */
async function lookAgain(supervisor: Supervisor): Promise<void> {
  for (const id of [101, 102]) {
    supervisor.commit('exec', id, 0, 1, 'true');
    await supervisor.expect('helper-ended');
  }
}

/** The application leaves one stray for each script and ends once `ready` says that all is set up. */
async function withStrays(
  bench: Bench,
  scripts: readonly string[],
  ready: (pids: readonly number[]) => Promise<unknown> = async () => {},
  count = String(scripts.length),
): Promise<{ init: Init; supervisor: Supervisor; pids: number[] }> {
  const { init, supervisor } = await begin(bench);
  for (const [index, script] of scripts.entries()) {
    const text = `echo $$ >pid-${index}; mv pid-${index} stray-${index}; ${script}`;
    init.write(`setsid sh -c '${text.replaceAll("'", `'\\''`)}' &\n`);
  }
  for (const index of scripts.keys()) await waitForFile(bench.path(`stray-${index}`));
  const pids = scripts.map((_, index) => Number(readFileSync(bench.path(`stray-${index}`), 'utf8')));
  await ready(pids);
  init.write('exit 0\n');
  await supervisor.expect('exited');
  assert.deepEqual(await supervisor.expect('group-gone'), ['1', count]);
  return { init, supervisor, pids };
}
