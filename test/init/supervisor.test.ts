import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { encodeFrame } from '../../src/runtime/host/frames.ts';
import { childrenOf, hasEnded, send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { AGENT, eachBuild, hasPassed, layBench } from './scripted.ts';

const { SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGKILL } = constants.signals;

/** A commit that would be noticed if it were applied. */
const PARTIAL = encodeFrame(['commit', 'ack', '1', 'memo', 'never', 'kill', '1', '9', 'exit', '3']);

eachBuild(
  'hello tells the version, the id of this start, whether init is PID 1, and that there is no memo yet',
  async (t, build) => {
    const bench = await layBench(t, build);
    const init = bench.start(['--frobnicate']);
    const [version, hostId, startedAt, pid1, hasMemo, memo] = await (await init.supervisor()).expect('hello');
    assert.deepEqual([version, pid1, hasMemo, memo], ['1', '0', '0', '']);
    assert.match(hostId ?? '', /^[0-9a-f]{32}$/);
    assert.match(startedAt ?? '', /^[1-9][0-9]*$/);
  },
);

eachBuild(
  'P12 what is not acknowledged is told again to the next supervisor, with the memo of the last',
  async (t, build) => {
    const bench = await layBench(t, build);
    const init = bench.start(['--', ...AGENT]);
    const first = await init.supervisor();
    const hello = await first.expect('hello');
    const spawned = await first.next();
    send(init.pid, SIGUSR1);
    const signal = await first.next();
    const memo = `grün ${'m'.repeat(65_000)}`;
    first.commit('ack', spawned[1] ?? '', 'memo', memo);
    send(init.pid, SIGUSR2);
    const later = await first.next();
    await first.kill();

    const second = await init.supervisor();
    assert.deepEqual(await second.expect('hello'), [...hello.slice(0, 4), '1', memo]);
    assert.deepEqual(await second.next(), signal);
    assert.deepEqual(await second.next(), later);
    second.commit('ack', later[1] ?? '', 'memo', '');
    init.write('exit 6\n');
    const exited = await second.next();
    assert.deepEqual([exited[0], exited[5], exited[6]], ['exited', 'code', '6']);
    await second.kill();

    const third = await init.supervisor();
    assert.deepEqual((await third.expect('hello')).slice(4), ['1', '']);
    assert.deepEqual(await third.next(), exited);
    await third.expect('gone');
    third.commit('exit', 6);
    assert.deepEqual(await init.ended, { code: 6, signal: null });
  },
);

for (const length of [1, 3, 4, 5, 12, PARTIAL.length - 1]) {
  eachBuild(`P12 a commit of which only ${length} bytes arrived is not applied`, async (t, build) => {
    const bench = await layBench(t, build);
    const init = bench.start(['--', ...AGENT]);
    const supervisor = await init.supervisor();
    await supervisor.expect('hello');
    await supervisor.expect('spawned');
    const whole = encodeFrame(['commit', 'memo', 'whole', 'spawn', '2', '0', '1', 'true']);
    supervisor.raw(Buffer.concat([whole, PARTIAL.subarray(0, length)]));
    await hasPassed(bench, supervisor, whole.length + length);
    await supervisor.expect('spawned');
    await supervisor.kill();

    const next = await init.supervisor();
    assert.equal((await next.expect('hello'))[5], 'whole');
    assert.deepEqual([(await next.next())[1], (await next.next())[1]], ['1', '2'], 'nothing was acknowledged');
    init.write('echo alive\n');
    await init.says('alive');
  });
}

eachBuild(
  'P12 a commit that arrived whole is applied although the supervisor died right after it',
  async (t, build) => {
    const bench = await layBench(t, build);
    const init = bench.start(['--', ...AGENT]);
    const supervisor = await init.supervisor();
    await supervisor.expect('hello');
    await supervisor.expect('spawned');
    // Stopped, init cannot read before the supervisor is dead.
    send(init.pid, 'SIGSTOP');
    const bytes = Buffer.concat([encodeFrame(['commit', 'memo', 'last words', 'ack', '1']), PARTIAL.subarray(0, 9)]);
    supervisor.raw(bytes);
    await hasPassed(bench, supervisor, bytes.length);
    send(supervisor.about.pid, 'SIGKILL');
    await waitFor('the supervisor is dead', () => hasEnded(supervisor.about.pid));
    send(init.pid, 'SIGCONT');
    const next = await init.supervisor();
    assert.deepEqual((await next.expect('hello')).slice(4), ['1', 'last words']);
    const [name, seq] = await next.next();
    assert.deepEqual([name, seq], ['signal', '2']);
  },
);

eachBuild('P12 the application does not notice that its supervisor dies again and again', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start(['--', ...AGENT]);
  let pid: string | undefined;
  for (let round = 0; round < 5; round++) {
    const supervisor = await init.supervisor();
    assert.equal((await supervisor.expect('hello'))[5], round === 0 ? '' : String(round - 1));
    const [, spawned] = await supervisor.expect('spawned');
    pid ??= spawned;
    assert.equal(spawned, pid);
    init.write(`echo round ${round}\n`);
    await init.says(`round ${round}`);
    const commit = encodeFrame(['commit', 'memo', String(round)]);
    supervisor.raw(commit);
    await hasPassed(bench, supervisor, commit.length);
    await supervisor.kill();
  }
});

