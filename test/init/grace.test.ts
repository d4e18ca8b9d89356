/** What init does by itself with a stop request that the supervisor has not acknowledged. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { constants } from 'node:os';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { type OrderRows, orders } from './orders.ts';
import {
  AGENT,
  attend,
  type Bench,
  begin,
  eachBuild,
  hasPassed,
  layBench,
  loseSupervisor,
  onBench,
} from './scripted.ts';

const { SIGTERM, SIGUSR1, SIGKILL, SIGCONT } = constants.signals;
const KILLED = ['1', 'deadline', '0', String(SIGKILL)];

/** Says that it was asked, and goes on. */
const DEAF = [
  'sh',
  '-c',
  'trap "echo term" TERM; trap "echo usr1" USR1; echo up; while :; do sleep 60 & wait $!; done',
] as const;
/** A member that is not alone waits for its supervisor. */
const IN_A_POD = ['--graveyard', '/graveyard'] as const;

onBench('A3 init stops the command in time when the supervisor acknowledges nothing', async (bench) => {
  const { init, supervisor } = await begin(bench, [...IN_A_POD, '--', ...DEAF]);
  await passed(supervisor, bench, 'ack', 1, ...orders({ unheard: [200, 0], grace: 2_000 }));
  send(init.pid, 'SIGTERM');
  assert.equal((await supervisor.expect('signal'))[0], String(SIGTERM));
  await init.says('term');
  assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), ['1', 'unheard', '0', String(SIGTERM)]);
  // No supervisor has acted for 2 s by then, so init waits for none until the platform's KILL.
  assert.deepEqual(await init.ended, { code: 128 + SIGKILL, signal: null });
  assert.equal(init.stdout(), 'up\nterm\n', 'it was asked once');
});

onBench('init continues an acknowledged stop by its orders when the supervisor is lost', async (bench) => {
  const { init, supervisor } = await stopping(bench, { lost: [monotonicMs() + 600, SIGUSR1] });
  renameSync(bench.path('bin/node'), bench.path('bin/away'));
  await supervisor.kill();
  await init.says('usr1');
  renameSync(bench.path('bin/away'), bench.path('bin/node'));
  const next = await init.supervisor();
  assert.deepEqual((await next.expect('ordered')).slice(0, 4), ['1', 'lost', '0', String(SIGUSR1)]);
  // It would have sent the same.
  next.commit('stop', 1, SIGUSR1, 0, 0, 'exit', 0);
  await init.ended;
  assert.equal(init.stdout(), 'up\nusr1\n');
});

onBench('init leaves an acknowledged stop to a supervisor that works', async (bench) => {
  const { init, supervisor } = await stopping(bench, { lost: [1, SIGUSR1] });
  // Longer than it takes to give a lost one up, half of what is left until then.
  const killAtMs = monotonicMs() + 2_000;
  supervisor.commit(...orders({ lost: [1, SIGUSR1], deadline: killAtMs }));
  await waitFor('more than half of that is over', () => monotonicMs() > killAtMs - 500);
  supervisor.commit('kill', 1, SIGKILL);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', String(SIGKILL), '0']);
  assert.equal(init.stdout(), 'up\n');
});

onBench('init sends the stop signal before a KILL that is overdue, also while the supervisor works', async (bench) => {
  const { supervisor } = await stopping(bench, { lost: [1, SIGUSR1] });
  // As after a pause of the machine that took longer than the grace period.
  supervisor.commit(...orders({ lost: [1, SIGUSR1], deadline: 1 }));
  assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), ['1', 'lost', '0', String(SIGUSR1)]);
  assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), KILLED);
});

onBench('init continues an acknowledged stop before the KILL when the supervisor hangs', async (bench) => {
  const { init, supervisor } = await stopping(bench, { lost: [1, SIGUSR1] });
  const now = monotonicMs();
  supervisor.commit(...orders({ lost: [1, SIGUSR1], deadline: now + 3_000, leave: now + 3_000 }), 'due', now + 1);
  await init.says('usr1');
  assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), ['1', 'lost', '0', String(SIGUSR1)]);
  assert.deepEqual(await init.ended, { code: 128 + SIGKILL, signal: null });
});

