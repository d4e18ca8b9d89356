import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import test from 'node:test';
import { childrenOf, send, stateOf } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { STATIC } from './builds.ts';
import { orders } from './orders.ts';
import { AGENT, attend, begin, type Init, onBench, shell, TO_GROUP } from './scripted.ts';

const { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, SIGKILL, SIGSTOP, SIGCONT } = constants.signals;

const SPEAKING = 'trap "echo usr1" USR1; trap "exit 7" TERM; echo up; while :; do sleep 0.02; done';

/** All signals that a process can be sent and see, except for CHLD, which init never passes on. */
const ALL = Array.from({ length: 64 }, (_, index) => index + 1).filter(
  (number) => ![SIGKILL, SIGSTOP, SIGCHLD].includes(number),
);

onBench('P02 init reports every signal once, with its sender', async (bench) => {
  const { init, supervisor } = await attend(bench);
  for (const number of ALL) {
    sendNumber(init.pid, number);
    assert.deepEqual(await supervisor.expect('signal'), [String(number), String(process.pid), '0']);
  }
  sendNumber(init.pid, SIGCHLD);
  sendNumber(init.pid, SIGUSR1);
  assert.deepEqual((await supervisor.expect('signal'))[0], String(SIGUSR1), 'CHLD is not reported');
});

onBench('init reports each real-time signal, however many come at once', async (bench) => {
  const { init, supervisor } = await attend(bench);
  for (let i = 0; i < 200; i++) sendNumber(init.pid, 40);
  for (let i = 0; i < 200; i++) assert.equal((await supervisor.expect('signal'))[0], '40');
});

onBench('P03 signals wait in order for the supervisor’s first commit', async (bench) => {
  const release = bench.holdSupervisor();
  // A member of a pod: to a command that is alone the first stop request goes on at once.
  const init = bench.start(['--graveyard', '/graveyard', '--', ...AGENT]);
  await init.says('up');
  for (const number of [SIGUSR2, SIGTERM, 50, SIGUSR1]) await takenBy(init, number);
  release();
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  for (const number of [SIGUSR2, SIGTERM, 50, SIGUSR1]) {
    assert.equal((await supervisor.expect('signal'))[0], String(number));
  }
});

for (const limit of [3, 0])
  onBench(`P02 a stop arrives although the limit of open files is lowered to ${limit}`, async (bench) => {
    const init = bench.start(shell(SPEAKING), { env: { SEXTON_LOG_LEVEL: undefined } });
    await init.says('up');
    const lowered = spawnSync('prlimit', ['--pid', String(init.pid), `--nofile=${limit}:${limit}`]);
    assert.equal(lowered.status, 0, String(lowered.stderr));
    send(init.pid, 'SIGUSR1');
    await init.says('usr1');
    send(init.pid, 'SIGTERM');
    assert.deepEqual(await init.ended, { code: 7, signal: null });
  });

onBench('init reads commits although the limit of open files is lowered', async (bench) => {
  const { init, supervisor } = await begin(bench);
  assert.equal(spawnSync('prlimit', ['--pid', String(init.pid), '--nofile=3:3']).status, 0);
  send(init.pid, 'SIGUSR1');
  await supervisor.expect('signal');
  supervisor.commit('exit', 9);
  assert.deepEqual(await init.ended, { code: 9, signal: null });
});

onBench('the sequence numbers of events rise by one, and their times never fall', async (bench) => {
  const { init, supervisor } = await attend(bench, ['--', 'true']);
  const [, , startedAt] = supervisor.hello;
  sendNumber(init.pid, SIGUSR1);
  let last = Number(startedAt);
  for (let seq = 1; seq <= 4; seq++) {
    const [, number, at] = await supervisor.next();
    assert.equal(number, String(seq));
    assert.ok(Number(at) >= last);
    last = Number(at);
  }
});

