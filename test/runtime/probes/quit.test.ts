/**
 * Quit calls against real servers: each answers as the sidecars of the presets do.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { HttpAction, QuitAction } from '../../../src/core/config.ts';
import { type ActionEnd, startAction } from '../../../src/runtime/probes/probe.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, server: Server) => void;

async function serve(t: TestContext, answer: Answer): Promise<number> {
  const server = createServer((request, response) => answer(request, response, server));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const leave: Answer = (_request, response, server) => {
  response.end();
  server.close();
};

function quitOf(port: number, ...paths: readonly string[]): QuitAction {
  const call = (path: string): HttpAction => ({
    kind: 'http',
    method: 'POST',
    scheme: 'http',
    host: '127.0.0.1',
    port,
    path,
    headers: [['X-Vault-Request', 'true']],
  });
  const [first = '/quit', ...rest] = paths;
  return { kind: 'quit', name: 'x', calls: [call(first), ...rest.map(call)], hint: 'switch it on' };
}

const endOf = (action: QuitAction, timeoutMs: number | undefined): Promise<ActionEnd> =>
  new Promise((resolve) => startAction(action, { timeoutMs, onEnd: resolve }));

test('a server that leaves when it is asked has gone', async (t) => {
  const seen: string[] = [];
  const port = await serve(t, (request, response, server) => {
    seen.push(`${request.method} ${request.url} ${request.headers['x-vault-request']}`);
    leave(request, response, server);
  });
  assert.deepEqual(await endOf(quitOf(port), undefined), { ok: true, detail: 'it has gone', output: '' });
  assert.deepEqual(seen, ['POST /quit true']);
});

test('several calls are made in order', async (t) => {
  const seen: (string | undefined)[] = [];
  const port = await serve(t, (request, response, server) => {
    seen.push(request.url);
    if (request.url === '/c') return leave(request, response, server);
    response.end();
  });
  assert.equal((await endOf(quitOf(port, '/a', '/b?graceful', '/c'), undefined)).ok, true);
  assert.deepEqual(seen, ['/a', '/b?graceful', '/c']);
});

test('a server that dies before it has answered has gone', async (t) => {
  const port = await serve(t, (request, _response, server) => {
    server.close();
    request.socket.destroy();
  });
  assert.equal((await endOf(quitOf(port), undefined)).detail, 'it has gone');
});

test('a server that was not there needs no call', async (t) => {
  const port = await serve(t, leave);
  await endOf(quitOf(port), undefined);
  assert.deepEqual(await endOf(quitOf(port), undefined), { ok: true, detail: 'nothing listened there', output: '' });
});

test('an endpoint that is switched off is said with where to switch it on', async (t) => {
  const port = await serve(t, (_request, response) => response.writeHead(404).end());
  assert.deepEqual(await endOf(quitOf(port), undefined), {
    ok: false,
    detail: '/quit: status 404; switch it on',
    output: '',
  });
});

test('any other refusal is told as it is', async (t) => {
  const port = await serve(t, (_request, response) => response.writeHead(405).end());
  assert.equal((await endOf(quitOf(port), undefined)).detail, '/quit: status 405');
});

test('a server that says yes and stays is told when the time is over', async (t) => {
  const port = await serve(t, (_request, response) => response.end());
  const { ok, detail } = await endOf(quitOf(port), 3_000);
  assert.deepEqual(
    [ok, detail],
    [false, 'it was asked (status 200) and has not gone: its port is open, still or again'],
  );
});

test('a server that never answers does not hang the caller', async (t) => {
  const port = await serve(t, () => {});
  const { ok, detail } = await endOf(quitOf(port), 300);
  assert.deepEqual([ok, detail], [false, 'timed out after 300ms']);
});

test('a look that fails for want of a descriptor is no proof that it has gone', async () => {
  const script = fileURLToPath(new URL('./crowded.ts', import.meta.url));
  const words = ['-c', 'ulimit -n 64 && exec "$0" "$1"', process.execPath, script];
  const { stdout } = await promisify(execFile)('/bin/sh', words, { timeout: 120_000 });
  assert.equal(stdout, 'false it was asked (status 200), but whether it has gone cannot be seen: too many open files');
});