onBench('init leaves the end of a stop that is overdue to a supervisor that acts again', async (bench) => {
  const { supervisor, init } = await stopping(bench, { lost: [monotonicMs() + 60_000, SIGUSR1] });
  // As after a pause of the whole container: all of the grace period is over, and so is the time of the next commit.
  await passed(
    supervisor,
    bench,
    ...orders({ lost: [monotonicMs() + 60_000, SIGUSR1], leave: 1 }),
    'due',
    1,
    'kill',
    1,
    SIGKILL,
  );
  await supervisor.expect('exited');
  supervisor.commit('exit', 7);
  assert.deepEqual(await init.ended, { code: 7, signal: null });
});

onBench('init leaves before the platform KILLs while each supervisor dies after its first commit', async (bench) => {
  const { init, supervisor } = await stopping(bench, { lost: [monotonicMs() + 60_000, SIGUSR1] });
  const endMs = monotonicMs() + 4_000;
  supervisor.commit(...orders({ leave: endMs }), 'kill', 1, SIGKILL);
  await supervisor.expect('exited');
  let hasLeft = false;
  const ended = init.ended.then(({ code }) => {
    hasLeft = true;
    return { code, atMs: monotonicMs() };
  });
  for (let life: Supervisor | undefined = supervisor; life !== undefined; ) {
    await life.kill();
    life = await Promise.race([init.supervisor(), ended.then(() => undefined)]);
    life?.commit('memo', 'x');
    // Init may leave just when this one has connected.
    if (life !== undefined) await hasPassed(bench, life, life.sent, () => hasLeft);
  }
  const { code, atMs } = await ended;
  assert.equal(code, 128 + SIGKILL);
  assert.ok(atMs < endMs, `${atMs - endMs} ms late`);
});

onBench('init leaves a quarter of the grace period early, and with 0 where the row says so', async (bench) => {
  const { init, supervisor } = await begin(bench, [...IN_A_POD, '--', ...AGENT]);
  const endMs = monotonicMs() + 8_000;
  const rows = { lost: [endMs, SIGUSR1], grace: 8_000, leave: endMs, leavesWithZero: true } as const;
  await passed(supervisor, bench, 'ack', 1, ...orders(rows));
  // It records nothing.
  init.write('exit 3\n');
  await supervisor.expect('exited');
  assert.deepEqual(await init.ended, { code: 0, signal: null });
  const leftMs = endMs - monotonicMs();
  assert.ok(leftMs > 1_000 && leftMs <= 2_000, `${leftMs} ms before the platform`);
});

onBench('init leaves half of what is left after a late end to a supervisor whose predecessor died', async (bench) => {
  const { init, supervisor } = await stopping(bench, { lost: [monotonicMs() + 60_000, SIGUSR1] });
  const endMs = monotonicMs() + 4_000;
  await passed(supervisor, bench, ...orders({ leave: endMs }));
  await supervisor.kill();
  const next = await init.supervisor();
  await passed(next, bench, 'memo', 'x');
  await waitFor('the grace period is nearly over', () => monotonicMs() > endMs - 290);
  const killedMs = monotonicMs();
  next.commit('kill', 1, SIGKILL);
  assert.deepEqual(await init.ended, { code: 128 + SIGKILL, signal: null });
  const leftMs = monotonicMs();
  assert.ok(
    leftMs >= (killedMs + endMs) / 2,
    `it left ${endMs - leftMs} ms before the end, after ${leftMs - killedMs}`,
  );
});

onBench('init alone continues its own stop with one stop signal and the KILL', async (bench) => {
  const { init, supervisor } = await begin(bench, [...IN_A_POD, '--', ...DEAF]);
  await passed(supervisor, bench, 'ack', 1, ...orders({ unheard: [1, 0], grace: 4_000 }));
  send(init.pid, 'SIGTERM');
  await init.says('term');
  await loseSupervisor({ bench, init, supervisor });
  assert.deepEqual(await init.ended, { code: 128 + SIGKILL, signal: null });
  assert.equal(init.stdout(), 'up\nterm\n');
});

