/** A stop signal that comes twice: the second is another request, or the same one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alive, fixed, mainConfig, sidecarConfig } from '../helpers.ts';
import { Life } from '../life.ts';

const GRACE = { gracePeriodMs: 30_000 };
const draining = (): Life => new Life({ config: mainConfig({ ...GRACE, drain: fixed(5_000) }), peers: [] }).signal(15);

describe('A8 a second stop signal', () => {
  it('of the same number within a second is the same request: a drain and a hold go on', () => {
    assert.deepEqual(draining().pass(20).signal(15).pass(979).signal(15).pass(9_000).signals, [[5_000, 15]]);
    const config = sidecarConfig({ ...GRACE, mains: ['work'] });
    const holding = new Life({ config, peers: [alive('work')] }).signal(15).pass(20).signal(15).pass(5_000);
    assert.deepEqual([holding.phase, holding.signals], ['holding', []]);
  });

  it('of another number is another one at once', () => {
    assert.deepEqual(draining().pass(20).signal(2).signals, [[20, 15]]);
  });

  it('from outside is the same request however late where a grace period is declared', () => {
    assert.deepEqual(draining().pass(3_000).signal(15).pass(9_000).signals, [[5_000, 15]]);
    const config = sidecarConfig({ ...GRACE, mains: ['work'] });
    const holding = new Life({ config, peers: [alive('work')] }).signal(15).pass(12_000).signal(15).pass(5_000);
    assert.deepEqual([holding.phase, holding.signals], ['holding', []]);
  });

  it('is another one a second later without a declared grace period, from inside, and by INT', () => {
    const config = mainConfig({ drain: fixed(5_000) });
    assert.deepEqual(new Life({ config, peers: [] }).signal(15).pass(1_000).signal(15).signals, [[1_000, 15]]);
    assert.deepEqual(draining().pass(1_000).signal(15, { pid: 7 }).signals, [[1_000, 15]]);
    const byInt = new Life({ config: mainConfig({ ...GRACE, drain: fixed(5_000) }), peers: [] }).signal(2);
    assert.deepEqual(byInt.pass(1_000).signal(2).signals, [[1_000, 2]]);
  });

  it('from a terminal is meant each time', () => {
    const life = new Life({
      config: mainConfig({ ...GRACE, drain: fixed(5_000) }),
      child: { on: { 2: 'ignores' } },
      peers: [],
    });
    for (let nth = 0; nth < 3; nth += 1) life.signal(2, { terminal: true }).pass(20);
    assert.deepEqual(life.signals, [
      [20, 2],
      [40, 9],
    ]);
  });

  it('does not go on to the next rung', () => {
    const ladder = [
      { signal: 15, forMs: 20_000 },
      { signal: 2, forMs: undefined },
    ];
    const life = new Life({ config: mainConfig({ ...GRACE, ladder }), child: { on: { 15: 'ignores' } }, peers: [] });
    assert.deepEqual(life.signal(15).pass(20).signal(15).pass(1_980).signal(15).signals, [[0, 15]]);
    assert.deepEqual(life.signal(15, { pid: 7 }).signals.at(-1), [2_000, 2]);
  });

  it('behind the platform’s first one after sexton stop is the same request, too', () => {
    const life = new Life({ config: mainConfig({ ...GRACE, drain: fixed(5_000) }), peers: [] }).askToStop();
    assert.deepEqual(life.pass(100).signal(15).pass(20).signal(15).pass(9_000).signals, [[5_000, 15]]);
  });
});
