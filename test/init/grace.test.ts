/** What init does by itself with a stop request that the supervisor has not acknowledged. */
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { AGENT, eachBuild, hasPassed, layBench } from './scripted.ts';

const { SIGTERM, SIGINT, SIGUSR1, SIGKILL, SIGCONT } = constants.signals;

/** Says that it was asked, and goes on. */
const DEAF = ['sh', '-c', 'trap "echo term" TERM; echo up; while :; do sleep 60 & wait $!; done'] as const;
/** A member that is not alone waits for its supervisor. */
const IN_A_POD = ['--graveyard', '/graveyard'] as const;

eachBuild('A3 init keeps the declared grace period while its supervisor acknowledges nothing', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start([...IN_A_POD, '--', ...DEAF]);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  await supervisor.expect('spawned');
  await init.says('up');
  const [, pid] = await passed(supervisor, bench, 'ack', 1, 'fallback', 2, SIGTERM, SIGINT, 0, 300);
  send(init.pid, 'SIGTERM');
  assert.equal((await supervisor.expect('signal'))[0], String(SIGTERM));
  assert.deepEqual(await supervisor.expect('overdue'), ['1']);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['signal', String(SIGKILL), '0']);
  assert.ok(!init.stdout().includes('term'), 'it was never asked, which is for the supervisor');
  // The next supervisor is told.
  await supervisor.kill();
  const next = await init.supervisor();
  await next.expect('hello');
  await next.expect('signal');
  assert.deepEqual(await next.expect('overdue'), ['1']);
  assert.equal(pid, supervisor.about.pid);
});

eachBuild('A3 once the supervisor has acknowledged a stop, the KILL comes when it says, or never', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start([...IN_A_POD, '--', ...DEAF]);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  await supervisor.expect('spawned');
  await init.says('up');
  supervisor.commit('ack', 1, 'fallback', 2, SIGTERM, SIGINT, 0, 600);
  send(init.pid, 'SIGTERM');
  const [, seq = '', at = ''] = await supervisor.next();
  // The fallback has no stop signals any more.
  supervisor.ack(seq);
  await waitFor('that time is over', () => monotonicMs() > Number(at) + 700);
  send(init.pid, SIGUSR1);
  const [name, later = ''] = await supervisor.next();
  assert.equal(name, 'signal');
  // Later than declared, then at once.
  supervisor.commit('ack', later, 'kill-at', monotonicMs() + 600_000);
  supervisor.commit('kill-at', 1);
  assert.deepEqual(await supervisor.expect('overdue'), ['1']);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['signal', String(SIGKILL), '0']);
});

eachBuild(
  'A4 stop requests reach a command that nothing waits for before there is a supervisor, and go on to reach it',
  async (t, build) => {
    for (const words of [[], ['--drain', '0s'], ['--name', 'web', '--grace-period', '60s']]) {
      const bench = await layBench(t, build);
      const release = bench.holdSupervisor();
      const init = bench.start([...words, '--', ...DEAF]);
      await init.says('up');
      send(init.pid, 'SIGTERM');
      await init.says('term');
      release();
      const supervisor = await init.supervisor();
      await supervisor.expect('hello');
      await supervisor.expect('spawned');
      assert.deepEqual((await supervisor.expect('forwarded')).slice(0, 2), [String(SIGTERM), String(SIGTERM)]);
      send(init.pid, 'SIGTERM');
      assert.equal((await supervisor.expect('forwarded'))[0], String(SIGTERM));
      supervisor.commit('exit', 0);
      await init.ended;
    }
  },
);

eachBuild(
  'A4 where peers or a drain may have to be waited for, the first stop request is left to the supervisor',
  async (t, build) => {
    for (const words of [IN_A_POD, ['--drain', '5s']]) {
      const bench = await layBench(t, build);
      const release = bench.holdSupervisor();
      const init = bench.start([...words, '--', ...DEAF]);
      await init.says('up');
      send(init.pid, 'SIGTERM');
      release();
      const supervisor = await init.supervisor();
      await supervisor.expect('hello');
      await supervisor.expect('spawned');
      assert.equal((await supervisor.expect('signal'))[0], String(SIGTERM));
      supervisor.commit('exit', 0);
      await init.ended;
    }
  },
);

eachBuild('A4 the declared grace period is kept before there is a supervisor', async (t, build) => {
  const ways = [
    { words: ['--grace-period', '200ms'], env: { SEXTON_GRACE_PERIOD: '90m' }, told: 'forwarded' },
    { words: [...IN_A_POD], env: { SEXTON_GRACE_PERIOD: '000200ms' }, told: 'signal' },
  ];
  for (const { words, env, told } of ways) {
    const bench = await layBench(t, build);
    const release = bench.holdSupervisor();
    const init = bench.start([...words, '--', 'sh', '-c', 'trap "" TERM; echo $$; read l </dev/zero'], { env });
    await init.says('\n');
    send(init.pid, 'SIGTERM');
    await waitFor('it was KILLed', () => !send(Number(init.stdout()), 0));
    release();
    const supervisor = await init.supervisor();
    await supervisor.expect('hello');
    await supervisor.expect('spawned');
    assert.equal((await supervisor.next())[0], told);
    assert.deepEqual(await supervisor.expect('overdue'), ['1']);
    await supervisor.expect('exited');
    supervisor.commit('exit', 0);
    await init.ended;
  }
});

eachBuild('A5, K03 a stop request that is pending when init reads a spawn comes first', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start(['--frobnicate']);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  // While init stands still both arrive, the order to start first.
  send(init.pid, 'SIGSTOP');
  await passed(supervisor, bench, 'spawn', 1, 0, AGENT.length, ...AGENT);
  send(init.pid, 'SIGTERM');
  send(init.pid, 'SIGCONT');
  const seqs: Record<string, string> = {};
  for (const signal of [SIGTERM, SIGCONT]) {
    const [name, seq = '', , number] = await supervisor.next();
    assert.deepEqual([name, number], ['signal', String(signal)]);
    seqs[signal] = seq;
  }
  assert.deepEqual(await supervisor.expect('spawn-failed'), ['1', 'ECANCELED']);
  // Still not acknowledged; then it is, and the id is as good as new.
  supervisor.commit('spawn', 1, 0, AGENT.length, ...AGENT);
  assert.deepEqual(await supervisor.expect('spawn-failed'), ['1', 'ECANCELED']);
  supervisor.commit('ack', seqs[SIGTERM] ?? '', 'spawn', 1, 0, AGENT.length, ...AGENT);
  assert.equal((await supervisor.expect('spawned'))[0], '1');
  await init.says('up');
});

/** Commits, and waits until init has it. */
async function passed(
  supervisor: Awaited<ReturnType<ReturnType<Awaited<ReturnType<typeof layBench>>['start']>['supervisor']>>,
  bench: Awaited<ReturnType<typeof layBench>>,
  ...fields: readonly (string | number)[]
): Promise<[boolean, number]> {
  supervisor.commit(...fields);
  await hasPassed(bench, supervisor, supervisor.sent);
  return [true, supervisor.about.pid];
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
