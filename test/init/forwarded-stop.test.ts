import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { orders } from './orders.ts';
import { begin, onBench } from './scripted.ts';

const { SIGTERM, SIGUSR1, SIGKILL } = constants.signals;

/** Says which signals it gets; USR1 is the marker behind them. */
const TELLER = [
  'sh',
  '-c',
  "trap 'echo term' TERM; trap 'echo mark' USR1; echo up; while :; do sleep 60 & wait $!; done",
];

onBench('init forwards each stop request to a plain command, and reports each', async (bench) => {
  const { init, supervisor } = await begin(bench, ['--', ...TELLER]);
  for (const said of ['up\nterm\n', 'up\nterm\nterm\n', 'up\nterm\nterm\nterm\n']) {
    send(init.pid, 'SIGTERM');
    await init.says(said);
    assert.deepEqual((await supervisor.expect('ordered')).slice(2, 4), ['15', '15']);
  }
  supervisor.commit('kill', 1, SIGKILL);
  await supervisor.expect('exited');
});

onBench('K13 a late supervisor does not repeat a stop that init has forwarded', async (bench) => {
  const { init, supervisor } = await begin(bench, ['--', ...TELLER]);
  const times = (word: string): number => init.stdout().split(`${word}\n`).length - 1;
  supervisor.commit(...orders({ first: { [SIGTERM]: SIGTERM } }), 'kill', 1, SIGUSR1);
  await waitFor('the first mark', () => times('mark') === 1);
  send(init.pid, 'SIGTERM');
  const [, seq] = await supervisor.next();
  await waitFor('it is passed on', () => times('term') === 1);
  supervisor.commit('stop', 1, SIGTERM, 0, 0, 'kill', 1, SIGUSR1);
  await waitFor('the second mark', () => times('mark') === 2);
  supervisor.commit('ack', seq ?? '', 'stop', 1, SIGTERM, 0, 0, 'kill', 1, SIGUSR1);
  await waitFor('the last mark', () => times('mark') === 3);
  assert.equal(times('term'), 1);
  supervisor.commit('kill', 1, SIGKILL);
  await supervisor.skip('exited', 'roots-gone');
});

onBench('K13 a supervisor that has not heard of a forwarded stop does not let init forward another', async (bench) => {
  const { init, supervisor } = await begin(bench, ['--graveyard', '/graveyard', '--', ...TELLER]);
  const once = orders({ first: { [SIGTERM]: SIGTERM } });
  supervisor.commit(...once, 'kill', 1, SIGUSR1);
  await init.says('up\nmark\n');
  send(init.pid, 'SIGTERM');
  assert.deepEqual((await supervisor.expect('ordered')).slice(1, 4), ['first', '15', '15']);
  await init.says('up\nmark\nterm\n');
  supervisor.commit(...once, 'kill', 1, SIGUSR1);
  await init.says('up\nmark\nterm\nmark\n');
  send(init.pid, 'SIGTERM');
  assert.equal((await supervisor.expect('signal'))[0], '15');
  supervisor.commit('kill', 1, SIGKILL);
  await supervisor.skip('exited', 'roots-gone');
});
