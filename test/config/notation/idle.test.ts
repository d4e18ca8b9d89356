/** `--idle-when`: what it takes, what it means, and what it implies for the drain. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatIdleCheck, parseIdleCheck } from '../../../src/config/notation/actions/idle.ts';
import { IDLE_PRESETS } from '../../../src/config/notation/actions/idle-presets.ts';
import type { GaugeAction, IdleCheck } from '../../../src/core/config.ts';
import { resolved } from '../files.ts';
import { comesBack } from './comes-back.ts';

function parsed(text: string): IdleCheck {
  const result = parseIdleCheck(text);
  assert.ok(result.ok, `${text}: ${JSON.stringify(result)}`);
  return result.value;
}

const metricsOf = (text: string) => (parsed(`http://:80/metrics,metric=${text}`).action as GaugeAction).metrics;
const PLAIN = { noNullPrototype: true } as const;
const DEFAULTS = { periodMs: 1_000, timeoutMs: 1_000, forMs: 2_000, staleMs: 0 };

describe('an idle check', () => {
  it('an idle check by HTTP has a status, or metrics with labels', () => {
    const { action } = parsed('http://:8000/idle');
    assert.deepEqual(action.kind === 'gauge' && [action.call.host, action.call.port, action.metrics], [
      '127.0.0.1',
      8000,
      [],
    ]);
    assert.deepEqual(metricsOf('vllm:running+vllm:waiting'), [
      { name: 'vllm:running', labels: [] },
      { name: 'vllm:waiting', labels: [] },
    ]);
    const jobs = [{ name: 'jobs', labels: [['state', 'active']] }];
    for (const text of ['jobs{state="active"}', `'jobs{state="active"}'`, 'jobs{state=active}'])
      assert.deepEqual(metricsOf(text), jobs);
    assert.deepEqual(metricsOf(`'jobs{a="x+y",b="1,\\"2"}+other'`), [
      {
        name: 'jobs',
        labels: [
          ['a', 'x+y'],
          ['b', '1,"2'],
        ],
      },
      { name: 'other', labels: [] },
    ]);
  });

  it('an idle check by a file says whether the file means busy or idle', () => {
    assert.deepEqual(parsed('file:/run/busy'), {
      action: { kind: 'file', path: '/run/busy', idle: 'absent' },
      ...DEFAULTS,
    });
    assert.deepEqual(parsed('file:!/run/idle,period=2s,timeout=3s,for=0,stale=30s'), {
      action: { kind: 'file', path: '/run/idle', idle: 'present' },
      ...{ periodMs: 2_000, timeoutMs: 3_000, forMs: 0, staleMs: 30_000 },
    });
  });

  it('`notify` as an idle check takes no option but `for`', () => {
    assert.deepEqual(parsed('notify,for=5s'), { action: { kind: 'notify' }, ...DEFAULTS, forMs: 5_000 });
    for (const text of ['notify,period=1s', 'notify,x', 'notify:x', 'notifyx'])
      assert.equal(parseIdleCheck(text).ok, false, text);
  });

  it('each preset is what its notation says, also with another port and options', () => {
    for (const [name, { port, metric }] of Object.entries(IDLE_PRESETS)) {
      assert.deepEqual(parsed(`preset:${name}`), parsed(`http://:${port}/metrics,metric=${metric}`));
      assert.deepEqual(
        parsed(`preset:${name}:9000,period=5s`),
        parsed(`http://:9000/metrics,metric=${metric},period=5s`),
      );
    }
  });

  it('an idle check reads back the same', () => {
    const time = fc.integer({ min: 1, max: 100_000 });
    const times = { periodMs: time, timeoutMs: time, forMs: time, staleMs: time };
    const metric = fc.record(
      {
        name: fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,9}$/),
        labels: fc.array(fc.tuple(fc.stringMatching(/^[a-z_]{1,5}$/), fc.stringMatching(/^[a-z0-9 +,="'\\.]{0,6}$/)), {
          maxLength: 2,
        }),
      },
      PLAIN,
    );
    const call = { kind: 'http', method: 'GET', scheme: 'http', host: '::1', path: '/m?a=1,b', headers: [] } as const;
    const gauge = fc.record(
      {
        kind: fc.constant('gauge' as const),
        call: fc.integer({ min: 1, max: 65_535 }).map((port) => ({ ...call, port })),
        metrics: fc.array(metric, { maxLength: 3 }),
      },
      PLAIN,
    );
    const file = fc.record(
      {
        kind: fc.constant('file' as const),
        path: fc.stringMatching(/^\/[a-z/. -]{1,9}$/),
        idle: fc.constantFrom('absent' as const, 'present' as const),
      },
      PLAIN,
    );
    const exec = fc.constant({ kind: 'exec', argv: ['sh', '-c', 'test -e /a, for=2s'] } as const);
    comesBack(
      fc.record(
        {
          action: fc.constant({ kind: 'notify' } as const),
          ...times,
          periodMs: fc.constant(1_000),
          timeoutMs: fc.constant(1_000),
          staleMs: fc.constant(0),
        },
        PLAIN,
      ),
      parseIdleCheck,
      formatIdleCheck,
    );
    comesBack(fc.record({ action: fc.oneof(gauge, file, exec), ...times }, PLAIN), parseIdleCheck, formatIdleCheck);
  });
});

describe('the drain of an idle check', () => {
  const drainOf = (...flags: readonly string[]) => {
    const { run, sources } = resolved(['--idle-when', 'file:/run/busy,for=1s', ...flags, '--', 'server']);
    const { drain } = run.member;
    const source = sources.find(({ key }) => key === 'drain')?.source;
    return drain?.kind === 'adaptive' ? [drain.minMs, drain.quietMs, drain.maxMs, source] : drain;
  };

  it('without --drain it takes the grace period but for the share of the ladder and the hook', () => {
    assert.deepEqual(drainOf('--grace-period=60s'), [1_000, 2_000, 58_000, '--idle-when']);
    assert.deepEqual(drainOf('--grace-period=3s'), [1_000, 1_500, 1_500, '--idle-when']);
    assert.deepEqual(drainOf('--grace-period=60s', '--stop=TERM:10s,KILL'), [1_000, 2_000, 50_000, '--idle-when']);
    assert.deepEqual(drainOf('--grace-period=60s', '--pre-stop=sleep:5s'), [1_000, 2_000, 53_000, '--idle-when']);
  });

  it('a drain that is given stays as it is, and quiet=off has no time without connections', () => {
    assert.deepEqual(drainOf('--drain=min=3s,max=9s'), [3_000, 2_000, 9_000, '--drain']);
    assert.deepEqual(drainOf('--drain=min=3s,quiet=off,max=9s'), [3_000, 0, 9_000, '--drain']);
  });
});
