import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatAction } from '../../../src/config/notation/actions/action.ts';
import { formatProbe, PROBE_DEFAULTS, parseHook, probeParser } from '../../../src/config/notation/actions/probe.ts';
import { formatReloads, parseReloads } from '../../../src/config/notation/reload.ts';
import type { HookAction, Probe, ProbeAction } from '../../../src/core/config.ts';
import { comesBack } from './comes-back.ts';

const plain = { noNullPrototype: true } as const;
const word = fc.string({ unit: 'grapheme-ascii', minLength: 1 });
const argv = fc.tuple(word, word, word).map(([a, b, c]) => [a, b, c] as const);
const host = fc.constantFrom('127.0.0.1', 'localhost', 'db-0.db.svc', '::1', 'fe80::1:2');
const port = fc.integer({ min: 1, max: 65_535 });
const path = fc.stringMatching(/^\/[-A-Za-z0-9_./?=&%+]{0,12}$/);
const header = fc.tuple(fc.stringMatching(/^[A-Za-z-]{1,8}$/), fc.stringMatching(/^([!-~]([ -~]{0,8}[!-~])?)?$/));
const exec = fc.record({ kind: fc.constant('exec' as const), argv }, plain);
const http = fc.record(
  {
    kind: fc.constant('http' as const),
    method: fc.constant('GET' as const),
    scheme: fc.constantFrom('http' as const, 'https' as const),
    host,
    port,
    path,
    headers: fc.array(header, { maxLength: 2 }),
  },
  plain,
);
const tcp = fc.record({ kind: fc.constant('tcp' as const), host, port }, plain);
const grpc = fc.record(
  { kind: fc.constant('grpc' as const), host, port, service: fc.stringMatching(/^[A-Za-z.]{0,9}$/) },
  plain,
);
const sleep = fc.record({ kind: fc.constant('sleep' as const), ms: fc.nat() }, plain);
const someTime = fc.integer({ min: 1, max: 10 ** 9 });

describe('a probe', () => {
  it('a probe comes back the same', () => {
    const probe: fc.Arbitrary<Probe> = fc.record(
      {
        action: fc.oneof(exec, http, tcp, grpc) as fc.Arbitrary<ProbeAction>,
        periodMs: someTime,
        timeoutMs: someTime,
        failures: someTime,
        successes: fc.constant(1),
        delayMs: fc.nat(),
        graceMs: fc.option(someTime, { nil: undefined }),
      },
      plain,
    );
    comesBack(probe, probeParser('liveness'), formatProbe);
  });

  const get = { kind: 'http', method: 'GET', headers: [] } as const;
  const MEANT: Readonly<Record<string, ProbeAction>> = {
    'exec:cat /tmp/ready': { kind: 'exec', argv: ['cat', '/tmp/ready'] },
    "exec:mount -o 'rw,timeout=5s' /x": { kind: 'exec', argv: ['mount', '-o', 'rw,timeout=5s', '/x'] },
    'exec:mount -o rw\\,timeout=5s /x': { kind: 'exec', argv: ['mount', '-o', 'rw,timeout=5s', '/x'] },
    'exec:app --tags a,b,c=d': { kind: 'exec', argv: ['app', '--tags', 'a,b,c=d'] },
    'exec:app -D a,constructor=b': { kind: 'exec', argv: ['app', '-D', 'a,constructor=b'] },
    "exec:sh -c 'echo $(hostname)'": { kind: 'exec', argv: ['sh', '-c', 'echo $(hostname)'] },
    'http://:8080': { ...get, scheme: 'http', host: '127.0.0.1', port: 8080, path: '/' },
    'https://[::1]:443/a,b?c=1,d=%2C': { ...get, scheme: 'https', host: '::1', port: 443, path: '/a,b?c=1,d=%2C' },
    'http://:80/a b': { ...get, scheme: 'http', host: '127.0.0.1', port: 80, path: '/a%20b' },
    'tcp://db:5432': { kind: 'tcp', host: 'db', port: 5432 },
    'grpc://:50051': { kind: 'grpc', host: '127.0.0.1', port: 50_051, service: '' },
    'grpc://:50051/my.Api': { kind: 'grpc', host: '127.0.0.1', port: 50_051, service: 'my.Api' },
  };
  for (const [text, action] of Object.entries(MEANT)) {
    it(`${text} is that action, with the defaults of Kubernetes, and options may follow`, () => {
      assert.deepEqual(probeParser('readiness')(text), { ok: true, value: { action, ...PROBE_DEFAULTS } });
      assert.deepEqual(probeParser('readiness')(`${text},period=500ms,successes=2`), {
        ok: true,
        value: { action, ...PROBE_DEFAULTS, periodMs: 500, successes: 2 },
      });
    });
  }

  it('a probe has the defaults that Kubernetes has', () => {
    const { periodMs, timeoutMs, failures, successes, delayMs } = PROBE_DEFAULTS;
    assert.deepEqual([periodMs, timeoutMs, failures, successes, delayMs], [10_000, 1000, 3, 1, 0]);
  });
});

describe('a hook', () => {
  it('a hook comes back the same', () => {
    const post = http.map((action) => ({ ...action, method: 'POST' as const }));
    comesBack(fc.oneof(exec, http, post, tcp, sleep) as fc.Arbitrary<HookAction>, parseHook, formatAction);
  });
});

describe('reloads', () => {
  it('reloads come back the same, with commas in paths and commands', () => {
    const file = fc.stringMatching(/^\/[-a-z,. ]{0,8}[a-z]$/);
    const reload = fc.record(
      { path: file, signal: fc.constantFrom(1, 10, 37), validate: fc.option(exec, { nil: undefined }) },
      plain,
    );
    comesBack(fc.array(reload, { minLength: 1, maxLength: 3 }), parseReloads, formatReloads);
  });
});
