/** What a commit can switch on for good, as far as the contract of hosts cannot show it. */
import assert from 'node:assert/strict';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { orders } from './orders.ts';
import { attend, onBench, TO_FIRST } from './scripted.ts';

onBench('C04 signal-to first: the first process gets signals, and then what it leaves', async (bench) => {
  const stay = 'while :; do sleep 1000 & wait $!; done';
  const second = `sh -c 'trap "echo second got TERM; exit" TERM; echo up; ${stay}' &`;
  const { init, supervisor } = await attend(bench);
  const words = ['sh', '-c', `${second} trap "exit 7" TERM; ${stay}`];
  supervisor.commit('spawn', 1, TO_FIRST, 0, words.length, ...words);
  await init.says('up');
  await supervisor.expect('spawned');
  await applied(supervisor, ...orders({ stops: [15], unheard: [1, 0] }));
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
