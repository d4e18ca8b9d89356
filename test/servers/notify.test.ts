/** Programs of Debian that speak sd_notify(3), under `--notify`: how they start, stop, and ask for time. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { type Container, startContainer } from '../helpers/container.ts';
import { childrenOf, programOf } from '../helpers/process.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';
import { skipOf } from './graceful-stop.ts';
import { BIN, makeTemplate } from './psql.ts';
import { PORT, prepareStage } from './stage.ts';

const SYSTEMD = { program: '/usr/bin/systemd-notify', packages: 'systemd' };
const [CADDY, HAPROXY, PYTHON] = ['/usr/bin/caddy', '/usr/sbin/haproxy', '/usr/bin/python3'];
const ETCD = '/usr/bin/etcd';
const POSTGRES = `${BIN}/postgres`;
const IS_ROOT = process.getuid?.() === 0;
const PYTHON3 = { program: PYTHON, packages: 'python3' };

test('caddy says when it is ready and when it stops', {
  skip: skipOf({ program: CADDY, packages: 'caddy' }),
}, async (t) => {
  const stage = await prepareStage(t);
  const site = `{\n admin off\n auto_https off\n storage file_system ${stage.dir}\n}\nhttp://:${PORT} {\n bind ${stage.host}\n respond ok\n}\n`;
  const command = [CADDY, 'run', '--adapter', 'caddyfile', '--config', stage.write('Caddyfile', site)];
  const container = start(stage.scratch, command, { env: { HOME: '/nonexistent' } });
  await saysReady(stage.scratch);
  await container.signal('SIGTERM');
  assert.deepEqual(await saidAtEnd(stage.scratch, container, 0), ['READY=1', 'STOPPING=1']);
});

test('haproxy with a master says when it is ready and when it stops', {
  skip: skipOf({ program: HAPROXY, packages: 'haproxy' }),
}, async (t) => {
  const stage = await prepareStage(t);
  const conf = `defaults\n mode http\n timeout connect 9s\n timeout client 9s\n timeout server 9s\nfrontend web\n bind ${stage.host}:${PORT}\n`;
  const command = [HAPROXY, '-Ws', '-f', stage.write('haproxy.cfg', conf)];
  const container = start(stage.scratch, command);
  await saysReady(stage.scratch);
  // It says so a moment before.
  const pid1 = await container.pid1();
  await waitFor('it handles TERM', () =>
    childrenOf(pid1).some((pid) => programOf(pid) === HAPROXY && catches(pid, TERM)),
  );
  await container.signal('SIGTERM');
  assert.deepEqual(await saidAtEnd(stage.scratch, container, 0), ['READY=1', 'STOPPING=1']);
});

for (const pid of [[], ['--pid']])
  test(`systemd-notify ${pid.join(' ')} returns once all was handled`, { skip: skipOf(SYSTEMD) }, async (t) => {
    const { scratch } = await prepareStage(t);
    const words = [SYSTEMD.program, '--ready', ...pid, '--status=it works'].map((word) => `'${word}'`).join(' ');
    const script = `${words}; : >${scratch.path('handled')}; trap 'systemd-notify STOPPING=1; exit 7' TERM; while :; do sleep 0.05; done`;
    const container = start(scratch, ['sh', '-c', script]);
    await waitForFile(scratch.path('handled'));
    assert.equal((await saysReady(scratch)).Status, 'it works');
    await container.signal('SIGTERM');
    assert.deepEqual(await saidAtEnd(scratch, container, 7), ['READY=1', 'STOPPING=1']);
  });

test('a stop is longer for a command that asks for time', { skip: skipOf(PYTHON3) }, async (t) => {
  const { scratch } = await prepareStage(t);
  const program = `${SENDER}
${stopsLate('EXTEND_TIMEOUT_USEC=60000000')}
say('READY=1')
while True: signal.pause()`;
  const container = start(scratch, [PYTHON, '-c', program], { flags: ['--stop', 'TERM:3s,KILL'] });
  await saysReady(scratch);
  await container.signal('SIGTERM');
  assert.deepEqual(await saidAtEnd(scratch, container, 7), ['READY=1']);
});

for (const [client, packages, source] of [
  ['systemd.daemon', 'python3-systemd', 'from systemd.daemon import notify as say'],
  ['sdnotify', 'python3-sdnotify', 'import sdnotify\nsay = sdnotify.SystemdNotifier().notify'],
] as const)
  test(`a program with ${packages} starts, asks for time and keeps its watchdog`, {
    skip: hasPython(client) ? false : `${client} is not installed: apt-get install ${packages}`,
  }, async (t) => {
    const { scratch } = await prepareStage(t);
    const program = `${source}
${stopsLate('STOPPING=1\\nEXTEND_TIMEOUT_USEC=60000000')}
assert os.environ['WATCHDOG_PID'] == str(os.getpid())
say('READY=1')
for n in range(20):
    time.sleep(int(os.environ['WATCHDOG_USEC']) / 10e6)
    say('WATCHDOG=1')
say('STATUS=alive')
while True: signal.pause()`;
    const flags = ['--notify', 'command,watchdog=2s', '--stop', 'TERM:3s,KILL'];
    const container = start(scratch, [PYTHON, '-c', program], { flags });
    await saysReady(scratch);
    // Twice as long as its watchdog allows for silence.
    await waitForTombstone(scratch.graveyard, 'app', 'is alive', ({ Status }) => Status === 'alive');
    await container.signal('SIGTERM');
    assert.deepEqual(await saidAtEnd(scratch, container, 7), ['READY=1', 'STOPPING=1']);
  });

test('a program that hangs fails by its watchdog, also while the supervisor sleeps', {
  skip: skipOf(PYTHON3),
}, async (t) => {
  const { scratch } = await prepareStage(t);
  const program = `${SENDER}
say('READY=1')
while not os.path.exists('${scratch.path('hangs')}'):
    say('WATCHDOG=1')
    time.sleep(0.1)
time.sleep(1000)`;
  const flags = ['--notify', 'command,watchdog=3s', '--sleep-after', '200ms', '--log-level', 'debug'];
  const container = start(scratch, [PYTHON, '-c', program], { flags });
  await waitFor('its supervisor sleeps', () => container.stderr().includes('asleep until something happens'));
  writeFileSync(scratch.path('hangs'), '');
  assert.equal((await container.exit()).status, 143, container.stderr());
  const { History = [], StopReason } = await waitForTombstone(
    scratch.graveyard,
    'app',
    'is dead',
    ({ Died }) => Died !== undefined,
  );
  assert.equal(StopReason, 'liveness');
  assert.equal(History.find(({ Event }) => Event === 'watchdog')?.Why, 'no WATCHDOG=1 in time');
});

test('etcd, with the client of go-systemd, says when it is ready', {
  skip: skipOf({ program: ETCD, packages: 'etcd-server' }),
}, async (t) => {
  const stage = await prepareStage(t);
  const [clients, peers] = [`http://${stage.host}:${PORT}`, `http://${stage.host}:${PORT + 2}`];
  const urls = ['--listen-client-urls', clients, '--advertise-client-urls', clients];
  const cluster = ['--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`];
  const place = ['--data-dir', stage.scratch.path('etcd'), '--unsafe-no-fsync', '--listen-peer-urls', peers];
  const container = start(stage.scratch, [ETCD, ...place, ...urls, ...cluster]);
  await saysReady(stage.scratch);
  await container.signal('SIGTERM');
  assert.deepEqual(await saidAtEnd(stage.scratch, container, 143), ['READY=1']);
});

test('postgres says when it is ready and when it stops', {
  skip: IS_ROOT ? skipOf({ program: POSTGRES, packages: 'postgresql' }) : 'needs root',
}, async (t) => {
  const stage = await prepareStage(t);
  const { user, template } = makeTemplate();
  const data = stage.scratch.path('data');
  execFileSync('cp', ['-a', template, data]);
  const settings = ['-k', stage.dir, '-c', 'listen_addresses=', '-c', 'shared_buffers=8MB', '-c', 'fsync=off'];
  const container = start(stage.scratch, [POSTGRES, '-D', data, ...settings], { user });
  await saysReady(stage.scratch);
  await container.signal('SIGTERM');
  assert.deepEqual(await saidAtEnd(stage.scratch, container, 0), ['READY=1', 'STOPPING=1']);
});

test('a program in Node says so by systemd-notify', { skip: skipOf(SYSTEMD) }, async (t) => {
  const { scratch } = await prepareStage(t);
  const program = `const { execFileSync } = require('node:child_process');
const say = (...words) => execFileSync('systemd-notify', words);
process.on('SIGTERM', () => {
  say('STOPPING=1', 'EXTEND_TIMEOUT_USEC=60000000');
  setTimeout(() => process.exit(7), 4_000);
});
setInterval(() => {}, 1_000);
say('READY=1');
require('node:fs').writeFileSync('${scratch.path('said')}', '');`;
  const container = start(scratch, [process.execPath, '-e', program], { flags: ['--stop', 'TERM:3s,KILL'] });
  // The signal goes to the whole group, systemd-notify as well.
  await waitForFile(scratch.path('said'));
  await saysReady(scratch);
  await container.signal('SIGTERM');
  assert.deepEqual(await saidAtEnd(scratch, container, 7), ['READY=1', 'STOPPING=1']);
});

test('another container of the pod is not heard, however much it sends', { skip: skipOf(PYTHON3) }, async (t) => {
  const { scratch } = await prepareStage(t);
  const program = `${SENDER}
print(os.environ['NOTIFY_SOCKET'], flush=True)
while not os.path.exists('${scratch.path('flooded')}'): time.sleep(0.02)
say('STATUS=mine')
while True: time.sleep(1)`;
  const container = start(scratch, [PYTHON, '-c', program], { flags: ['--log-level', 'debug'] });
  const address = await waitFor('it tells the address', () => /^@sexton\/\w+$/m.exec(container.stdout())?.[0]);
  const flood = `${SENDER}
say('READY=1' + 'x' * 5000)
for _ in range(2000): say('READY=1')
open('${scratch.path('flooded')}', 'w').close()
while True: say('READY=1')`;
  const env = { NOTIFY_SOCKET: address };
  const other = startContainer(scratch, { command: [PYTHON, '-c', flood], env, name: 'flood' });
  await waitForTombstone(scratch.graveyard, 'app', 'has heard its command', ({ Status }) => Status === 'mine');
  // The log follows the tombstone.
  const heard = await waitFor('the log has it', () => /^.*STATUS=mine.*(?=\n)/m.exec(container.stderr())?.[0]);
  assert.ok(JSON.parse(heard).dropped >= 2_000, heard);
  assert.equal(container.stderr().match(/dropped a message to NOTIFY_SOCKET from pid 0/g)?.length, 1);
  await container.signal('SIGTERM');
  assert.deepEqual(await saidAtEnd(scratch, container, 143), []);
  await other.kill();
});

/** Waits for room, as every blocking socket does. */
const SENDER = `
import os, socket, time
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
def say(text):
    notify.sendto(text.encode(), os.environ['NOTIFY_SOCKET'].replace('@', chr(0), 1))`;

