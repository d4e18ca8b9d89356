import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { forwardTable, ladderOf, stopTable, translate } from '../../src/core/ladder.ts';
import { ordersOf } from '../../src/core/orders.ts';
import { alive, fixed, mainConfig, sidecarConfig } from './helpers.ts';
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
    assert.equal(new Life(main({}, DEAF)).signal(15).signal(15).signal(15).sent, '0 TERM');
  });

  it('a rung is not sent if init has passed the same signal on for a further request', () => {
    const ladder = [
      { signal: 3, forMs: 10_000 },
      { signal: 15, forMs: 5_000 },
      { signal: 9, forMs: undefined },
    ];
    for (const [afterMs, killedMs] of [
      [500, 15_000],
      [2_000, 7_000],
    ] as const) {
      const life = new Life(main({ ladder }, DEAF)).signal(15);
      const passed = { id: 1, row: 'each', signal: 15, as: 15, senderPid: 0, receiverPid: 101 } as const;
      life.pass(afterMs).feed({ type: 'ordered', ...passed });
      assert.equal(life.passUntilGone().sent, `0 QUIT, ${killedMs} KILL`);
    }
  });

  it('only the third interrupt from a terminal is KILL', () => {
    const life = new Life(main({}, DEAF));
    life.signal(2, { terminal: true }).signal(2, { terminal: true });
    assert.equal(life.sent, '0 INT');
    assert.equal(life.fork().signal(2).sent, '0 INT');
    assert.equal(life.signal(2, { terminal: true }).sent, '0 INT, 0 KILL');
  });

  it('the end of the roots of an earlier child ends no one', () => {
    const life = new Life(main({}, { leaves: 15 })).endChild(0);
    life.feed({ type: 'rootsGone', id: 7 });
    assert.equal(life.exitCode, undefined);
    assert.equal(life.passUntilGone().exitedAtMs, 15);
  });

  it('roots that were signalled are not signalled again by the stop', () => {
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
    const config = sidecarConfig();
    const life = new Life({ config, peers: [] });
    const idOf = (): unknown => ordersOf(config, life.state).id;
    assert.equal(idOf(), 1);
    life.endChild(0).pass(1_000);
    assert.equal(idOf(), 2);
  });
});

/** What the host was last told about the next stop request. */
function offered(life: Life): Readonly<Record<number, number>> | undefined {
  return ordersOf(life.config, life.state).rows.find((row) => row.when === 'first')?.table;
}

describe('a stop that waits for nothing', () => {
  it('a main that waits for nothing lets init forward each stop signal as its first rung', () => {
    assert.deepEqual(offered(new Life(main())), { 15: 15, 2: 2 });
    const ladder = [{ signal: 3, forMs: undefined }];
    assert.deepEqual(offered(new Life(main({ ladder }))), { 15: 3, 2: 3 });
    assert.deepEqual(stopTable(mainConfig({ ladder: [{ signal: 9, forMs: undefined }] })), {});
    assert.deepEqual(stopTable(mainConfig({ signals: { 15: 'drop', 2: 3 } })), { 2: 3 });
  });

  it('a sidecar, a drain, and an unread graveyard let init forward nothing', () => {
    assert.equal(offered(new Life({ config: sidecarConfig(), peers: [alive('main')] })), undefined);
    assert.equal(offered(new Life(main({ drain: fixed(1) }))), undefined);
    assert.equal(offered(new Life({ config: mainConfig() })), undefined);
  });

  it('a main keeps its stop to itself while a member that started after it lives', () => {
    const dependent = (over: object): ReturnType<typeof alive> => alive('second', { StartAfter: ['main'], ...over });
    const life = new Life(main({ name: 'main' }));
    life.see(dependent({}));
    assert.equal(offered(life), undefined);
    life.see(dependent({ Phase: 'dead', Died: '2026-01-01T00:00:00Z', DiedMonotonic: 1e9, ExitCode: 0 }));
    assert.deepEqual(offered(life), { 15: 15, 2: 2 });
  });
});
