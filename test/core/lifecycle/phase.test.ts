import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phaseOf } from '../../../src/core/lifecycle/phase.ts';
import type { Child, Climb, Stop } from '../../../src/core/state/state.ts';
import { dead, fixed, mainConfig, START } from '../helpers.ts';
import { Life, sidecar } from '../life.ts';

const exit = { code: 0, signal: undefined };
const climb: Climb = { why: 'stop', rung: 0, sinceMs: START, killAtMs: undefined, killed: false };
const gone = { is: 'gone', status: 0, code: 0, reason: 'completed', final: true } as const;
const stop = (waitsFor: Stop['waitsFor']): Stop => ({
  origin: 'platform',
  reason: 'signal TERM',
  atMs: START,
  signal: 15,
  requests: 1,
  earliestMs: START,
  waitsFor,
});
const running: Child = { is: 'alive', id: 1, pid: 100, sinceMs: START };
const leftovers: Child = { is: 'leftovers', id: 1, exit, sinceMs: START, livedMs: 0, oom: false, strays: false };

describe('the phase', () => {
  const { chronicle } = new Life({ config: mainConfig() }).state;
  const up = { ...chronicle, started: '2026-01-01T00:00:00.000000000Z' };
  const phase = (child: Child, wish?: Stop, done?: Climb) =>
    phaseOf({ child, stop: wish, climb: done, failing: undefined, chronicle: up });

  it('the phase follows from what the child is', () => {
    assert.equal(phase({ is: 'unstarted' }), 'waiting');
    assert.equal(phase({ is: 'spawning', id: 1 }), 'starting');
    assert.equal(phase(running), 'running');
    assert.equal(phase(leftovers), 'running');
    assert.equal(phase({ is: 'backoff', untilMs: START, exit }), 'backoff');
    assert.equal(phase(gone), 'dead');
  });

  it('the phase of a living child follows from what is wanted and done', () => {
    for (const child of [running, leftovers]) {
      assert.equal(phase(child, stop('turn')), 'holding');
      assert.equal(phase(child, stop('linger')), 'holding');
      assert.equal(phase(child, stop('drain')), 'draining');
      assert.equal(phase(child, stop(undefined), climb), 'stopping');
      assert.equal(phase(child, undefined, { ...climb, why: 'rest' }), 'stopping');
    }
  });

  it('the phase goes through a life in order, and each change is in the history', () => {
    const life = new Life(sidecar({ drain: fixed(4_000) })).pass(1_000).endChild(1).pass(1_000).signal(15).pass(1_000);
    life.see(dead('work', 0)).passUntilGone();
    const phases = life.tombstone.History?.filter(({ Event }) => Event === 'phase').map(({ Phase }) => Phase);
    const born = ['starting', 'running'];
    assert.deepEqual(phases, [...born, 'backoff', ...born, 'holding', 'draining', 'stopping', 'dead']);
  });
});
