import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QuitAction } from '../../../src/core/config.ts';
import { SIGTERM } from '../../../src/core/signals.ts';
import { mainConfig, readyOf, sidecarConfig } from '../helpers.ts';
import { type ChildScript, Life, main } from '../life.ts';

const call = {
  kind: 'http',
  method: 'POST',
  scheme: 'http',
  host: '127.0.0.1',
  port: 15_020,
  path: '/q',
  headers: [],
} as const;
const quitOf = (name: string): QuitAction => ({ kind: 'quit', name, calls: [call], hint: undefined });
const quit = [quitOf('istio'), quitOf('dapr')];
const leavesAfter = (afterMs: number) => ({ istio: [{ afterMs, ok: true }] });

describe('quit calls', () => {
  it('a main that has ended makes all quit calls at once, and exits after them', () => {
    for (const code of [0, 3]) {
      const child: ChildScript = { endsAfterMs: 100, code, actions: leavesAfter(700) };
      const life = new Life({ config: mainConfig({ quit }), child, peers: [] }).pass(500);
      assert.deepEqual([life.runsOf('istio'), life.runsOf('dapr')], [[100], [100]]);
      assert.deepEqual([life.tombstone.ExitCode, life.tombstone.Phase], [code, 'dead'], 'its death is written before');
      assert.equal(life.exitCode, undefined);
      assert.deepEqual([life.passUntilGone().exitCode, life.exitedAtMs, life.exits.length], [code, 800, 1]);
    }
  });

  it('quit calls that do not even end are given up', () => {
    const child: ChildScript = { actions: { istio: ['deaf'] } };
    const config = mainConfig({ quit: [quitOf('istio')], restart: 'always' });
    const between = new Life({ config, child, peers: [] }).endChild(0).signal(SIGTERM).passUntilGone();
    assert.deepEqual([between.exitCode, between.exitedAtMs], [0, 12_000]);
  });

  it('quit calls without an answer keep the container for 10 s', () => {
    const child: ChildScript = { endsAfterMs: 100, actions: { istio: ['never'], dapr: ['deaf'] } };
    const life = new Life({ config: mainConfig({ quit }), child, peers: [] }).passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 12_100]);
    assert.ok(life.logs.some((line) => /cannot make istio leave/.test(line)));
  });

  it('a stop request breaks quit calls off', () => {
    const child: ChildScript = { endsAfterMs: 100, actions: { istio: ['never'] } };
    const life = new Life({ config: mainConfig({ quit }), child, peers: [] }).pass(500).signal(SIGTERM);
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.exits.length], [0, 500, 1]);
  });

  it('A8 the repeated stop signal does not break quit calls off', () => {
    const child: ChildScript = { actions: { istio: ['never'] } };
    const life = new Life({ config: mainConfig({ quit }), child, peers: [] }).signal(SIGTERM).pass(20).signal(SIGTERM);
    assert.deepEqual([life.phase, life.exitCode], ['dead', undefined]);
    assert.equal(life.pass(1_000).signal(SIGTERM).exitCode, 143);
  });

  it('quit calls end before the platform’s KILL, and the exit code stays', () => {
    const child: ChildScript = { on: { [SIGTERM]: { code: 3, afterMs: 100 } }, actions: { istio: ['never'] } };
    const life = new Life({ config: mainConfig({ quit, gracePeriodMs: 5_000 }), child, peers: [] }).signal(SIGTERM);
    life.passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.exits.length], [3, 4_750, 1]);
  });

  it('quit calls are not made before another life, by a sidecar, or without a start', () => {
    const failing = { endsAfterMs: 100, code: 1 };
    const retried = new Life({ config: mainConfig({ quit, restartPolicy: 'OnFailure' }), child: failing, peers: [] });
    const sidecar = new Life({ config: sidecarConfig({ quit }), child: failing, peers: [] });
    const stopped = new Life(main({ quit, startAfter: [{ name: 'x', condition: 'started', optional: false }] }));
    stopped.signal(SIGTERM);
    for (const life of [retried, sidecar, stopped]) assert.deepEqual(life.pass(200).runs, []);
  });

  it('quit calls are made when the start gate of a main does not open', () => {
    const config = mainConfig({ quit, startTimeoutMs: 5_000, startReady: [readyOf('linkerd')] });
    const child: ChildScript = { actions: { ...leavesAfter(700), linkerd: ['never'] } };
    const life = new Life({ config, child, peers: [] }).passUntilGone();
    assert.deepEqual([life.runsOf('istio'), life.exitCode, life.exitedAtMs, life.spawns], [[5_000], 125, 5_700, []]);
    const again = { ...config, restartPolicy: 'OnFailure' as const };
    assert.deepEqual(new Life({ config: again, child, peers: [] }).passUntilGone().runsOf('istio'), []);
  });

  it('quit calls are made again by the next supervisor', () => {
    const child: ChildScript = { endsAfterMs: 100, actions: { istio: ['never', { afterMs: 50, ok: true }] } };
    const life = new Life({ config: mainConfig({ quit: [quitOf('istio')] }), child, peers: [] }).pass(500);
    life.loseSupervisor().feed({ type: 'booted' });
    assert.deepEqual([life.passUntilGone().exitCode, life.runsOf('istio').length], [0, 2]);
  });
});
