/** What a collector receives of `run --otlp`: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { type SpanJson, spansOf } from './otlp-json.ts';

interface Collector {
  readonly url: string;
  readonly spans: SpanJson[];
}

async function collector(t: TestContext, answer: (response: ServerResponse) => void = ok): Promise<Collector> {
  const spans: SpanJson[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    assert.deepEqual([request.method, request.url], ['POST', '/v1/traces']);
    assert.equal(request.headers['content-type'], 'application/json');
    void json(request).then((body) => {
      spans.push(...spansOf(body));
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

function ok(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

interface Ended {
  readonly code: number | null;
  readonly log: string;
}

/** A member whose command stops itself with TERM, as a platform would. */
async function end(flags: readonly string[], command = 'kill -TERM $PPID; exec sleep 60'): Promise<Ended> {
  const child = spawn(SEXTON, ['run', '--restart-policy', 'Never', ...flags, '--', 'sh', '-c', command], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { log: await text(child.stderr), code: await ended };
}

describe('run --otlp', () => {
  it('run --otlp sends a span for the stop, one for the member and one for each phase', async (t) => {
    const { url, spans } = await collector(t);
    const { code } = await end(['--name', 'web', '--otlp', url, '--drain', '100ms', '--grace-period', '10s']);
    assert.equal(code, 143);
    assert.equal(spans.map(({ name }) => name).join(), 'stop,web,drain,TERM');
    const [stop, web, drain, term] = spans;
    assert.deepEqual([stop?.parentSpanId, web?.parentSpanId], [undefined, stop?.spanId]);
    assert.deepEqual([drain?.parentSpanId, term?.parentSpanId], [web?.spanId, web?.spanId]);
    assert.deepEqual(web?.attributes['sexton.stop_reason'], 'signal TERM');
    assert.deepEqual(web?.attributes['sexton.grace_ms'], '10000');
    assert.equal(web?.isFailed, false);
    assert.ok(drain !== undefined && term !== undefined);
    assert.ok(drain.endNs <= term.startNs && drain.endNs - drain.startNs >= 100_000_000n);
    assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
  });

  it('run --otlp puts all members of a pod into one trace with one root, and marks a forced end', async (t) => {
    const { url, spans } = await collector(t);
    const graveyard = temporaryDirectory();
    const shared = ['--otlp', url, '--graveyard', graveyard, '--session', 'pod-1', '--grace-period', '10s'];
    // It ends by itself, and the sidecar that does not end by TERM with it.
    const main = end(
      ['--name', 'main', ...shared],
      'while [ ! -e "$0/proxy" ]; do sleep 0.1; done; sleep 0.3'.replaceAll('$0', graveyard),
    );
    const proxy = end(
      ['--name', 'proxy', '--role', 'sidecar', '--mains', 'main', '--stop', 'TERM:100ms,KILL', ...shared],
      'trap "" TERM; while :; do sleep 0.1; done',
    );
    await Promise.all([main, proxy]);
    assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    assert.equal(roots.map(({ name }) => name).join(), 'stop');
    const members = spans.filter(({ parentSpanId }) => parentSpanId === roots[0]?.spanId);
    const failed = members.map(({ name, isFailed }) => `${name} ${isFailed}`);
    assert.deepEqual(failed.sort(), ['main false', 'proxy true']);
    assert.equal(members.find(({ name }) => name === 'proxy')?.attributes['sexton.forced_by'], 'sexton');
  });

  it('run --otlp says why a trace was not delivered, and still ends with the code of the command', async (t) => {
    const silent = await collector(t, () => {});
    const busy = await collector(t, (response) => void response.writeHead(503).end());
    const gone = await collector(t);
    const flags = ['--name', 'web', '--grace-period', '10s'];
    for (const [url, why] of [
      [silent.url, 'no answer within 300 ms'],
      [busy.url, 'it answers 503'],
      [gone.url.replace(/:\d+$/, ':1'), 'ECONNREFUSED'],
    ] as const) {
      const { code, log } = await end(['--otlp', url, ...flags]);
      assert.equal(code, 143, log);
      assert.match(log, new RegExp(`"message":"the trace was not delivered: ${why}"`));
    }
  });

  it('run --otlp never waits past the deadline', async (t) => {
    const silent = await collector(t, () => {});
    const { log } = await end(['--name', 'web', '--otlp', silent.url, '--grace-period', '250ms']);
    const [, ms] = /the trace was not delivered: no answer within (\d+) ms/.exec(log) ?? [];
    assert.ok(/the deadline is near/.test(log) || Number(ms) <= 150, log);
  });

  it('run --otlp does not end the supervisor where a fraction of a millisecond is left', async (t) => {
    const silent = await collector(t, () => {});
    const late = 'trap "sleep 0.7; exit 3" TERM; kill -TERM $PPID; while :; do sleep 0.05; done';
    const { code, log } = await end(['--name', 'web', '--otlp', silent.url, '--grace-period', '1s'], late);
    assert.equal(code, 3, log);
    assert.doesNotMatch(log, /ERR_OUT_OF_RANGE|started again/);
  });

  it('a run without --otlp does not load its code', () => {
    const app = join(dirname(SEXTON), 'app');
    assert.doesNotMatch(readFileSync(join(app, 'run.cjs'), 'latin1'), /resourceSpans/);
    assert.match(readFileSync(join(app, 'tools.cjs'), 'latin1'), /resourceSpans/);
  });
});
