import assert from 'node:assert/strict';
import { argumentsOf, childrenOf, stateOf } from '../helpers/process.ts';
import { build } from '../helpers/program.ts';
import { waitFor } from '../helpers/wait.ts';
import { AGENT, attend, begin, canUnshare, onBench, PID_NAMESPACE, shell } from './scripted.ts';

const COUNT = 10_000;

onBench(`P01 PID 1 reaps ${COUNT} orphans, and reports none to the supervisor`, async (bench, t) => {
  if (!canUnshare()) return t.skip('needs PID namespaces');
  const { init, supervisor } = await attend(bench, ['--', build('init/orphans.c'), String(COUNT)], {
    launcher: PID_NAMESPACE,
  });
  assert.equal(supervisor.hello[3], '1', 'it is PID 1');
  const [spawned, seq = '', , ...child] = await supervisor.next();
  assert.deepEqual([spawned, ...child], ['spawned', '1', '2']);
  // A supervisor that acknowledges nothing for 10 s is taken to hang, and so many orphans may take longer.
  supervisor.ack(seq);
  await init.says('made');
  const [pid = 0] = childrenOf(init.pid);
  await waitFor('only the application and the supervisor are left', () => childrenOf(pid).length === 2);
  init.process.stdin?.end();
  assert.equal((await supervisor.expect('exited'))[2], '0');
  await supervisor.expect('roots-gone');
  supervisor.commit('exit', 5);
  assert.deepEqual(await init.ended, { code: 5, signal: null });
});

onBench('init reaps a child that had ended before init was there', async (bench) => {
  const init = bench.start(['--', ...AGENT], {
    launcher: [build('init/zombie.c')],
    env: { SEXTON_LOG_LEVEL: undefined },
  });
  await init.says('up');
  await waitFor('only the application is left', () => childrenOf(init.pid).length === 1);
});

onBench('the exit of PID 1 ends the whole namespace with its code', async (bench, t) => {
  if (!canUnshare()) return t.skip('needs PID namespaces');
  const init = bench.start(shell('setsid sleep 600 & sleep 600 & echo up; wait'), { launcher: PID_NAMESPACE });
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  await init.says('up');
  supervisor.commit('exit', 17);
  assert.deepEqual(await init.ended, { code: 17, signal: null });
  await supervisor.closed();
});

onBench('init adopts and reaps orphans silently where it is not PID 1', async (bench) => {
  const { init, supervisor, pid: application } = await begin(bench);
  init.write('(setsid sh -c "echo born; read l </dev/zero" &)\n');
  await init.says('born');
  const orphan = await waitFor('it is adopted', () =>
    childrenOf(init.pid).find((pid) => pid !== Number(application) && argumentsOf(pid)[0] === 'sh'),
  );
  process.kill(orphan, 'SIGKILL');
  await waitFor('it is reaped', () => stateOf(orphan) === undefined);
  init.write('exit 0\n');
  await supervisor.expect('exited');
});
