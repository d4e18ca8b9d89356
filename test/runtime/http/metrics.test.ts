/** /metrics in every state of a life, read as strictly as promtool does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { metricsOf } from '../../../src/runtime/http/metrics.ts';
import { peers } from '../../core/arbitraries.ts';
import { anything, member, performAny, script } from '../../core/arbitraries-actions.ts';
import { instant, mainConfig, probes } from '../../core/helpers.ts';
import { Life } from '../../core/life.ts';
import { readExposition } from './exposition.ts';
import '../../helpers/seeded.ts';

function metrics(life: Life): ReturnType<typeof readExposition> {
  return readExposition(metricsOf(life.config, 'keep', { ...life.state, now: instant(life.nowMs) }));
}

describe('metrics', () => {
  it('metrics are well-formed in every state, and no counter falls, even with a new supervisor', () => {
    fc.assert(
      fc.property(member, script, peers, anything, (config, child, found, todo) => {
        const life = new Life({ config, child, peers: found });
        const before = new Map<string, number>();
        for (const one of todo) {
          performAny(life, one);
          for (const [name, { type, samples }] of Object.entries(metrics(life))) {
            if (type !== 'counter') continue;
            for (const [labels, value] of Object.entries(samples)) {
              const key = `${name}{${labels}}`;
              assert.ok(value >= (before.get(key) ?? 0), key);
              before.set(key, value);
            }
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('metrics have the values of a life, in seconds', () => {
    const config = mainConfig({
      gracePeriodMs: 20_000,
      restart: 'always',
      ...probes({ readiness: {}, liveness: { failures: 1 } }),
    });
    const child = {
      on: { 15: 'ignores' },
      actions: { readiness: [{ afterMs: 1, ok: true }], liveness: [{ afterMs: 1, ok: true }] },
    } as const;
    const life = new Life({ config, child, peers: [] }).pass(1_500);
    const running = metrics(life);
    assert.equal(running.sexton_ready?.samples[''], 1);
    assert.equal(running.sexton_phase?.samples['phase="running"'], 1);
    assert.equal(running.sexton_probe_results_total?.samples['probe="readiness",result="success"'], 2);
    assert.equal(running.sexton_stop_age_seconds, undefined);
    const stopping = metrics(life.signal(15).pass(2_000));
    assert.equal(stopping.sexton_stop_age_seconds?.samples[''], 2);
    assert.equal(stopping.sexton_grace_left_seconds?.samples[''], 18);
    assert.equal(stopping.sexton_signals_received_total?.samples[''], 1);
    assert.equal(stopping.sexton_ready?.samples[''], 0);
    const again = metrics(life.loseSupervisor().feed({ type: 'booted' }));
    assert.equal(again.sexton_supervisor_starts_total?.samples[''], 2);
    assert.equal(again.sexton_signals_received_total?.samples[''], 1);
  });
});
