/** Idle checks against real servers and files. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { GaugeAction } from '../../../src/core/config.ts';
import { startAction } from '../../../src/runtime/probes/probe.ts';
import { within } from '../../helpers/wait.ts';
import { whyNoSlowVolume, withSlowVolume } from '../../scale/slow.ts';
import { closedPort, failed, httpAction, httpServer, ok, rawServer, run } from './servers.ts';

const gauge = (port: number, ...names: readonly string[]): GaugeAction => ({
  kind: 'gauge',
  call: httpAction(port, { path: '/metrics' }),
  metrics: names.map((name) => ({ name, labels: [] })),
});

test('a status from 200 to 299 is idle, any other is busy, and a redirect is not followed', async (t) => {
  let status = 200;
  const port = await httpServer(t, (_, response) => response.writeHead(status, { location: '/' }).end('body'));
  for (status of [200, 204, 299]) assert.deepEqual(await run(gauge(port)), ok(`status ${status}`));
  for (status of [302, 404, 500, 503]) assert.deepEqual(await run(gauge(port)), failed(`status ${status}`));
});

test('metrics of more than 1 MiB are summed as they arrive', async (t) => {
  const port = await httpServer(t, async (request, response) => {
    assert.deepEqual([request.url, request.headers.accept, request.headers.connection], ['/metrics', '*/*', 'close']);
    for (let part = 0; part < 40; part++) {
      const lines = Array.from({ length: 1_000 }, (_, at) => `filler_${part}{at="${at}"} 12345678901234567890\n`);
      if (!response.write(`running{part="${part}"} ${part % 2}\n${lines.join('')}waiting 1\n`))
        await once(response, 'drain');
    }
    response.end();
  });
  const { ok: isIdle, sum } = await run(gauge(port, 'running', 'waiting'));
  assert.deepEqual([isIdle, sum], [false, 60]);
});

test('metrics that are all 0 are idle', async (t) => {
  const port = await httpServer(t, (_, response) => response.end('# TYPE running gauge\nrunning 0.0\nwaiting 0'));
  assert.deepEqual(await run(gauge(port, 'running', 'waiting')), { ...ok('0 running'), sum: 0 });
  assert.deepEqual(await run(gauge(port, 'running', 'waitng')), failed('no metric waitng'));
});

test('metrics with a status beyond 299 are busy, whatever they say', async (t) => {
  const port = await httpServer(t, (_, response) => response.writeHead(500).end('running 0\n'));
  assert.deepEqual(await run(gauge(port, 'running')), failed('status 500'));
});

test('an answer that breaks off, hangs or never ends is busy', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const cut = await rawServer(t, `${head}content-length: 99\r\n\r\nrunning 0\n`, { closes: true });
  assert.equal((await run(gauge(cut, 'running'))).ok, false);
  const chunk = await rawServer(t, `${head}transfer-encoding: chunked\r\n\r\na\r\nrunning 0\n\r\n`, { closes: true });
  assert.equal((await run(gauge(chunk, 'running'))).ok, false);
  const line = await rawServer(t, `${head}\r\nrunning 0`, { closes: true });
  assert.deepEqual(await run(gauge(line, 'running')), failed('malformed answer: its last line has no end'));
  const hangs = await rawServer(t, `${head}content-length: 99\r\n\r\nrunning 0\n`);
  assert.deepEqual(await run(gauge(hangs, 'running'), 200), failed('timed out after 200ms'));
  assert.deepEqual(await run(gauge(hangs), 200), failed('timed out after 200ms'));
  const silent = await rawServer(t, '');
  assert.deepEqual(await run(gauge(silent), 200), failed('timed out after 200ms'));
});

test('an answer in OpenMetrics that is cut behind a line is busy, as its # EOF is missing', async (t) => {
  const head = 'HTTP/1.0 200 OK\r\ncontent-type: application/openmetrics-text; version=1.0.0\r\n\r\n';
  const cut = await rawServer(t, `${head}running 0\n`, { closes: true });
  assert.deepEqual(await run(gauge(cut, 'running')), failed('malformed answer: its # EOF is missing'));
  const whole = await rawServer(t, `${head}running 0\n# EOF\n`, { closes: true });
  assert.deepEqual(await run(gauge(whole, 'running')), { ...ok('0 running'), sum: 0 });
});

test('no server, and none that speaks HTTP, is busy', async (t) => {
  assert.deepEqual(await run(gauge(await closedPort(t))), failed('connection refused'));
  assert.equal((await run(gauge(await rawServer(t, 'running 0\n'), 'running'))).ok, false);
  assert.equal((await run(gauge(await rawServer(t, '', { closes: true }), 'running'))).ok, false);
});

test('a check that is ended closes its connection and says nothing', async (t) => {
  const accepted = Promise.withResolvers<Socket>();
  const port = await rawServer(t, '', { onSocket: accepted.resolve });
  const running = startAction(gauge(port, 'running'), { timeoutMs: undefined, onEnd: () => assert.fail('an end') });
  const closed = once(await accepted.promise, 'close');
  running.end();
  await closed;
});

test('a file means busy while it is there, or idle while it is there', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sexton-idle-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'mark');
  const ask = async (idle: 'absent' | 'present', at = path) => (await run({ kind: 'file', path: at, idle })).ok;
  assert.deepEqual([await ask('absent'), await ask('present')], [true, false]);
  writeFileSync(path, '');
  assert.deepEqual([await ask('absent'), await ask('present')], [false, true]);
  // What cannot be looked at is neither.
  const below = join(path, 'below');
  assert.deepEqual([await ask('absent', below), await ask('present', below)], [false, false]);
});

test('a busy file without its directory proves nothing, and a link to nowhere is a file', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sexton-idle-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const ask = (name: string) => run({ kind: 'file', path: join(dir, name), idle: 'absent' });
  symlinkSync('nowhere', join(dir, 'lock'));
  assert.deepEqual([(await ask('none/mark')).ok, (await ask('lock')).ok], [false, false]);
});

test('a file on a volume that hangs takes one thread, however often it is asked for', {
  skip: whyNoSlowVolume(),
}, async () => {
  await withSlowVolume(async (volume) => {
    await volume.hang();
    try {
      for (let question = 0; question < 6; question++)
        assert.deepEqual(
          await run({ kind: 'file', path: join(volume.dir, 'busy'), idle: 'absent' }, 100),
          failed('timed out after 100ms'),
        );
      await within('another file is looked at', stat(import.meta.dirname), 5_000);
    } finally {
      await volume.go();
    }
  });
});
