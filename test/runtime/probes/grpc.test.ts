import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { GrpcAction } from '../../../src/core/config.ts';
import { closedPort, failed, httpServer, ok, rawServer, run } from './servers.ts';

function grpcAction(port: number, service = '', host = '127.0.0.1'): GrpcAction {
  return { kind: 'grpc', host, port, service };
}

test('the status SERVING is a success, and any other is a failure', async (t) => {
  // Field 1 is a number; writers leave out a 0.
  const answers = { '': 'UNKNOWN', '0801': 'SERVING', '0802': 'NOT_SERVING', '0803': 'SERVICE_UNKNOWN' };
  for (const [message, status] of Object.entries(answers)) {
    const { port } = await healthServer(t, (stream) => answer(stream, Buffer.from(message, 'hex')));
    const expected = status === 'SERVING' ? ok('status SERVING') : failed(`status ${status}`);
    assert.deepEqual(await run(grpcAction(port)), expected);
  }
});

test('the call is grpc.health.v1.Health/Check, with the name of the service if there is one', async (t) => {
  const { port, asked } = await healthServer(t, (stream) => answer(stream, Buffer.from('0801', 'hex')));
  await run(grpcAction(port));
  await run(grpcAction(port, 'shop.Cart'));
  const long = 'ü'.repeat(100);
  await run(grpcAction(port, long));
  const { headers } = asked[0] ?? {};
  assert.equal(headers?.[':method'], 'POST');
  assert.equal(headers?.[':path'], '/grpc.health.v1.Health/Check');
  assert.equal(headers?.[':scheme'], 'http');
  assert.equal(headers?.[':authority'], `127.0.0.1:${port}`);
  assert.equal(headers?.['content-type'], 'application/grpc');
  assert.equal(headers?.te, 'trailers');
  assert.match(headers?.['user-agent'] ?? '', /^sexton-probe\//);
  assert.deepEqual(
    asked.map(({ body }) => body.toString('hex')),
    [
      '0000000000',
      `000000000b0a09${Buffer.from('shop.Cart').toString('hex')}`,
      `00000000cb0ac801${Buffer.from(long).toString('hex')}`,
    ],
  );
});

test('a grpc status other than 0 fails by its name, also without a message', async (t) => {
  const trailersOnly = await healthServer(t, (stream) =>
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true }),
  );
  assert.deepEqual(await run(grpcAction(trailersOnly.port)), failed('grpc status 12 (UNIMPLEMENTED)'));
  const after = await healthServer(t, (stream) => answer(stream, Buffer.from('0801', 'hex'), { 'grpc-status': '5' }));
  assert.deepEqual(await run(grpcAction(after.port)), failed('grpc status 5 (NOT_FOUND)'));
  const odd = await healthServer(t, (stream) => answer(stream, Buffer.alloc(0), { 'grpc-status': '99' }));
  assert.deepEqual(await run(grpcAction(odd.port)), failed('grpc status 99 (not a known one)'));
});

test('an answer is accepted in pieces and with fields of a later version', async (t) => {
  const message = Buffer.from('1203616263'.concat('0801', '1900000000000000ff', '250000ffff', '3096ff01'), 'hex');
  const { port } = await healthServer(t, (stream) => {
    start(stream, { 'grpc-status': '0' });
    const bytes = frameOf(message);
    stream.write(bytes.subarray(0, 3));
    stream.end(bytes.subarray(3));
  });
  assert.deepEqual(await run(grpcAction(port)), ok('status SERVING'));
});

test('an answer that is no health check is malformed', async (t) => {
  for (const hex of [
    '',
    '00',
    '0100000002' + '0801',
    '0000000003' + '0801',
    '00000000010' + '8',
    '0000000002' + '12ff',
  ]) {
    const { port } = await healthServer(t, (stream) => {
      start(stream, { 'grpc-status': '0' });
      stream.end(Buffer.from(hex, 'hex'));
    });
    assert.deepEqual(await run(grpcAction(port)), failed('malformed answer: not a health check'), hex);
  }
});

test('an answer that is not gRPC fails, each with its reason', async (t) => {
  const cases: [(stream: ServerHttp2Stream) => void, string][] = [
    [(stream) => stream.respond({ ':status': 404 }, { endStream: true }), 'status 404'],
    [(stream) => stream.respond({ ':status': 200, 'content-type': 'text/html' }), 'malformed answer: not gRPC'],
    [(stream) => answer(stream, Buffer.from('0801', 'hex'), {}), 'malformed answer: no grpc-status'],
    [(stream) => answer(stream, Buffer.alloc(5_000)), 'malformed answer: it is too long'],
    [(stream) => stream.session?.destroy(), 'connection closed without an answer'],
  ];
  for (const [behave, detail] of cases) {
    const { port } = await healthServer(t, behave);
    assert.deepEqual(await run(grpcAction(port)), failed(detail));
  }
});

test('a server that speaks HTTP/1, or something else, or closes, fails', async (t) => {
  const notHttp2 = failed('malformed answer: not HTTP/2');
  assert.deepEqual(await run(grpcAction(await httpServer(t, (_, response) => response.end()))), notHttp2);
  assert.deepEqual(await run(grpcAction(await rawServer(t, 'SSH-2.0-x\r\n'))), notHttp2);
  const closing = await rawServer(t, '', { closes: true });
  assert.deepEqual(await run(grpcAction(closing)), failed('connection closed without an answer'));
});

test('a closed port refuses the call, and a silent server lets it time out, also over IPv6', async (t) => {
  assert.deepEqual(await run(grpcAction(await closedPort(t))), failed('connection refused'));
  const { port } = await healthServer(t, () => {}, '::1');
  assert.deepEqual(await run(grpcAction(port, '', '::1'), 300), failed('timed out after 300ms'));
});

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** `behave` is called when the question is there. */
async function healthServer(t: TestContext, behave: (stream: ServerHttp2Stream) => void, host = '127.0.0.1') {
  const server: Http2Server = createServer();
  const asked: Asked[] = [];
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      asked.push({ headers, body: Buffer.concat(chunks) });
      behave(stream);
    });
  });
  server.on('session', (session) => t.after(() => session.destroy()));
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

function answer(stream: ServerHttp2Stream, message: Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }) {
  start(stream, trailers);
  stream.end(frameOf(message));
}

function start(stream: ServerHttp2Stream, trailers: Record<string, string>): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
}

function frameOf(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
