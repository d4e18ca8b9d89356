import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { needsRoot } from '../runtime/graveyard/volume.ts';
import { STATIC } from './builds.ts';
import { attend, connected, hasPassed, onBench, REFUSED } from './scripted.ts';

const { SIGUSR1 } = constants.signals;

onBench('K14 the connections of peers end when init is killed, and not before', async (bench) => {
  const { init, supervisor } = await attend(bench);
  writeFileSync(bench.path('live'), 'what was here before');
  supervisor.commit('listen', bench.path('live'));
  const peers = [await peer(bench.path('live')), await peer(bench.path('live'))];
  assert.equal(lstatSync(bench.path('live')).mode & 0o7777, 0o666);
  await supervisor.kill();
  await init.supervisor();
  assert.ok(!peers.some((it) => it.closed), 'the death of the supervisor is not a death');
  send(init.pid, 'SIGKILL');
  await waitFor('all peers see it', () => peers.every((it) => it.closed));
});

onBench('a second listen at the same path takes new peers and keeps the old', async (bench) => {
  const { init, supervisor } = await attend(bench);
  supervisor.commit('listen', bench.path('live'));
  const before = await peer(bench.path('live'));
  const inode = lstatSync(bench.path('live')).ino;
  supervisor.commit('listen', bench.path('live'));
  await waitFor('it is a new socket', () => lstatSync(bench.path('live'), { throwIfNoEntry: false })?.ino !== inode);
  const after = await peer(bench.path('live'));
  assert.ok(!before.closed && !after.closed);
  after.socket.destroy();
  before.socket.write('bytes that are never read');
  send(init.pid, SIGUSR1);
  await supervisor.expect('signal');
  assert.ok(!before.closed);
});

onBench('a new socket does not refuse a peer that waits to be accepted', async (bench) => {
  const { init, supervisor } = await attend(bench);
  supervisor.commit('listen', bench.path('live'));
  await peer(bench.path('live'));
  // Stopped, init cannot accept; the kernel completes the connection without it.
  send(init.pid, 'SIGSTOP');
  const waiting = await peer(bench.path('live'));
  supervisor.commit('listen', bench.path('live'));
  await hasPassed(bench, supervisor, supervisor.sent);
  send(init.pid, 'SIGCONT');
  await supervisor.expect('signal');
  // An end that the kernel has reported by now is heard of before these are connected.
  for (let i = 0; i < 3; i++) await peer(bench.path('live'));
  assert.ok(!waiting.closed);
  send(init.pid, 'SIGKILL');
  await waitFor('it sees the end', () => waiting.closed);
});

onBench('init says once that it cannot listen, and goes on', async (bench) => {
  const { init, supervisor } = await attend(bench);
  mkdirSync(bench.path('directory'));
  symlinkSync('elsewhere', bench.path('link'));
  for (const name of ['absent/live', 'directory', 'link']) supervisor.commit('listen', bench.path(name));
  await peer(bench.path('link'));
  assert.ok(lstatSync(bench.path('link')).isSocket(), 'a link is replaced and not followed');
  assert.deepEqual(init.stderr().match(/cannot listen at \S+/g), [
    `cannot listen at ${bench.path('absent/live')}:`,
    `cannot listen at ${bench.path('directory')}:`,
  ]);
});

onBench('init follows no link in the place of the directory', async (bench) => {
  const { init, supervisor } = await attend(bench);
  mkdirSync(bench.path('theirs'));
  writeFileSync(bench.path('theirs/live'), '');
  symlinkSync('theirs', bench.path('ours'));
  supervisor.commit('listen', bench.path('ours/live'), 'listen', bench.path('live'));
  await peer(bench.path('live'));
  assert.ok(lstatSync(bench.path('theirs/live')).isFile());
  assert.match(init.stderr(), /cannot listen at \S+\/ours\/live:/);
});

onBench(
  'init binds the socket without /proc',
  async (bench, t) => {
    if (needsRoot) return t.skip(needsRoot);
    const launcher = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
    const supervisor = await bench.start(REFUSED, { launcher }).supervisor();
    supervisor.commit('listen', bench.path('live'));
    await peer(bench.path('live'));
  },
  [STATIC], // AddressSanitizer needs /proc
);

onBench('peers beyond the limit wait, and leave init the descriptors that it needs', async (bench) => {
  const init = bench.start(REFUSED, { launcher: ['sh', '-c', 'ulimit -n 64; exec "$@"', 'sh'] });
  const supervisor = await init.supervisor();
  supervisor.commit('listen', bench.path('live'));
  const peers: Peer[] = [];
  for (let i = 0; i < 80; i++) peers.push(await peer(bench.path('live')));
  supervisor.commit('spawn', 1, 0, 0, 1, 'true');
  await supervisor.skip('spawned', 'exited', 'roots-gone');
  await supervisor.kill();
  await init.supervisor();
  assert.ok(peers.every((it) => !it.closed));
  for (const it of peers.slice(0, 60)) it.socket.destroy();
  send(init.pid, 'SIGKILL');
  await waitFor('the rest see the end', () => peers.every((it) => it.closed));
});

interface Peer {
  readonly socket: Socket;
  readonly closed: boolean;
}

async function peer(path: string): Promise<Peer> {
  const socket = (await connected(path)).resume();
  return {
    socket,
    get closed() {
      return socket.closed;
    },
  };
}
