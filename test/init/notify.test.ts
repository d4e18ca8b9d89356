/** Notifications: init takes what the command writes to NOTIFY_SOCKET, one message at a time. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { waitFor, waitForFile } from '../helpers/wait.ts';
import type { Supervisor } from './connection.ts';
import { AGENT, attend, type Bench, fallAsleep, loseSupervisor, onBench } from './scripted.ts';

onBench('init reports a message of the command, of its descendants and of its orphans', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  for (const [index, form] of [`${STAY} &`, `(${STAY}; :) &`, `(setsid ${STAY} &)`].entries()) {
    init.write(`export text=READY=${index}; ${form}\n`);
    assert.deepEqual(await notified(supervisor), ['1', '0', `READY=${index}`]);
  }
});

onBench('the next message waits until the last one is acknowledged, also across supervisors', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  for (const text of ['A=1', 'B=2']) {
    init.write(`export text=${text}; ${STAY} &\n`);
    await waitFor(`${text} is sent`, () => init.stdout().includes(`sent ${text}`));
  }
  assert.equal((await supervisor.expect('notified'))[2], 'A=1');
  assert.equal(supervisor.pending, 0);
  await supervisor.kill();
  const next = await init.supervisor();
  assert.equal((await notified(next))[2], 'A=1');
  assert.equal((await notified(next))[2], 'B=2');
});

onBench('a message wakes a supervisor that sleeps, but WATCHDOG=1 alone does not', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  await fallAsleep({ init, supervisor });
  for (const text of ['WATCHDOG=1', 'STATUS=here']) {
    init.write(`export text=${text}; ${STAY} &\n`);
    await waitFor(`${text} is sent`, () => init.stdout().includes(`sent ${text}`));
  }
  assert.equal((await notified(await init.supervisor()))[2], 'STATUS=here');
});

onBench('init drops and counts a message of a helper, of another process and of more than 4 KiB', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  init.write('echo "$NOTIFY_SOCKET"; echo told\n');
  await init.says('told');
  const [, address = ''] = init.stdout().split('\n');
  const env = { ...process.env, NOTIFY_SOCKET: address, text: 'READY=1' };
  assert.equal(spawnSync('sh', ['-c', SEND], { env }).status, 0);
  supervisor.commit('exec', 1, 4096, 3, 'sh', '-c', `export NOTIFY_SOCKET=${address} text=READY=1; ${SEND}; echo $?`);
  assert.equal((await supervisor.expect('helper-ended'))[4], '0\n');
  init.write(`export text=$(head -c 4097 /dev/zero | tr '\\0' x); ${SEND}; export text=READY=1; ${STAY} &\n`);
  assert.deepEqual(await notified(supervisor), ['1', '3', 'READY=1']);
  assert.equal(init.stderr().match(/dropped a message to NOTIFY_SOCKET/g)?.length, 1);
  supervisor.commit('notify', 1, 0);
  supervisor.commit('exec', 2, 4096, 3, 'sh', '-c', `export NOTIFY_SOCKET=${address} text=READY=1; ${SEND}`);
  assert.deepEqual(await notified(supervisor), ['1', '3', 'READY=1']);
});

onBench('init closes the descriptor of a barrier when all before it is acknowledged', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  init.write('systemd-notify STATUS=first && : >over\n');
  const [, seq = ''] = await supervisor.next();
  assert.equal(existsSync(bench.path('over')), false);
  supervisor.ack(seq);
  await waitForFile(bench.path('over'));
});

onBench('without a supervisor no sender waits, and for what is lost the command counts as busy', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  // What it has acknowledged is applied.
  supervisor.commit('exec', 1, 0, 1, 'true');
  await supervisor.expect('helper-ended');
  await loseSupervisor({ bench, init, supervisor });
  init.write(`export text=READY=1; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do ${SEND}; done; : >sent\n`);
  await waitForFile(bench.path('sent'));
  renameSync(bench.path('bin/away'), bench.path('bin/node'));
  const next = await init.supervisor();
  await next.expect('helper-ended');
  assert.equal((await notified(next))[2], 'READY=1');
  assert.equal((await notified(next))[2], 'X_SEXTON_IDLE=0');
});

onBench('senders that are not heard wait, so that they cost init no CPU', async (bench) => {
  const { init } = await beginNotified(bench);
  init.write('echo "$NOTIFY_SOCKET"; echo told\n');
  await init.says('told');
  const [, address = ''] = init.stdout().split('\n');
  const env = { ...process.env, NOTIFY_SOCKET: address, text: 'READY=1' };
  const flood = SEND.replace('exit !send', '$end = time + 2; while (time < $end) { $n += send').replace(
    /'$/,
    " && 1 } print $n'",
  );
  const sent = Number(spawnSync('sh', ['-c', flood], { env }).stdout);
  assert.ok(sent > 100 && sent < 10_000, `${sent} messages in 2 s`);
});

onBench('silence for longer than the watchdog allows wakes a supervisor, which WATCHDOG=1 does not', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  supervisor.commit('watchdog', 1, WATCHDOG_MS);
  await fallAsleep({ init, supervisor });
  const often = STAY.replace('send(', 'for (1 .. 60) { select(undef, undef, undef, .05); send(').replace(
    '; print',
    ' } print',
  );
  init.write(`export text=WATCHDOG=1; ${often} &\n`);
  const [next] = await Promise.all([init.supervisor(), init.says('sent WATCHDOG=1')]);
  const [name, seq = '', at, id] = await next.next();
  assert.deepEqual([name, id], ['silent', '1']);
  assert.ok(init.stdout().includes('sent WATCHDOG=1'), 'it was woken while the command was not silent');
  next.ack(seq);
  // Once for each order, however long it stays silent.
  init.write(`export text=STATUS=${at}; ${STAY} &\n`);
  assert.equal((await notified(next))[2], `STATUS=${at}`);
});

onBench('an init that stood still begins the time of the watchdog again', async (bench) => {
  const { init, supervisor } = await beginNotified(bench);
  supervisor.commit('watchdog', 1, WATCHDOG_MS, 'exec', 1, 0, 1, 'true');
  await supervisor.expect('helper-ended');
  const stoppedMs = monotonicMs();
  process.kill(init.pid, 'SIGSTOP');
  await waitFor('its time is long over', () => monotonicMs() > stoppedMs + WATCHDOG_MS + 1_500);
  const continuedMs = monotonicMs();
  process.kill(init.pid, 'SIGCONT');
  await supervisor.expect('signal');
  const [name, , at] = await supervisor.next();
  assert.equal(name, 'silent');
  assert.ok(Number(at) >= continuedMs + WATCHDOG_MS, `${at} is less than ${WATCHDOG_MS} ms after ${continuedMs}`);
});

onBench('the command has the time of the watchdog and its own pid in its environment', async (bench) => {
  const { init } = await beginNotified(bench, { WATCHDOG_PID: '1', WATCHDOG_USEC: '7' });
  init.write('echo "$WATCHDOG_USEC $WATCHDOG_PID $$"\n');
  const [, pid, own] = await waitFor('it tells', () => /^2000000 (\d+) (\d+)$/m.exec(init.stdout()) ?? undefined);
  assert.equal(pid, own);
});

onBench('only the command has the variable, in place of an inherited one', async (bench) => {
  const { init, supervisor } = await beginNotified(bench, { NOTIFY_SOCKET: '/of/systemd' });
  init.write('env | grep -a NOTIFY\n');
  await waitFor('it has one', () => /^NOTIFY_SOCKET=@sexton\/[0-9a-f]{32}$/m.test(init.stdout()));
  assert.doesNotMatch(init.stdout(), /systemd/);
  supervisor.commit('exec', 1, 4096, 3, 'sh', '-c', 'echo $NOTIFY_SOCKET');
  assert.equal((await supervisor.expect('helper-ended'))[4], '/of/systemd\n');
});

const WATCHDOG_MS = 2_000;

function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Sends $text, and waits for room. */
const SEND = `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_DGRAM, 0); ($a = $ENV{NOTIFY_SOCKET}) =~ s/^@/\\0/; exit !send(S, $ENV{text}, 0, pack("Sa*", AF_UNIX, $a))'`;

/** Stays to be seen: init looks at a sender's parents. */
const STAY = SEND.replace('exit !send', '$| = 1; send').replace(
  /'$/,
  '; print "sent $ENV{text}\\n"; select(undef, undef, undef, .02) while kill 0, $ENV{INIT}\'',
);

async function beginNotified(bench: Bench, env: Readonly<Record<string, string>> = {}) {
  const scene = await attend(bench, undefined, { env });
  scene.supervisor.commit('notify', 0, WATCHDOG_MS, 'spawn', 1, 0, 0, AGENT.length, ...AGENT);
  scene.init.write(`export INIT=${scene.init.pid}\n`);
  const [, seq = ''] = await scene.supervisor.next();
  scene.supervisor.ack(seq);
  return scene;
}

/** The next message: the child's id, how many were dropped, and its text. */
async function notified(supervisor: Supervisor): Promise<readonly string[]> {
  const [name, seq = '', , ...fields] = await supervisor.next();
  assert.equal(name, 'notified');
  supervisor.ack(seq);
  return fields;
}