/** Python: on TERM the program says this by `say`, and exits with 7 after 4 s. */
function stopsLate(text: string): string {
  return `import os, signal, time
def stop(*_):
    say('${text}')
    time.sleep(4)
    os._exit(7)
signal.signal(signal.SIGTERM, stop)`;
}

interface Started {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: number;
}

function start(
  scratch: Scratch,
  command: readonly string[],
  { flags = [], env = {}, ...who }: Started = {},
): Container {
  const notify = flags.includes('--notify') ? [] : ['--notify', 'command'];
  const declared = ['--name', 'app', '--graveyard', scratch.graveyard, '--grace-period', '60s', ...notify];
  return startContainer(scratch, { command, flags: [...declared, ...flags], env, ...who });
}

function hasPython(module: string): boolean {
  return spawnSync(PYTHON, ['-c', `import ${module}`], { stdio: 'ignore' }).status === 0;
}

function catches(pid: number, signal: number): boolean {
  const [, mask = '0'] = /^SigCgt:\t(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

const TERM = 15;

function saysReady({ graveyard }: Scratch): Promise<Tombstone> {
  return waitForTombstone(graveyard, 'app', 'is healthy', ({ Healthy }) => Healthy !== undefined);
}

/** The messages that the tombstone keeps. */
async function saidAtEnd({ graveyard }: Scratch, container: Container, status: number): Promise<readonly unknown[]> {
  assert.equal((await container.exit()).status, status, container.stderr());
  const { History = [] } = await waitForTombstone(graveyard, 'app', 'is dead', ({ Died }) => Died !== undefined);
  return History.flatMap(({ Event, Message }) => (Event === 'notified' ? [Message] : []));
}