const MALFORMED: Readonly<Record<string, Buffer>> = {
  'a frame of no bytes': Buffer.from([0, 0, 0, 0]),
  'a frame of more than 1,048,576 bytes': Buffer.from([1, 0, 16, 0]),
  'a frame of 4 GiB': Buffer.from([255, 255, 255, 255]),
  'no NUL at the end': Buffer.from([6, 0, 0, 0, ...Buffer.from('commit')]),
  'an unknown frame': encodeFrame(['comit']),
  'an unknown operation': encodeFrame(['commit', 'dance']),
  'an operation cut short': encodeFrame(['commit', 'kill', '1']),
  'a number that is none': encodeFrame(['commit', 'exit', '1x']),
  'an empty number': encodeFrame(['commit', 'exit', '']),
  'a sign': encodeFrame(['commit', 'exit', '-1']),
  'a leading zero': encodeFrame(['commit', 'exit', '07']),
  'a number too large for 64 bits': encodeFrame(['commit', 'ack', '99999999999999999999']),
  'an exit code beyond 255': encodeFrame(['commit', 'exit', '256']),
  'signal 0': encodeFrame(['commit', 'kill', '1', '0']),
  'signal 65': encodeFrame(['commit', 'kill', '1', '65']),
  'an acknowledgement of what was never sent': encodeFrame(['commit', 'ack', '1000']),
  'an index beyond the command line': encodeFrame(['commit', 'spawn', '2', '99', '0']),
  'an index and words': encodeFrame(['commit', 'spawn', '2', '1', '1', 'true']),
  'neither index nor words': encodeFrame(['commit', 'spawn', '2', '0', '0']),
  'fewer words than announced': encodeFrame(['commit', 'spawn', '2', '0', '3', 'true']),
  'a memo beyond 65,536 bytes': encodeFrame(['commit', 'memo', 'm'.repeat(65_537)]),
  'a socket path beyond 107 bytes': encodeFrame(['commit', 'listen', `/${'p'.repeat(107)}`]),
  'an empty socket path': encodeFrame(['commit', 'listen', '']),
  'more pairs than signals': encodeFrame(['commit', 'forward', '1', '65', ...Array<string>(130).fill('1')]),
  'a grace below -1': encodeFrame(['commit', 'fallback', '0', '0', '-2']),
  'one good operation and one bad': encodeFrame(['commit', 'memo', 'applied', 'kill', '1', '9', 'exit', '300']),
};

eachBuild(
  'a frame that is not in the protocol ends that supervisor, is not applied in any part, and another is started',
  async (t, build) => {
    const bench = await layBench(t, build);
    for (const [what, bytes] of Object.entries(MALFORMED)) {
      // The next start of a supervisor that dies young waits ever longer, so each fault gets an init of its own.
      const own = bench.start(['--', ...AGENT]);
      const supervisor = await own.supervisor();
      await supervisor.expect('hello');
      const [, pid] = await supervisor.expect('spawned');
      supervisor.raw(bytes);
      await supervisor.closed();
      await waitFor(`${what}: it is ended`, () => hasEnded(supervisor.about.pid));
      const next = await own.supervisor();
      assert.equal((await next.expect('hello'))[4], '0', what);
      assert.equal((await next.expect('spawned'))[1], pid, what);
      own.write('exit 0\n');
      assert.equal((await next.expect('exited'))[2], 'code', what);
      await next.expect('gone');
      next.commit('exit', 0);
      assert.equal((await own.ended).code, 0, what);
      assert.match(own.stderr(), /not in the protocol/);
    }
  },
);

eachBuild('a spawn of a child that was started already does nothing', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start(['--', ...AGENT]);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  await supervisor.expect('spawned');
  supervisor.commit(
    'spawn',
    1,
    0,
    1,
    'true',
    'spawn',
    3,
    0,
    1,
    'true',
    'spawn',
    2,
    0,
    1,
    'true',
    'spawn',
    3,
    0,
    1,
    'true',
  );
  assert.equal((await supervisor.expect('spawned'))[0], '3');
  assert.equal((await supervisor.expect('exited'))[0], '3');
  assert.deepEqual(await supervisor.expect('gone'), ['3']);
  init.write('exit 4\n');
  assert.equal((await supervisor.expect('exited'))[3], '4');
});

