import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { closedPort, failed, listen, ok, run } from './servers.ts';

test('an accepted connection is a success, and is closed at once without a byte', async (t) => {
  const accepted = Promise.withResolvers<Socket>();
  const port = await listen(t, createServer(accepted.resolve));
  assert.deepEqual(await run({ kind: 'tcp', host: '127.0.0.1', port }), ok('connected'));
  const socket = await accepted.promise;
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  // Closed, not reset: a reset would be an error here.
  await once(socket, 'end');
  assert.equal(bytes, 0);
});

test('a name is looked up, and each of its addresses tried', async (t) => {
  assert.equal((await run({ kind: 'tcp', host: 'localhost', port: await listen(t, createServer()) })).ok, true);
});

test('a closed port refuses the connection, by address and by name', async (t) => {
  const port = await closedPort(t);
  for (const host of ['127.0.0.1', '::1', '[::1]', 'localhost']) {
    assert.deepEqual(await run({ kind: 'tcp', host, port }), failed('connection refused'), host);
  }
});

test('a host that does not exist is reported as not found', async () => {
  const { ok: isOk, detail } = await run({ kind: 'tcp', host: 'no-such-host.invalid', port: 80 });
  assert.equal(isOk, false);
  // A machine without a name server cannot know.
  assert.match(detail, /^(host not found|host name cannot be resolved now)$/);
});
