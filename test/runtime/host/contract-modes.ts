/** The contract of a host: daemons, single processes, orphans, and the socket by which peers know that it lives. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import { hasEnded, send } from '../../helpers/process.ts';
import { waitFor, waitForFile, within } from '../../helpers/wait.ts';
import { declares, FOR_EVER, type HostKind, type HostProcess, spawnOf, start, stopOf } from './host-process.ts';
import { orders } from './orders.ts';

const SIGUSR1 = 10;

export function modesContract(kind: HostKind): void {
  test('what a command leaves behind gets the signal of its stop', async (t) => {
    const host = await start(t, kind);
    const isBlind = declares(host, /^orphans are not reaped, counted or swept$/);
    const pids = ['a', 'b'].map((name) => host.scratch.path(name));
    const daemon = (path: string): string => `setsid sh -c 'echo $$ >${path}; exec sleep 1000' &`;
    const ready = pids.map((path) => `while [ ! -s ${path} ]; do :; done;`).join('');
    await host.shell(1, `${pids.map(daemon).join(' ')} ${ready}`);
    await host.event('exited');
    if (!isBlind) await host.commit({ commands: [stopOf(1, SIGTERM)] });
    await host.event('rootsGone');
    for (const path of pids) {
      const pid = Number(readFileSync(path, 'utf8'));
      assert.equal(hasEnded(pid), !isBlind);
      if (isBlind) process.kill(pid, 'SIGKILL');
    }
  });

  test('C04 signalTo first: a signal reaches the first process, and the group after its end', async (t) => {
    const host = await start(t, kind);
    const traps = 'trap "echo second got TERM" TERM; trap "echo second got USR1" USR1';
    const second = `sh -c '${traps}; touch "$SCRATCH/up"; ${FOR_EVER}' &`;
    const first = 'trap "echo first got TERM" TERM; trap "exit 3" USR1; while [ ! -e "$SCRATCH/up" ]; do :; done';
    await host.commit({
      commands: [
        orders({ when: 'each', table: { [SIGUSR1]: SIGTERM } }),
        { ...spawnOf(1, '/bin/sh', '-c', `${second} ${first}; echo ready; ${FOR_EVER}`), to: 'first' },
      ],
    });
    await host.event('spawned');
    await host.output.next((line) => line === 'ready');
    process.kill(host.pid, SIGUSR1);
    await host.event('ordered');
    await host.output.next((line) => line === 'first got TERM');
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGUSR1 }] });
    assert.equal((await host.event('exited')).code, 3);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGUSR1 }] });
    await host.output.next((line) => line === 'second got USR1');
    assert.deepEqual(host.output.all, ['ready', 'first got TERM', 'second got USR1']);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    await host.event('rootsGone');
  });
}

export function livenessContract(kind: HostKind): void {
  test('a peer holds a connection until the host is gone', async (t) => {
    const host = await start(t, kind);
    const path = host.scratch.path('live');
    await writeFile(path, 'something stale');
    const peer = await listenAndConnect(host, path);
    assert.equal((await stat(path)).mode & 0o777, 0o666);
    const closed = closing(peer);
    process.kill(host.pid, 'SIGKILL');
    await within('the connection is closed', closed);
    await within('the host ends', host.ended);
  });

  test('another path replaces the first, and the connections stay', async (t) => {
    const host = await start(t, kind);
    const [first, second] = [host.scratch.path('live-1'), host.scratch.path('live-2')];
    const peer = await listenAndConnect(host, first);
    let isClosed = false;
    const closed = closing(peer).then(() => {
      isClosed = true;
    });
    const later = await listenAndConnect(host, second);
    await once(connect(first), 'error');
    // The same path again, as every supervisor that comes back says it.
    const again = await listenAndConnect(host, second);
    assert.equal(isClosed, false);
    send(host.pid, 'SIGKILL');
    await within('all are closed', Promise.all([closed, closing(later), closing(again)]));
    await within('the host ends', host.ended);
  });

  test('a path where nothing can be bound does no harm', async (t) => {
    const host = await start(t, kind);
    await host.commit({ commands: [{ type: 'listen', path: host.scratch.path('no/such/directory/live') }] });
    assert.equal((await host.shell(1, 'exit 0')).id, 1);
  });
}

/** Also by a reset, which is what a connection gets that the host had no time to accept. */
function closing(peer: Socket): Promise<void> {
  return new Promise((resolve) => peer.once('close', () => resolve()));
}

async function listenAndConnect(host: HostProcess, path: string): Promise<Socket> {
  await host.commit({ commands: [{ type: 'listen', path }] });
  await waitForFile(path);
  // The file is there a moment before somebody listens, and a stale one even longer.
  return waitFor('the host listens', async () => {
    const socket = connect(path);
    socket.on('error', () => {});
    try {
      await once(socket, 'connect');
    } catch {
      return undefined;
    }
    socket.resume();
    return socket;
  });
}
