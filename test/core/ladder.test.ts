import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { forwardTable, ladderOf, translate } from '../../src/core/ladder.ts';
import { mainConfig, sidecarConfig } from './helpers.ts';
import { Life, main } from './life.ts';

const LADDER = [
  { signal: 15, forMs: 20_000 },
  { signal: 2, forMs: 5_000 },
  { signal: 9, forMs: undefined },
] as const;
const DEAF = { on: { 15: 'ignores', 2: 'ignores', 3: 'ignores', 10: 'ignores' } } as const;

describe('the ladder', () => {
  it('without a ladder the signal that asked is the only rung, translated', () => {
    assert.deepEqual(ladderOf(mainConfig(), 15), [{ signal: 15, forMs: undefined }]);
    assert.deepEqual(ladderOf(mainConfig({ signals: { 15: 3 } }), 15), [{ signal: 3, forMs: undefined }]);
    assert.deepEqual(ladderOf(mainConfig({ signals: { 15: 'drop' } }), 15), [{ signal: 15, forMs: undefined }]);
  });

  it('a declared ladder replaces the signal that arrived', () => {
    assert.deepEqual(ladderOf(mainConfig({ ladder: LADDER, signals: { 15: 3 } }), 2), LADDER);
  });

  it('a dropped stop signal asks for nothing unless a ladder replaces it', () => {
    const dropped = new Life(main({ signals: { 15: 'drop' } })).signal(15).pass(60_000);
    assert.deepEqual([dropped.phase, dropped.signals], ['running', []]);
    const replaced = new Life(main({ signals: { 15: 'drop' }, ladder: [{ signal: 3, forMs: undefined }] })).signal(15);
    assert.equal(replaced.sent, '0 QUIT');
  });

  it('each rung comes once and in its time', () => {
    const life = new Life(main({ ladder: LADDER }, DEAF)).pass(1_000).signal(15);
    life.passUntilGone();
    assert.equal(life.sent, '1000 TERM, 21000 INT, 26000 KILL');
    assert.equal(life.exitCode, 137);
  });

  it('the deadline cuts the ladder short', () => {
    const life = new Life(main({ ladder: LADDER, gracePeriodMs: 10_000 }, DEAF)).signal(15).passUntilGone();
    assert.equal(life.sent, '0 TERM, 9500 KILL');
  });

  it('the first rung may be KILL', () => {
    const life = new Life(main({ ladder: [{ signal: 9, forMs: undefined }] }, DEAF)).signal(15);
    assert.deepEqual([life.signals, life.exitCode], [[[0, 9]], 137]);
  });

  it('an undeclared grace period never ends in our KILL', () => {
    const life = new Life(main({}, DEAF)).signal(15).pass(3_600_000);
    assert.deepEqual([life.signals, life.phase], [[[0, 15]], 'stopping']);
  });

  it('a second stop request goes to the next rung, and sends no signal twice', () => {
    const life = new Life(main({ ladder: LADDER }, DEAF));
    life.signal(15).pass(1_000).signal(15);
    assert.equal(life.sent, '0 TERM, 1000 INT');
    const alone = new Life(main({}, DEAF)).signal(15).signal(15).signal(15);
    assert.equal(alone.sent, '0 TERM');
  });

  it('only the third interrupt from a terminal is KILL', () => {
    const life = new Life(main({}, DEAF));
    life.signal(2, { terminal: true }).signal(2, { terminal: true });
    assert.equal(life.sent, '0 INT');
    assert.equal(life.fork().signal(2).sent, '0 INT');
    assert.equal(life.signal(2, { terminal: true }).sent, '0 INT, 0 KILL');
  });

  it('the end of the group of an earlier child ends no one', () => {
    const life = new Life(main({}, { leaves: 15 })).endChild(0);
    life.feed({ type: 'groupGone', id: 7, strays: 0 });
    assert.equal(life.exitCode, undefined);
    assert.equal(life.passUntilGone().exitedAtMs, 15);
  });

  it('leftovers that were signalled are not signalled again by the stop', () => {
    const life = new Life(main({}, { ...DEAF, leaves: 'untilKilled' }));
    life.endChild(0).pass(1_000).signal(15).pass(1_000);
    assert.equal(life.sent, '20 TERM');
  });
});

describe('the signals that are passed on', () => {
  it('all signals are forwarded but stop requests, KILL, STOP, CHLD and dropped ones', () => {
    const table = forwardTable(mainConfig({ signals: { 1: 'drop', 10: 12 } }));
    for (const never of [1, 2, 9, 15, 17, 19]) assert.equal(table[never], undefined, String(never));
    assert.equal(table[10], 12);
    for (const as of [3, 12, 28, 32, 33, 34, 37, 64]) assert.equal(table[as], as);
    assert.equal(Object.keys(table).length, 58);
  });

  it('stop requests are forwarded to a lone command without drain, hook and ladder', () => {
    const table = (change: Partial<MemberConfig>) => forwardTable(mainConfig({ solo: true, ...change }));
    for (const change of [{}, { drain: { kind: 'fixed', ms: 0 } }] as const) assert.equal(table(change)[15], 15);
    assert.equal(table({ signals: { 15: 3, 2: 'drop' } })[15], 3);
    assert.equal(table({ signals: { 15: 3, 2: 'drop' } })[2], undefined);
    for (const change of [
      { solo: false },
      { role: 'sidecar' },
      { drain: { kind: 'fixed', ms: 1 } },
      { ladder: [{ signal: 15, forMs: undefined }] },
      { preStop: { kind: 'sleep', ms: 1 } },
    ] as const)
      assert.equal(table(change)[15], undefined, JSON.stringify(change));
  });

  it('translation is not chained', () => {
    assert.equal(translate(mainConfig({ signals: { 15: 3, 3: 'drop' } }), 15), 3);
  });

  it('a signal that is no stop request reaches the child once, translated, in every phase', () => {
    const life = new Life(main({ signals: { 1: 10, 12: 'drop' } }, DEAF)).signal(1).signal(12).signal(37);
    assert.equal(life.sent, '0 USR1, 0 RTMIN+3');
    assert.equal(life.phase === 'running' || life.exitCode !== undefined, true);
  });

  it('a real-time signal may be a stop request', () => {
    const life = new Life(main({ stopSignals: [37], signals: { 37: 15 } }, DEAF));
    life.signal(15).signal(37);
    assert.equal(life.sent, '0 TERM, 0 TERM');
    assert.equal(life.tombstone.StopReason, 'signal RTMIN+3');
  });

  it('the host forwards from the start of each child on', () => {
    const life = new Life({ config: sidecarConfig(), peers: [] }).endChild(0).pass(1_000);
    const told = life.done.flatMap(({ effect }) => (effect.type === 'forward' ? [effect.id] : []));
    assert.deepEqual(told, [1, 2]);
  });
});
