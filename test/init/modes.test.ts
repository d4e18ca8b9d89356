/** What a commit can switch on for good, as far as the contract of hosts cannot show it. */
import assert from 'node:assert/strict';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { orders } from './orders.ts';
import { onBench, shell } from './scripted.ts';

onBench('C04 signal-to first: the first process gets signals, and then what it leaves', async (bench) => {
  const stay = 'while :; do sleep 1000 & wait $!; done';
  const second = `sh -c 'trap "echo second got TERM; exit" TERM; echo up; ${stay}' &`;
  const init = bench.start(shell(`${second} trap "exit 7" TERM; ${stay}`));
  const supervisor = await init.supervisor();
  await init.says('up');
  await supervisor.expect('spawned');
  await applied(supervisor, 'signal-to', 1, 1, ...orders({ stops: [15], unheard: [1, 0] }));
  await supervisor.kill();
  for (let start = 1; start <= 5; start++) await (await init.supervisor()).kill();
  await waitFor('it goes on alone', () => init.stderr().includes('goes on without it'));
  assert.ok(send(init.pid, 'SIGTERM'));
  assert.deepEqual(await init.ended, { code: 7, signal: null });
  assert.equal(init.stdout(), 'up\nsecond got TERM\n');
});

onBench('with signal-to first KILL still reaches everything', async (bench) => {
  const init = bench.start(shell('sleep 1000 & echo up; wait'));
  const supervisor = await init.supervisor();
  await init.says('up');
  await supervisor.expect('spawned');
  await applied(supervisor, 'signal-to', 1, 1);
  supervisor.commit('kill', 1, 9);
  await supervisor.skip('exited', 'roots-gone');
  supervisor.commit('exit', 0);
  await supervisor.closed();
});

async function applied(supervisor: Supervisor, ...fields: readonly (string | number)[]): Promise<void> {
  supervisor.commit(...fields, 'exec', 1, 0, 1, 'true');
  await supervisor.expect('helper-ended');
}
