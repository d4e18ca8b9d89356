/** A supervisor that hangs, judged by its own `due` or by the CPU that it uses, also when not even KILL ends it. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { encodeFrame } from '../../src/runtime/host/frames.ts';
import { NODE } from '../helpers/paths.ts';
import { hasEnded, send, stateOf } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { type Build, built, SANITIZED, STATIC } from './builds.ts';
import { hold } from './hold.ts';
import { AGENT, type Bench, begin, hasPassed, onBench, REFUSED } from './scripted.ts';

const HASTY: readonly Build[] = [{ name: 'hasty', path: built('hasty', { hangMs: 2_000 }) }];
const onHasty: typeof onBench = (title, body) => onBench(title, body, HASTY);

onHasty('A3 init replaces a supervisor whose next commit is overdue', async (bench) => {
  const init = bench.start(['--', ...AGENT]);
  const first = await init.supervisor();
  await first.expect('spawned');
  first.commit('ack', 1, 'due', Number(process.hrtime.bigint() / 1_000_000n) + 100);
  await init.supervisor();
  assert.ok(hasEnded(first.about.pid), 'the first one was ended');
  assert.doesNotMatch(init.stderr(), /not in the protocol/);
  init.write('echo alive\n');
  await init.says('alive');
});

onHasty('A3 init replaces a supervisor that hangs while nothing is due when the application ends', async (bench) => {
  const { init, supervisor } = await begin(bench);
  supervisor.commit('ack', 1);
  await hasPassed(bench, supervisor, supervisor.sent);
  send(supervisor.about.pid, 'SIGSTOP');
  await waitFor('the supervisor stands still', () => stateOf(supervisor.about.pid) === 'T');
  init.write('exit 3\n');
  const second = await init.supervisor();
  assert.deepEqual(second.hello.slice(-2), ['hung', '0'], "init's own KILL is none of the OOM killer");
  await second.skip('exited', 'roots-gone');
  second.commit('exit', 3);
  assert.deepEqual(await init.ended, { code: 3, signal: null });
});

onHasty('A3 init replaces a supervisor that hangs before its first commit', async (bench) => {
  const starts = replaceNode(bench, 'kill -STOP $$');
  const init = bench.start(REFUSED);
  await waitFor('another was started', () => starts().length > 1);
  const [first] = starts();
  assert.ok(first !== undefined && hasEnded(first));
  send(init.pid, 'SIGKILL');
  await waitFor('init has ended', () => hasEnded(init.pid));
  for (const pid of starts()) send(pid, 'SIGKILL');
});

onHasty('A4 init waits for a slow supervisor while it makes progress', async (bench) => {
  const gate = bench.path('gate');
  const starts = replaceNode(bench, `while [ ! -e '${gate}' ]; do :; done; exec '${NODE}' "$@"`, 19);
  const init = bench.start(['--', ...AGENT]);
  await init.says('up');
  // Like a supervisor with little CPU: on and off, for several times as long as init waits for one that does nothing.
  for (let turn = 0; turn < 8; turn += 1) {
    const pid = await waitFor('it runs', () => starts()[0]);
    send(pid, 'SIGSTOP');
    await waitFor('it stands still', () => stateOf(pid) === 'T' || hasEnded(pid));
    const sinceMs = performance.now();
    await waitFor('some time has passed', () => performance.now() - sinceMs > 700);
    send(pid, 'SIGCONT');
    const before = ticksOf(pid);
    await waitFor('it has got on', () => ticksOf(pid) !== before || hasEnded(pid));
  }
  writeFileSync(gate, '');
  const supervisor = await init.supervisor();
  assert.deepEqual(starts(), [supervisor.about.pid]);
});

onHasty(
  'A3 init does not blame a supervisor that was stopped together with it',
  async (bench) => {
    const { init, supervisor } = await begin(bench);
    const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);
    const dueMs = monotonicMs() + 300;
    supervisor.commit('ack', 1, 'due', dueMs);
    await hasPassed(bench, supervisor, supervisor.sent);
    send(supervisor.about.pid, 'SIGSTOP');
    await waitFor('the supervisor stands still', () => stateOf(supervisor.about.pid) === 'T');
    send(init.pid, 'SIGSTOP');
    await waitFor('the time for which init waits is long over', () => monotonicMs() > dueMs + 12_000);
    send(init.pid, 'SIGCONT');
    send(supervisor.about.pid, 'SIGCONT');
    // What init says next is the signal that it has had, and it says so to the same supervisor.
    assert.equal((await supervisor.expect('signal'))[0], '18');
    supervisor.commit('ack', 2, 'due', 0);
    send(init.pid, 'SIGUSR1');
    assert.equal((await supervisor.expect('signal'))[0], '10');
    assert.equal(hasEnded(supervisor.about.pid), false);
  },
  [STATIC],
);

onHasty(
  'A3 init abandons a supervisor that it cannot reap, and starts another',
  async (bench, t) => {
    const init = bench.start(['--', ...AGENT]);
    const first = await init.supervisor();
    await first.expect('spawned');
    const holder = await hold(t, 'init/corpse.c', first.about.pid);
    send(first.about.pid, 'SIGKILL');
    const second = await init.supervisor();
    assert.equal(stateOf(first.about.pid), 'Z', 'it is dead, and init cannot know');
    await second.expect('spawned');
    assert.match(init.stderr(), /the supervisor cannot be ended; starting another/);
    init.write('exit 3\n');
    await second.expect('exited');
    assert.deepEqual(await second.expect('roots-gone'), ['1'], 'it is not taken for a process of the application');
    holder.kill('SIGKILL');
    await waitFor('it is reaped', () => stateOf(first.about.pid) === undefined);
    second.commit('exit', 3);
    assert.deepEqual(await init.ended, { code: 3, signal: null });
  },
  [STATIC, SANITIZED],
);

onHasty(
  'init keeps the output of a helper that starts before the sleeping supervisor is reaped',
  async (bench, t) => {
    const { init, supervisor } = await begin(bench);
    const holder = await hold(t, 'init/corpse.c', supervisor.about.pid);
    const exec = [
      'exec',
      '1',
      '4096',
      '3',
      'sh',
      '-c',
      `echo hello; while [ ! -e '${bench.path('gate')}' ]; do sleep 0.05; done`,
    ];
    supervisor.raw(Buffer.concat([['ack', '1', 'sleep', ''], exec].map((it) => encodeFrame(['commit', ...it]))));
    const second = await init.supervisor();
    holder.kill('SIGKILL');
    writeFileSync(bench.path('gate'), '');
    assert.deepEqual(await second.expect('helper-ended'), ['1', '0', '', '', 'hello\n']);
  },
  [STATIC],
);

/** Replaces Node; returns the pids of all that were started. */
function replaceNode(bench: Bench, script: string, niceness = 0): () => number[] {
  const path = bench.path('starts');
  writeFileSync(path, '');
  rmSync(bench.path('bin/node'));
  const text = `#!/bin/sh\nrenice -n ${niceness} $$ >/dev/null\necho $$ >>'${path}'\n${script}\n`;
  writeFileSync(bench.path('bin/node'), text, { mode: 0o755 });
  return () => readFileSync(path, 'latin1').split('\n').filter(Boolean).map(Number);
}

/** The CPU time that it has used. */
function ticksOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0] ?? '';
  } catch {
    return '';
  }
}