eachBuild('frames may come in pieces and many at once', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start(['--frobnicate']);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  const bytes = Buffer.concat(
    Array.from({ length: 20 }, (_, index) => encodeFrame(['commit', 'spawn', String(index + 1), '0', '1', 'true'])),
  );
  for (const byte of bytes.subarray(0, 60)) supervisor.raw(Buffer.from([byte]));
  supervisor.raw(bytes.subarray(60));
  const ids = new Set<string>();
  while (ids.size < 20) {
    const [name, , , id = ''] = await supervisor.next();
    if (name === 'gone') ids.add(id);
  }
});

eachBuild('a supervisor that closes its connection and lives on is ended and replaced', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start(['--', ...AGENT]);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  supervisor.end();
  await waitFor('it is dead', () => hasEnded(supervisor.about.pid));
  await (await init.supervisor()).expect('hello');
});

eachBuild(
  'after ten failed starts init goes on alone, and acts on a stop request that was never seen',
  async (t, build) => {
    const bench = await layBench(t, build);
    rmSync(bench.path('bin/node'));
    writeFileSync(bench.path('bin/node'), '#!/bin/sh\necho started >>"$SX_DIR/starts"\nexit 1\n', { mode: 0o755 });
    const init = bench.start([
      '--',
      'sh',
      '-c',
      'trap "echo term; exit 7" TERM; echo up; while read l; do :; done; while :; do sleep 1; done',
    ]);
    await init.says('up');
    send(init.pid, SIGTERM);
    await init.says('term');
    assert.deepEqual(await init.ended, { code: 7, signal: null });
    assert.match(init.stderr(), /cannot start the supervisor: it died ten times in a row/);
  },
);

eachBuild(
  'alone, init forwards by the tables it was given, KILLs when the grace is over, and exits with 128+n',
  async (t, build) => {
    const bench = await layBench(t, build);
    const init = bench.start([
      '--',
      'sh',
      '-c',
      'trap "echo int" INT; trap "echo usr2" USR2; echo up; while :; do read l; done',
    ]);
    const supervisor = await init.supervisor();
    await supervisor.expect('hello');
    await supervisor.expect('spawned');
    await init.says('up');
    send(init.pid, 40);
    await supervisor.expect('signal');
    const fallback = ['fallback', 1, SIGTERM, SIGINT, 300, 'forward', 1, 1, SIGUSR1, SIGUSR2];
    const commit = encodeFrame(['commit', 'ack', '2', ...fallback.map(String)]);
    supervisor.raw(commit);
    await hasPassed(bench, supervisor, commit.length);
    rmSync(bench.path('bin/node'));
    await supervisor.kill();
    await waitFor('init goes on alone', () => init.stderr().includes('goes on without it'));
    send(init.pid, SIGUSR1);
    await init.says('usr2');
    send(init.pid, SIGTERM);
    await init.says('int');
    assert.deepEqual(await init.ended, { code: 128 + SIGKILL, signal: null });
  },
);

eachBuild('alone and without an application init exits 125', async (t, build) => {
  const bench = await layBench(t, build);
  rmSync(bench.path('bin/node'));
  writeFileSync(bench.path('bin/node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const init = bench.start(['--frobnicate']);
  assert.deepEqual(await init.ended, { code: 125, signal: null });
  assert.match(init.stderr(), /nothing was started/);
});

eachBuild('a supervisor that exits 0 without an exit operation is started again', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start(['--', ...AGENT]);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  send(supervisor.about.pid, SIGTERM);
  await supervisor.closed();
  await (await init.supervisor()).expect('hello');
});

eachBuild('exit: the code is that of init, and neither the group nor what left it stays behind', async (t, build) => {
  const bench = await layBench(t, build);
  const init = bench.start([
    '--',
    'sh',
    '-c',
    'setsid sh -c "sleep 600 & echo daemon; wait" & sleep 600 & echo up; wait',
  ]);
  const supervisor = await init.supervisor();
  await supervisor.expect('hello');
  const [, pid] = await supervisor.expect('spawned');
  await init.says('daemon');
  const all = descendants(init.pid);
  assert.ok(all.includes(Number(pid)) && all.length >= 5, String(all));
  supervisor.commit('exit', 42);
  assert.deepEqual(await init.ended, { code: 42, signal: null });
  for (const left of all) assert.ok(hasEnded(left), `${left} has ended`);
});

function descendants(pid: number): number[] {
  const found = childrenOf(pid);
  for (const child of found) found.push(...childrenOf(child));
  return found;
}
