/** The contract of a host: the socket by which peers in other containers know that it lives. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { send } from '../../helpers/process.ts';
import { waitFor, waitForFile, within } from '../../helpers/wait.ts';
import { type HostKind, type HostProcess, start } from './host-process.ts';

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
    const refused = connect(first);
    await once(refused, 'error');
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

/** The close may be a reset, which a connection gets that the host had no time to accept. */
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