onBench('to a group: a stop reaches every process, and continues a stopped one', async (bench) => {
  const trap = (name: string): string =>
    `trap 'echo ${name} term' TERM; echo ${name} ready; while :; do sleep 60 & wait $!; done`;
  const { init, supervisor } = await attend(bench);
  supervisor.commit('spawn', 1, TO_GROUP, 0, 3, 'sh', '-c', `sh -c "${trap('second')}" & ${trap('first')}`);
  const [, pid] = await supervisor.expect('spawned');
  await init.says('first ready');
  await init.says('second ready');
  sendNumber(Number(pid), SIGSTOP);
  supervisor.commit('stop', 1, SIGTERM, 0, 0);
  await init.says('first term');
  await init.says('second term');
  supervisor.commit('kill', 1, SIGKILL);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', String(SIGKILL), '0']);
  await supervisor.expect('roots-gone');
});

for (const signal of [SIGTERM, SIGHUP, SIGINT, SIGQUIT]) {
  onBench(`CONT follows ${signal}, so that a stopped application can act on it`, async (bench) => {
    const { supervisor, pid } = await begin(bench);
    sendNumber(Number(pid), SIGSTOP);
    supervisor.commit('stop', 1, signal, 0, 0);
    assert.deepEqual((await supervisor.expect('exited')).slice(2, 4), ['', String(signal)]);
  });
}

onBench('A7 no CONT follows TERM to an application that is not stopped', async (bench) => {
  const script =
    'trap "echo cont" CONT; trap "echo term" TERM; trap "echo usr1" USR1; echo up; while :; do read l; done';
  const { init, supervisor } = await begin(bench, shell(script));
  supervisor.commit('stop', 1, SIGTERM, 0, 0);
  await init.says('term');
  supervisor.commit('kill', 1, SIGUSR1);
  await init.says('usr1');
  assert.equal(init.stdout(), 'up\nterm\nusr1\n');
  supervisor.commit('exit', 0);
  await init.ended;
});

onBench('A7 only the stopped processes of a group get CONT', async (bench) => {
  const inner = 'trap "echo inner cont" CONT; trap "echo inner term" TERM; kill -STOP $$; while :; do sleep 0.01; done';
  const script = `trap "echo cont" CONT; trap "echo term" TERM; sh -c '${inner}' & echo up $!; while :; do wait; read l; done`;
  const { init, supervisor } = await attend(bench);
  supervisor.commit('spawn', 1, TO_GROUP, 0, 3, 'sh', '-c', script);
  await supervisor.expect('spawned');
  const inside = await waitFor('it is told', () => Number(/up (\d+)\n/.exec(init.stdout())?.[1]) || undefined);
  await waitFor('it is stopped', () => stateOf(inside) === 'T');
  supervisor.commit('stop', 1, SIGTERM, 0, 0);
  for (const text of ['inner term', 'inner cont', '\nterm']) await init.says(text);
  assert.doesNotMatch(init.stdout(), /\ncont/);
  supervisor.commit('exit', 0);
  await init.ended;
});

onBench('roots-gone comes after the last process, and a stop reaches the others before', async (bench) => {
  const { init, supervisor } = await attend(bench, shell('sleep 600 & echo left $!'));
  await supervisor.skip('spawned', 'exited');
  sendNumber(init.pid, SIGUSR1);
  assert.equal((await supervisor.expect('signal'))[0], String(SIGUSR1), 'one is left');
  supervisor.commit('stop', 1, SIGTERM, 0, 0);
  assert.deepEqual(await supervisor.expect('roots-gone'), ['1']);
  supervisor.commit('stop', 1, SIGTERM, 0, 0, 'kill', 77, SIGTERM);
  sendNumber(init.pid, SIGUSR1);
  await supervisor.expect('signal');
});

onBench('init forwards by the table, and reports a signal that is not in it', async (bench) => {
  const init = bench.start(
    shell('trap "echo got usr1" USR1; trap "echo got rt" 50; echo up; while :; do read l; done'),
  );
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  await init.says('up');
  supervisor.commit(...orders({ each: { [SIGHUP]: SIGUSR1, 64: 50 } }));
  sendNumber(init.pid, SIGUSR2);
  await supervisor.expect('signal');
  sendNumber(init.pid, SIGHUP);
  const [, row, ...passed] = await supervisor.expect('ordered');
  assert.deepEqual([row, ...passed.slice(0, 4)], ['each', String(SIGHUP), String(SIGUSR1), String(process.pid), '0']);
  await init.says('got usr1');
  sendNumber(init.pid, 64);
  assert.deepEqual((await supervisor.expect('ordered')).slice(2, 6), ['64', '50', String(process.pid), '0']);
  await init.says('got rt');
  supervisor.commit(...orders({}), 'kill', 1, SIGKILL);
  await supervisor.skip('exited', 'roots-gone');
  sendNumber(init.pid, SIGHUP);
  assert.equal((await supervisor.expect('signal'))[0], String(SIGHUP));
});

