import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { attemptHttp } from '../../../src/runtime/probes/http.ts';
import { startAction } from '../../../src/runtime/probes/probe.ts';
import { badCertificate } from './certificate.ts';
import { closedPort, failed, httpAction, httpServer, listen, ok, rawServer, run } from './servers.ts';

test('a status from 200 to 399 is a success, any other is not', async (t) => {
  const port = await httpServer(t, ({ url }, response) => response.writeHead(Number(url?.slice(1))).end('body'));
  for (const status of [200, 204, 299, 300, 304, 399]) {
    assert.deepEqual(await run(httpAction(port, { path: `/${status}` })), ok(`status ${status}`));
  }
  for (const status of [400, 404, 500, 503, 599]) {
    assert.deepEqual(await run(httpAction(port, { path: `/${status}` })), failed(`status ${status}`));
  }
});

test('the request has its own agent, any content, no kept connection and a Host with the port', async (t) => {
  const { seen, port } = await recordingServer(t);
  await run(httpAction(port, { path: '/healthz?full=1' }));
  const [{ method, url, headers } = {}] = seen;
  assert.equal(`${method} ${url}`, 'GET /healthz?full=1');
  const { 'user-agent': agent = '', ...others } = headers ?? {};
  assert.match(agent, /^sexton-probe\//);
  assert.deepEqual(others, { host: `127.0.0.1:${port}`, accept: '*/*', connection: 'close' });
});

test('headers of the user are sent, but for an empty User-Agent and for Connection', async (t) => {
  const { seen, port } = await recordingServer(t);
  const headers: [string, string][] = [
    ['Host', 'app.example'],
    ['X-Token', 'a'],
    ['X-Token', 'b'],
    ['accept', ''],
    ['User-Agent', ''],
    ['Connection', 'keep-alive'],
    ['Content-Length', '7'],
  ];
  await run(httpAction(port, { headers }));
  assert.deepEqual(seen[0]?.headers, { host: 'app.example', 'x-token': 'a, b', connection: 'close' });
});

test('a header or a path cannot begin a line of its own', async (t) => {
  const { seen, port } = await recordingServer(t);
  await run(httpAction(port, { headers: [['X-A', 'a\r\nX-B: b']], path: '/a b\r\nX-C: ü%20#part' }));
  assert.equal(seen[0]?.headers['x-a'], 'a X-B: b');
  assert.equal(seen[0]?.headers['x-b'], undefined);
  assert.equal(seen[0]?.url, '/a%20b%0D%0AX-C:%20%C3%BC%20');
});

test('a POST has an empty body', async (t) => {
  const { seen, port } = await recordingServer(t);
  assert.deepEqual(await run(httpAction(port, { method: 'POST' }), undefined), ok('status 200'));
  assert.equal(seen[0]?.method, 'POST');
  assert.equal(seen[0]?.headers['content-length'], '0');
});

test('https does not check the certificate', async (t) => {
  const server = createHttpsServer(badCertificate(), (_, response) => response.writeHead(201).end());
  const port = await listen(t, server);
  assert.deepEqual(await run(httpAction(port, { scheme: 'https' })), ok('status 201'));
  assert.deepEqual(await run(httpAction(port, { scheme: 'https', host: 'localhost' })), ok('status 201'));
});

test('https and http do not reach a server of the other', async (t) => {
  const port = await httpServer(t, (_, response) => response.end());
  assert.match((await run(httpAction(port, { scheme: 'https' }))).detail, /TLS/);
  assert.equal((await run(httpAction(await listen(t, createHttpsServer(badCertificate()))))).ok, false);
});

test('https names what a server that speaks only HTTP/2 needs', async (t) => {
  const server = createSecureServer({ ...badCertificate(), allowHTTP1: false });
  const port = await listen(t, server);
  const detail = 'TLS: tlsv1 alert no application protocol; it does not speak HTTP/1.1, use tcp or exec';
  assert.deepEqual(await run(httpAction(port, { scheme: 'https' })), failed(detail));
});

test('an IPv6 address is reached with and without brackets', async (t) => {
  const seen: (string | undefined)[] = [];
  const port = await httpServer(
    t,
    ({ headers }, response) => {
      seen.push(headers.host);
      response.end();
    },
    '::1',
  );
  for (const host of ['::1', '[::1]']) assert.deepEqual(await run(httpAction(port, { host })), ok('status 200'));
  assert.deepEqual(seen, [`[::1]:${port}`, `[::1]:${port}`]);
});

test('a probe ignores the proxy variables of the environment', async (t) => {
  const port = await httpServer(t, (_, response) => response.end());
  const proxy = `http://127.0.0.1:${await closedPort(t)}`;
  const before = process.env.http_proxy;
  process.env.http_proxy = proxy;
  t.after(() => {
    if (before === undefined) delete process.env.http_proxy;
    else process.env.http_proxy = before;
  });
  assert.deepEqual(await run(httpAction(port)), ok('status 200'));
});

test('a server that does not answer in time leaves no connection', async (t) => {
  const sockets: Socket[] = [];
  const port = await rawServer(t, '', { onSocket: (socket) => sockets.push(socket) });
  assert.deepEqual(await run(httpAction(port), 300), failed('timed out after 300ms'));
  // The server may not have accepted the connection yet.
  for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
});

test('a refused, cut or reset connection and half a head fail, each with its reason', async (t) => {
  const reset = { onSocket: (socket: Socket) => void socket.on('data', () => socket.resetAndDestroy()) };
  const cases: [port: Promise<number>, detail: string][] = [
    [closedPort(t), 'connection refused'],
    [rawServer(t, '', { closes: true }), 'connection closed without an answer'],
    [rawServer(t, 'HTTP/1.1 20', { closes: true }), 'connection closed without an answer'],
    [rawServer(t, '', reset), 'connection reset'],
    [rawServer(t, 'HTTP/1.1 200 OK\r\nX: y\r\n'), 'timed out after 1s'],
  ];
  for (const [port, detail] of cases) assert.deepEqual(await run(httpAction(await port), 1_000), failed(detail));
});

test('an answer that is not HTTP/1 is malformed, also when nothing follows it', async (t) => {
  for (const bytes of ['SSH-2.0-x\r\n', '\x00', 'HTTP/1.1 2000 OK\r\n\r\n', 'HTTP/1.1 200\tOK\r\n\r\n']) {
    const { ok: isOk, detail } = await run(httpAction(await rawServer(t, bytes)));
    assert.deepEqual({ isOk, detail }, { isOk: false, detail: 'malformed answer: not HTTP/1' }, JSON.stringify(bytes));
  }
  const endless = await rawServer(t, `HTTP/1.1 200 OK\r\n${'X-Y: z\r\n'.repeat(20_000)}`);
  assert.deepEqual(await run(httpAction(endless)), failed('malformed answer: its head is too long'));
});

test('an interim answer does not count', async (t) => {
  const answers = 'HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 503 No\r\n\r\n';
  assert.deepEqual(await run(httpAction(await rawServer(t, answers, { closes: true }))), failed('status 503'));
});

test('a probe does not wait for a body without an end, nor read many megabytes', async (t) => {
  const silent = await rawServer(t, 'HTTP/1.1 200 OK\r\n\r\nhello');
  assert.deepEqual(await run(httpAction(silent), undefined), ok('status 200'));
  const cut = await rawServer(t, 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
  assert.deepEqual(await run(httpAction(cut), 3_000), ok('status 200'), 'the status counts when its time is over');
  const { socket, port } = await flood(t);
  assert.deepEqual(await run(httpAction(port)), ok('status 200'));
  const flooded = await socket;
  if (!flooded.closed) await new Promise((resolve) => flooded.once('close', resolve));
  // More than fits into the buffers of the kernel was not taken.
  assert.ok(flooded.bytesWritten < 32 * 1024 * 1024, `${flooded.bytesWritten} bytes`);
});

test('a probe reads a short body to its end, chunked or not', async (t) => {
  const errors: unknown[] = [];
  const port = await httpServer(t, ({ url, socket }, response) => {
    socket.on('error', (error) => errors.push(error));
    response.on('error', (error) => errors.push(error));
    if (url === '/chunked') response.write('x'.repeat(3_000));
    response.end('y'.repeat(3_000));
  });
  for (const path of ['/chunked', '/known']) assert.equal((await run(httpAction(port, { path }))).ok, true);
  assert.deepEqual(errors, []);
});

test('end() closes the connection and reports nothing', async (t) => {
  const accepted = Promise.withResolvers<Socket>();
  const port = await rawServer(t, '', { onSocket: accepted.resolve });
  let told = 0;
  const running = startAction(httpAction(port), { timeoutMs: undefined, onEnd: () => told++ });
  const socket = await accepted.promise;
  running.end();
  running.end();
  await once(socket, 'close');
  assert.equal(told, 0);
});

async function recordingServer(t: Parameters<typeof httpServer>[0]) {
  const seen: IncomingMessage[] = [];
  const port = await httpServer(t, (request, response) => {
    seen.push(request);
    response.end();
  });
  return { seen, port };
}

async function flood(t: Parameters<typeof httpServer>[0]) {
  const accepted = Promise.withResolvers<Socket>();
  const port = await rawServer(t, 'HTTP/1.1 200 OK\r\n\r\n', {
    onSocket: (socket) => {
      const block = Buffer.alloc(65_536);
      const pour = (): void => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.once('data', pour).on('drain', pour);
      accepted.resolve(socket);
    },
  });
  return { port, socket: accepted.promise };
}

test('a closed attempt reports nothing more', async (t) => {
  const port = await httpServer(t, (_request, response) => response.end());
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    const attempt = attemptHttp(httpAction(port), (_ok, detail) => {
      told.push(detail);
      attempt.close();
      resolve();
    });
  });
  // When another probe has ended, the connection of the first one is closed.
  await run(httpAction(port));
  assert.deepEqual(told, ['status 200']);
});