onBench('A3 the supervisor decides when the KILL of an acknowledged stop comes', async (bench) => {
  const { init, supervisor } = await begin(bench, [...IN_A_POD, '--', ...DEAF]);
  supervisor.commit('ack', 1, ...orders({ grace: 600 }));
  send(init.pid, 'SIGTERM');
  const [, seq = '', at = ''] = await supervisor.next();
  // The grace period counts for requests that are not acknowledged.
  supervisor.ack(seq);
  await waitFor('that time is over', () => monotonicMs() > Number(at) + 700);
  send(init.pid, SIGUSR1);
  const [name, later = ''] = await supervisor.next();
  assert.equal(name, 'signal');
  // Later than declared, then at once.
  supervisor.commit('ack', later, ...orders({ deadline: monotonicMs() + 600_000 }));
  supervisor.commit(...orders({ deadline: 1 }));
  assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), KILLED);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', String(SIGKILL), '0']);
});

eachBuild('A4 init forwards stop requests at once where nothing has to be waited for', async (t, build) => {
  for (const words of [[], ['--drain', '0s'], ['--name', 'web', '--grace-period', '60s']]) {
    const bench = await layBench(t, build);
    const release = bench.holdSupervisor();
    const init = bench.start([...words, '--', ...DEAF]);
    await init.says('up');
    send(init.pid, 'SIGTERM');
    await init.says('term');
    release();
    const supervisor = await init.supervisor();
    await supervisor.expect('spawned');
    const term = String(SIGTERM);
    assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), ['1', 'first', term, term]);
    send(init.pid, 'SIGTERM');
    assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), ['1', 'each', term, term]);
    supervisor.commit('exit', 0);
    await init.ended;
  }
});

eachBuild(
  'A4 init leaves the first stop request to the supervisor where peers or a drain may matter',
  async (t, build) => {
    for (const words of [IN_A_POD, ['--drain', '5s']]) {
      const bench = await layBench(t, build);
      const release = bench.holdSupervisor();
      const init = bench.start([...words, '--', ...DEAF]);
      await init.says('up');
      send(init.pid, 'SIGTERM');
      release();
      const supervisor = await init.supervisor();
      await supervisor.expect('spawned');
      assert.equal((await supervisor.expect('signal'))[0], String(SIGTERM));
      supervisor.commit('exit', 0);
      await init.ended;
    }
  },
);

eachBuild('A4 init keeps the declared grace period before there is a supervisor', async (t, build) => {
  const ways = [
    { words: ['--grace-period', '200ms'], env: { SEXTON_GRACE_PERIOD: '90m' }, told: 'ordered' },
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
    await supervisor.expect('spawned');
    assert.equal((await supervisor.next())[0], told);
    // A request that was not passed on at once is sent before the KILL.
    if (told === 'signal') await supervisor.expect('ordered');
    assert.deepEqual((await supervisor.expect('ordered')).slice(0, 4), ['1', 'grace', '0', String(SIGKILL)]);
    await supervisor.expect('exited');
    supervisor.commit('exit', 0);
    await init.ended;
  }
});

onBench('A5, K03 a pending stop request comes before a spawn that init reads', async (bench) => {
  const { init, supervisor } = await attend(bench);
  // While init stands still both arrive, the order to start first.
  send(init.pid, 'SIGSTOP');
  await passed(supervisor, bench, 'spawn', 1, 0, 0, AGENT.length, ...AGENT);
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
  supervisor.commit('spawn', 1, 0, 0, AGENT.length, ...AGENT);
  assert.deepEqual(await supervisor.expect('spawn-failed'), ['1', 'ECANCELED']);
  supervisor.commit('ack', seqs[SIGTERM] ?? '', 'spawn', 1, 0, 0, AGENT.length, ...AGENT);
  assert.equal((await supervisor.expect('spawned'))[0], '1');
  await init.says('up');
});

/** A command whose stop the supervisor has acknowledged, with these orders. */
async function stopping(bench: Bench, rows: OrderRows) {
  const { init, supervisor } = await begin(bench, [...IN_A_POD, '--', ...DEAF]);
  send(init.pid, 'SIGTERM');
  const [, seq = ''] = await supervisor.next();
  await passed(supervisor, bench, 'ack', seq, ...orders(rows));
  return { init, supervisor };
}

/** Commits, and waits until init has it. */
async function passed(supervisor: Supervisor, bench: Bench, ...fields: readonly (string | number)[]): Promise<void> {
  supervisor.commit(...fields);
  await hasPassed(bench, supervisor, supervisor.sent);
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