onBench('init reports a signal for a command that is gone', async (bench) => {
  const { init, supervisor } = await attend(bench, ['--', 'true']);
  await supervisor.skip('spawned', 'exited', 'roots-gone');
  supervisor.commit(...orders({ each: { [SIGHUP]: SIGUSR1 } }), 'spawn', 2, 0, 0, 1, 'true');
  await supervisor.expect('spawned');
  sendNumber(init.pid, SIGHUP);
  const frames = [await supervisor.next(), await supervisor.next(), await supervisor.next()];
  assert.ok(frames.some(([name, , , number]) => name === 'signal' && number === String(SIGHUP)));
});

onBench('a full queue keeps one signal of each number, and every exit', async (bench) => {
  const release = bench.holdSupervisor();
  const init = bench.start(['--', ...AGENT]);
  await init.says('up');
  // The shell sends them: the kernel keeps as many real-time signals as RLIMIT_SIGPENDING allows.
  init.write(
    'i=0; while [ $i -lt 5000 ]; do kill -60 $PPID; i=$((i+1)); done; kill -61 $PPID; kill -62 $PPID; echo sent\n',
  );
  await init.says('sent');
  // Not before: the kernel hands out CHLD ahead of all signals with a higher number.
  await waitFor('all signals have been taken', () => pendingOf(init.pid) === 0n);
  init.write('exit 3\n');
  await waitFor('only the supervisor is left', () => childrenOf(init.pid).length === 1);
  release();
  const supervisor = await init.supervisor();
  const names: string[] = [];
  let acked = 0;
  for (;;) {
    const [name = '', seq = '', , number = ''] = await supervisor.next();
    names.push(name === 'signal' ? number : name);
    if (name === 'roots-gone') break;
    if (Number(seq) - acked === 500) {
      supervisor.ack(seq);
      acked = Number(seq);
    }
  }
  assert.deepEqual(names.slice(0, 2), ['spawned', '60']);
  assert.deepEqual(names.slice(-4), ['61', '62', 'exited', 'roots-gone']);
  assert.equal(names.filter((it) => it === '60').length, 4095);
});

test('the first system call of init blocks all signals', (t) => {
  if (spawnSync('strace', ['-V']).error) return t.skip('strace is not installed');
  const { stderr } = spawnSync('strace', [STATIC.path, '--help'], { encoding: 'utf8' });
  const [, second] = stderr.split('\n');
  assert.match(second ?? '', /^rt_sigprocmask\(SIG_SETMASK, ~\[(RTMIN.*)?\], \[\], 8\) = 0$/);
});

onBench('STOP and CONT from outside change nothing in init', async (bench) => {
  const init = bench.start(shell('read l; exit 5'));
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  sendNumber(init.pid, SIGSTOP);
  init.write('\n');
  sendNumber(init.pid, SIGCONT);
  const names = [(await supervisor.next())[0], (await supervisor.next())[0], (await supervisor.next())[0]];
  assert.deepEqual(names.sort(), ['exited', 'roots-gone', 'signal']);
});

function sendNumber(pid: number, number: number): void {
  assert.ok(send(pid, number));
}

/** Sends a signal and waits until init has read it, so that the next one is later also for the kernel. */
async function takenBy(init: Init, number: number): Promise<void> {
  sendNumber(init.pid, number);
  await waitFor(`signal ${number} is taken`, () => pendingOf(init.pid) === 0n);
}

function pendingOf(pid: number): bigint {
  const status = spawnSync('grep', ['-E', '^(SigPnd|ShdPnd)', `/proc/${pid}/status`], { encoding: 'utf8' }).stdout;
  return status.split('\n').reduce((sum, line) => sum | BigInt(`0x${line.split('\t')[1] ?? '0'}`), 0n);
}
