/** A KILL that comes earlier than declared: what is waited for ends before it. Times count from the stop request. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { ADAPTIVE_DRAIN, alive, fixed, mainConfig, sidecarConfig } from '../helpers.ts';
import { Life } from '../life.ts';

const DEAF = { on: { 15: 'ignores' as const } };

function asked(change: Partial<MemberConfig>): Life {
  const config = mainConfig({ gracePeriodMs: 60_000, graceFloorMs: 10_000, ...change });
  return new Life({ config, peers: [], child: DEAF }).pass(5_000).signal(15);
}

function heldBy(change: Partial<MemberConfig> = {}): Life {
  const config = sidecarConfig({ gracePeriodMs: 60_000, graceFloorMs: 10_000, ...change });
  return new Life({ config, peers: [alive('a')], child: DEAF }).pass(5_000).signal(15);
}

const signals = ({ done }: Life): readonly number[] =>
  done.flatMap(({ effect }) => (effect.type === 'kill' ? [effect.signal] : []));

describe('C3: a declared grace floor', () => {
  it('ends a drain 2 s before the KILL that may come, and the command keeps what is left of its grace period', () => {
    const life = asked({ drain: fixed(30_000) }).pass(7_999);
    assert.deepEqual(signals(life), []);
    assert.deepEqual(signals(life.pass(1)), [15]);
    assert.deepEqual(signals(life.pass(51_000)), [15]);
    assert.deepEqual(signals(life.pass(1_000)), [15, 9]);
  });

  it('ends an adaptive drain, which says so', () => {
    const life = asked({ drain: { ...ADAPTIVE_DRAIN, maxMs: 30_000 } }).pass(8_000);
    assert.deepEqual([signals(life), life.state.traffic?.ended], [[15], 'grace floor']);
  });

  it('ends the hold of a sidecar 1 s before the KILL, after the drain of its main', () => {
    const life = heldBy().pass(8_999);
    assert.deepEqual([signals(life), life.state.phase], [[], 'holding']);
    assert.deepEqual(signals(life.pass(1)), [15]);
  });

  it('leaves a main half of a short one, and a sidecar a quarter', () => {
    assert.deepEqual(signals(asked({ drain: fixed(5_000), graceFloorMs: 2_000 }).pass(999)), []);
    assert.deepEqual(signals(asked({ drain: fixed(5_000), graceFloorMs: 2_000 }).pass(1_000)), [15]);
    assert.deepEqual(signals(heldBy({ graceFloorMs: 2_000 }).pass(1_499)), []);
    assert.deepEqual(signals(heldBy({ graceFloorMs: 2_000 }).pass(1_500)), [15]);
  });

  it('ends a pre-stop hook, and begins none when the drain has taken all of it', () => {
    const preStop = { kind: 'sleep', ms: 30_000 } as const;
    const begun = ({ state }: Life): number => state.chronicle.history.filter(({ Event }) => Event === 'hook').length;
    const hook = asked({ preStop });
    assert.deepEqual([signals(hook.pass(7_999)), begun(hook)], [[], 1]);
    assert.deepEqual(signals(hook.pass(1)), [15]);
    const late = asked({ preStop, drain: fixed(30_000) }).pass(8_000);
    assert.deepEqual([signals(late), begun(late)], [[15], 0]);
  });

  it('counts from the request of the platform, not from that of sexton stop before it', () => {
    const config = mainConfig({ gracePeriodMs: 60_000, graceFloorMs: 10_000, drain: fixed(50_000) });
    const life = new Life({ config, peers: [], child: DEAF }).pass(5_000);
    life.feed({ type: 'stopAsked', graceMs: undefined, among: undefined });
    assert.deepEqual(signals(life.pass(20_000)), []);
    assert.deepEqual(signals(life.signal(15).pass(7_999)), []);
    assert.deepEqual(signals(life.pass(1)), [15]);
  });

  it('is none where none is declared', () => {
    assert.deepEqual(signals(asked({ drain: fixed(30_000), graceFloorMs: undefined }).pass(29_999)), []);
  });
});
