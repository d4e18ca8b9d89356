/** Requests over connections that are kept, asked of the real kernel by the real init. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { KeepAliveConnections } from '../../../src/runtime/traffic/keep-alive.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { STATIC } from '../../init/builds.ts';

const EVER_MS = 1e12;

test('a connection that is used is told with its address and port, and not when it was idle for so long', async (t) => {
  const { port, socket } = await connected(t);
  const kept = new KeepAliveConnections(STATIC.path, [port]);
  t.after(() => kept.close());
  const [used, ...others] = (await kept.ask(EVER_MS)) ?? [];
  assert.deepEqual(others, []);
  assert.deepEqual([used?.isV4, used?.remote[3], used?.localPort], [true, 0x7f_00_00_01, port]);
  await waitFor('it is idle', async () => (await kept.ask(50))?.length === 0);
  const before = (await kept.ask(EVER_MS))?.[0]?.agoMs ?? 0;
  socket.write('x');
  await waitFor('it is used', async () => Number((await kept.ask(EVER_MS))?.[0]?.agoMs) < before);
});

test('where there is no such program nothing is known, and nobody waits', async (t) => {
  const kept = new KeepAliveConnections('/nonexistent', [80]);
  t.after(() => kept.close());
  assert.equal(await kept.ask(1_000), undefined);
  assert.equal(await kept.ask(1_000), undefined);
});

test('a program that ends in the middle leaves the question without an answer', async (t) => {
  const kept = new KeepAliveConnections('/bin/false', [80]);
  t.after(() => kept.close());
  assert.equal(await within('an answer', kept.ask(1_000)), undefined);
});

test('closed while it is asked it answers that nothing is known', async (t) => {
  const { port } = await connected(t);
  const kept = new KeepAliveConnections(STATIC.path, [port]);
  const answer = kept.ask(1_000);
  kept.close();
  assert.equal(await within('an answer', answer), undefined);
});

async function connected(t: TestContext): Promise<{ port: number; socket: Socket }> {
  const taken: Socket[] = [];
  const server = createServer((socket) => taken.push(socket.resume()));
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const socket = createConnection(port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
    for (const it of taken) it.destroy();
    server.close();
  });
  await within('it is connected', once(socket, 'connect'));
  await waitFor('it is accepted', () => taken.length > 0);
  return { port, socket };
}
