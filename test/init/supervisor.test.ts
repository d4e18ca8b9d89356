import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { encodeFrame } from '../../src/runtime/host/frames.ts';
import { readOomKills } from '../../src/runtime/oom.ts';
import { hasEnded, send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { SANITIZED, STATIC } from './builds.ts';
import { AGENT, attend, begin, hasPassed, onBench, REFUSED } from './scripted.ts';

const { SIGUSR1, SIGUSR2 } = constants.signals;

/** A commit that would be noticed if it were applied. */
const PARTIAL = encodeFrame(['commit', 'ack', '1', 'memo', 'never', 'kill', '1', '9', 'exit', '3']);

onBench('hello has the version, an id of this start, and no memo yet', async (bench) => {
  const [version, hostId, startedAt, pid1, memo] = (await bench.start(REFUSED).supervisor()).hello;
  assert.deepEqual([version, pid1, memo], ['1', '0', '']);
  assert.match(hostId ?? '', /^[0-9a-f]{32}$/);
  assert.match(startedAt ?? '', /^[1-9][0-9]*$/);
});

onBench('P12 the next supervisor gets the unacknowledged events and the last memo', async (bench) => {
  const init = bench.start(['--', ...AGENT]);
  const first = await init.supervisor();
  const hello = first.hello;
  const spawned = await first.next();
  send(init.pid, SIGUSR1);
  const signal = await first.next();
  const memo = `grün ${'m'.repeat(65_000)}`;
  first.commit('ack', spawned[1] ?? '', 'memo', memo);
  send(init.pid, SIGUSR2);
  const later = await first.next();
  await first.kill();

  const second = await init.supervisor();
  assert.deepEqual(second.hello, [...hello.slice(0, 4), memo, ...hello.slice(5, -2), 'signal 9', '1']);
  assert.deepEqual(await second.next(), signal);
  assert.deepEqual(await second.next(), later);
  const cleared = encodeFrame(['commit', 'ack', later[1] ?? '', 'memo', '']);
  second.raw(cleared);
  await hasPassed(bench, second, cleared.length);
  init.write('exit 6\n');
  const exited = await second.next();
  assert.deepEqual([exited[0], exited[5], exited[6]], ['exited', '6', '']);
  await second.kill();

  const third = await init.supervisor();
  assert.deepEqual(third.hello, [...hello.slice(0, -2), 'signal 9', '1']);
  assert.deepEqual(await third.next(), exited);
  await third.expect('roots-gone');
  third.commit('exit', 6);
  assert.deepEqual(await init.ended, { code: 6, signal: null });
});

onBench('hello has the count of OOM kills from before an application that was started at once', async (bench) => {
  const kills = readOomKills();
  const init = bench.start(['--graveyard', '/graveyard', '--', ...AGENT]);
  assert.equal((await init.supervisor()).hello[6], kills === undefined ? '' : String(kills));
});

onBench('hello counts the supervisors that a KILL has ended since the last commit', async (bench) => {
  const init = bench.start(['--', ...AGENT]);
  const counts: (string | undefined)[] = [];
  for (let round = 0; round < 4; round++) {
    const supervisor = await init.supervisor();
    counts.push(supervisor.hello.at(-1));
    if (round === 2) {
      supervisor.commit('memo', '');
      await hasPassed(bench, supervisor, supervisor.sent);
    }
    await supervisor.kill();
  }
  assert.deepEqual(counts, ['0', '1', '2', '1']);
});

for (const length of [1, 3, 4, 5, 12, PARTIAL.length - 1]) {
  onBench(`P12 init does not apply a commit when only ${length} bytes of it arrived`, async (bench) => {
    const { init, supervisor } = await begin(bench);
    const whole = encodeFrame(['commit', 'memo', 'whole', 'exec', '1', '0', '1', 'true']);
    supervisor.raw(Buffer.concat([whole, PARTIAL.subarray(0, length)]));
    await hasPassed(bench, supervisor, whole.length + length);
    await supervisor.expect('helper-ended');
    await supervisor.kill();

    const next = await init.supervisor();
    assert.equal(next.hello[4], 'whole');
    assert.deepEqual([(await next.next())[1], (await next.next())[1]], ['1', '2'], 'nothing was acknowledged');
    init.write('echo alive\n');
    await init.says('alive');
  });
}

onBench('P12 init applies a whole commit although its supervisor died right after', async (bench) => {
  const { init, supervisor } = await begin(bench);
  // Stopped, init cannot read before the supervisor is dead.
  send(init.pid, 'SIGSTOP');
  const bytes = Buffer.concat([encodeFrame(['commit', 'memo', 'last words', 'ack', '1']), PARTIAL.subarray(0, 9)]);
  supervisor.raw(bytes);
  await hasPassed(bench, supervisor, bytes.length);
  send(supervisor.about.pid, 'SIGKILL');
  await waitFor('the supervisor is dead', () => hasEnded(supervisor.about.pid));
  send(init.pid, 'SIGCONT');
  const next = await init.supervisor();
  assert.deepEqual(next.hello.slice(4, 6), ['last words', '']);
  assert.deepEqual(next.hello.slice(-2), ['signal 9', '1']);
  const [name, seq] = await next.next();
  assert.deepEqual([name, seq], ['signal', '2']);
});

onBench('P12 the application does not notice the deaths of its supervisors', async (bench) => {
  const init = bench.start(['--', ...AGENT]);
  let pid: string | undefined;
  for (let round = 0; round < 5; round++) {
    const supervisor = await init.supervisor();
    assert.equal(supervisor.hello[4], round === 0 ? '' : String(round - 1));
    const [, spawned] = await supervisor.expect('spawned');
    pid ??= spawned;
    assert.equal(spawned, pid);
    init.write(`echo round ${round}\n`);
    await init.says(`round ${round}`);
    supervisor.commit('memo', String(round));
    await hasPassed(bench, supervisor, supervisor.sent);
    await supervisor.kill();
  }
});

onBench('a repeated spawn does nothing', async (bench) => {
  const { init, supervisor } = await begin(bench);
  init.write('exit 4\n');
  assert.equal((await supervisor.expect('exited'))[2], '4');
  await supervisor.expect('roots-gone');
  supervisor.commit(...[1, 3, 2, 3].flatMap((id) => ['spawn', id, 0, 0, 1, 'true']));
  assert.equal((await supervisor.expect('spawned'))[0], '3');
  assert.equal((await supervisor.expect('exited'))[0], '3');
  assert.deepEqual(await supervisor.expect('roots-gone'), ['3']);
});

onBench('nothing is started beside a command that lives', async (bench) => {
  const { supervisor } = await begin(bench);
  supervisor.commit('spawn', 2, 0, 0, 1, 'true');
  assert.deepEqual(await supervisor.expect('spawn-failed'), ['2', 'EAGAIN']);
});

onBench('init reads frames in pieces, and many at once', async (bench) => {
  const { supervisor } = await attend(bench);
  const bytes = Buffer.concat(
    Array.from({ length: 16 }, (_, index) => encodeFrame(['commit', 'exec', String(index + 1), '0', '1', 'true'])),
  );
  for (const byte of bytes.subarray(0, 60)) supervisor.raw(Buffer.from([byte]));
  supervisor.raw(bytes.subarray(60));
  const ids = new Set<string>();
  while (ids.size < 16) {
    const [name, , , id = ''] = await supervisor.next();
    if (name === 'helper-ended') ids.add(id);
  }
});

onBench('init replaces a supervisor that closes its connection and lives on', async (bench) => {
  const { init, supervisor } = await attend(bench, ['--', ...AGENT]);
  supervisor.end();
  await waitFor('it is dead', () => hasEnded(supervisor.about.pid));
  await init.supervisor();
});

onBench('init replaces a supervisor that aborts, although it ignores ABRT', async (bench) => {
  const { init, supervisor } = await attend(bench, ['--', ...AGENT]);
  supervisor.abort();
  await supervisor.closed();
  await init.supervisor();
});

onBench(
  'init replaces a supervisor that acknowledges nothing',
  async (bench) => {
    const init = bench.start(['--', ...AGENT]);
    const first = await init.supervisor();
    await first.expect('spawned');
    // It acknowledges nothing, as one that is stopped or hangs.
    const second = await init.supervisor();
    await second.expect('spawned');
    assert.ok(hasEnded(first.about.pid), 'the first one was ended');
    second.commit('exit', 9);
    assert.deepEqual(await init.ended, { code: 9, signal: null });
  },
  [STATIC, SANITIZED],
);
