/** What a commit can switch on for good, as far as the contract of hosts cannot show it. */
import assert from 'node:assert/strict';
import { childrenOf, send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { attend, type Bench, onBench, TO_FIRST } from './scripted.ts';

const [USR1, USR2] = ['10', '12'];

onBench('C04 init receives the signal that it asked for when its parent dies', async (bench) => {
  const { supervisor, parent } = await belowShell(bench);
  await applied(supervisor, 'parent-death', USR1);
  assert.ok(send(parent, 'SIGKILL'));
  assert.equal((await supervisor.expect('signal'))[0], USR1);
  supervisor.commit('exit', 0);
  await supervisor.closed();
});

onBench('C04 init reports the earlier death of its parent at once, and only once', async (bench) => {
  const { supervisor, parent } = await belowShell(bench);
  const init = supervisor.about.ppid;
  assert.ok(send(parent, 'SIGKILL'));
  await waitFor('init has another parent', () => !childrenOf(parent).includes(init));
  supervisor.commit('parent-death', USR1);
  assert.equal((await supervisor.expect('signal'))[0], USR1);
  supervisor.commit('parent-death', USR1);
  assert.ok(send(init, Number(USR2)));
  assert.equal((await supervisor.expect('signal'))[0], USR2);
  supervisor.commit('exit', 0);
  await supervisor.closed();
});

onBench('C04 signal-to first: the first process gets signals, and then what it leaves', async (bench) => {
  const stay = 'while :; do sleep 1000 & wait $!; done';
  const second = `sh -c 'trap "echo second got TERM; exit" TERM; echo up; ${stay}' &`;
  const { init, supervisor } = await attend(bench);
  const words = ['sh', '-c', `${second} trap "exit 7" TERM; ${stay}`];
  supervisor.commit('spawn', 1, TO_FIRST, 0, words.length, ...words);
  await init.says('up');
  await supervisor.expect('spawned');
  await applied(supervisor, 'fallback', 1, 15, 0, 1, 0, 0);
  await supervisor.kill();
  for (let start = 1; start <= 5; start++) await (await init.supervisor()).kill();
  await waitFor('it goes on alone', () => init.stderr().includes('goes on without it'));
  assert.ok(send(init.pid, 'SIGTERM'));
  assert.deepEqual(await init.ended, { code: 7, signal: null });
  assert.equal(init.stdout(), 'up\nsecond got TERM\n');
});

onBench('with signal-to first KILL still reaches everything', async (bench) => {
  const { init, supervisor } = await attend(bench);
  supervisor.commit('spawn', 1, TO_FIRST, 0, 3, 'sh', '-c', 'sleep 1000 & echo up; wait');
  await init.says('up');
  await supervisor.expect('spawned');
  supervisor.commit('kill', 1, 9);
  await supervisor.skip('exited', 'roots-gone');
  supervisor.commit('exit', 0);
  await supervisor.closed();
});

async function applied(supervisor: Supervisor, ...fields: readonly (string | number)[]): Promise<void> {
  supervisor.commit(...fields, 'exec', 1, 0, 1, 'true');
  await supervisor.expect('helper-ended');
}

/** A shell that waits for init; init’s own parent, unlike the test, may die. */
async function belowShell(bench: Bench): Promise<{ supervisor: Supervisor; parent: number }> {
  const shell = bench.launch(['sh', '-c', '"$@" & wait', 'sh', bench.sexton, '--', 'sleep', '1000']);
  const supervisor = await shell.supervisor();
  await supervisor.expect('spawned');
  return { supervisor, parent: shell.pid };
}
