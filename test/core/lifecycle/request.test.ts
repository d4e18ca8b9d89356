import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alive, command, dead, fixed, mainConfig, sidecarConfig, waiting } from '../helpers.ts';
import type { ChildScript } from '../host.ts';
import { Life, main, sidecar } from '../life.ts';
import { Pod } from '../pod.ts';

const DEAF: ChildScript = { on: { 15: 'ignores' } };
const traps = (afterMs: number): ChildScript => ({ on: { 15: { afterMs, code: 0 } } });
const after = (name: string) => [{ name, condition: 'started', optional: false }] as const;

describe('sexton stop', () => {
  it('`sexton stop` stops a main by drain, pre-stop and ladder', () => {
    const config = mainConfig({ drain: fixed(500), preStop: command('bye'), gracePeriodMs: 30_000 });
    const life = new Life({ config, peers: [], child: traps(100) }).pass(1_000).askToStop();
    assert.deepEqual([life.phase, life.tombstone.StopReason, life.deadlineMs], ['draining', 'request', 31_000]);
    life.passUntilGone();
    assert.deepEqual([life.runsOf('bye'), life.signals, life.exitCode], [[1_500], [[1_500, 15]], 0]);
    assert.equal(life.tombstone.Reason, 'stopped');
  });

  it('`sexton stop` has a deadline that counts, also without a declared grace period', () => {
    const life = new Life(main({}, DEAF)).askToStop();
    assert.deepEqual([life.deadlineMs, life.tombstone.Deadline !== undefined], [30_000, true]);
    assert.equal(life.passUntilGone().sent, '0 TERM, 29500 KILL');
    assert.equal(life.exitCode, 137);
  });

  it('N32 only a shorter grace period of sexton stop moves the deadline, and is logged', () => {
    const life = new Life(main({ gracePeriodMs: 20_000 }, DEAF)).signal(15);
    const logged = () => life.logs.filter((it) => it.includes('changed the grace period')).length;
    const deadlines = [undefined, 60_000, 6_000, 9_000].map((graceMs) => {
      return [life.pass(1_000).askToStop(graceMs).deadlineMs, logged()];
    });
    assert.deepEqual(deadlines, [[20_000, 0], [20_000, 0], [9_000, 1], [9_000, 1]]); // biome-ignore format: pairs
    assert.equal(life.passUntilGone().sent, '0 TERM, 8700 KILL');
  });

  it('N32 a grace period of `sexton stop` makes an assumed deadline count', () => {
    const life = new Life(main({}, DEAF)).signal(15).pass(1_000).askToStop(5_000);
    assert.deepEqual([life.deadlineMs, life.passUntilGone().exitCode], [6_000, 137]);
    const longer = new Life(main({}, DEAF)).signal(15).pass(1_000).askToStop(60_000);
    assert.equal(longer.deadlineMs, 61_000);
    assert.ok(longer.logs.some((it) => it.includes('sexton stop changed the grace period')));
  });

  it('`sexton stop` ends a linger within the declared grace period', () => {
    const life = new Life({ config: sidecarConfig({ lingerMs: 600_000, gracePeriodMs: 30_000 }), peers: [alive('a')] });
    life.see(dead('a', 0)).pass(1_000);
    assert.equal(life.state.stop?.waitsFor, 'linger');
    assert.deepEqual([life.askToStop().deadlineMs, life.passUntilGone().sent], [31_000, '29000 TERM']);
  });

  it('a second `sexton stop` hurries nothing, and sends nothing twice', () => {
    const life = new Life(sidecar({ gracePeriodMs: 30_000 })).askToStop().pass(1_000).askToStop().pass(1_000);
    assert.deepEqual([life.phase, life.signals, life.state.stop?.requests], ['holding', [], 0]);
  });

  it('the platform’s first request after `sexton stop` hurries nothing and moves the deadline', () => {
    const config = mainConfig({ gracePeriodMs: 10_000, drain: fixed(3_000) });
    const life = new Life({ config, peers: [], child: DEAF }).askToStop(60_000).pass(1_000).signal(15);
    assert.deepEqual([life.phase, life.signals, life.deadlineMs], ['draining', [], 11_000]);
    life.pass(3_000).signal(2).pass(60_000);
    assert.equal(life.sent, '3000 TERM, 10500 KILL');
  });

  it('only the platform’s second request after `sexton stop` goes to the next rung', () => {
    const ladder = [
      { signal: 15, forMs: 60_000 },
      { signal: 2, forMs: undefined },
    ];
    const life = new Life(main({ ladder }, DEAF)).askToStop().pass(100).signal(15);
    assert.equal(life.sent, '0 TERM');
    assert.equal(life.pass(1_000).signal(15).sent, '0 TERM, 1100 INT');
  });

  it('`sexton stop` before the start, and between two lives of a main, ends the member', () => {
    const shut = new Life({ config: mainConfig({ startAfter: after('db') }), peers: [] }).askToStop();
    assert.deepEqual([shut.spawns, shut.exitCode, shut.tombstone.Reason], [[], 143, 'never-started']);
    const side = new Life({ config: sidecarConfig({ startAfter: after('db') }), peers: [] }).askToStop();
    assert.deepEqual([side.spawns, side.exitCode], [[], 0]);
    const between = new Life(main({ restart: 'always' })).endChild(7).askToStop();
    assert.deepEqual([between.spawns, between.exitCode], [[0], 7]);
  });

  it('`sexton stop` after the end changes nothing', () => {
    const life = new Life(main()).endChild(0);
    const before = life.state;
    assert.deepEqual(life.askToStop(5_000).state, before);
  });

  it('after `sexton stop` a sidecar waits as long for a main to show itself as in any stop', () => {
    const config = sidecarConfig({ gracePeriodMs: 30_000 });
    assert.equal(new Life({ config, peers: [waiting('work')] }).askToStop().pass(5_000).sent, '3000 TERM');
  });

  it('`sexton stop` moves the deadline of a sidecar whose mains have finished', () => {
    const life = new Life(sidecar({ gracePeriodMs: 30_000 }, DEAF)).see(dead('work', 0)).askToStop(4_000);
    assert.equal(life.passUntilGone().sent, '0 TERM, 3800 KILL');
  });
});

describe('sexton stop of some', () => {
  it('a member of a partial stop waits for all once the platform stops the pod', () => {
    const config = sidecarConfig({ name: 'proxy', gracePeriodMs: 30_000 });
    const log = alive('log', { Role: 'sidecar', StartAfter: ['proxy'] });
    const life = new Life({ config, peers: [alive('work'), log] }).askToStop(undefined, ['proxy', 'log']).signal(15);
    assert.deepEqual([life.see(dead('log', 0)).phase, life.signals], ['holding', []]);
    assert.equal(life.pass(3_000).see(dead('work', 0)).sent, '3000 TERM');
  });

  it('a partial stop does not wait for members that it does not name', () => {
    const config = sidecarConfig({ name: 'proxy', gracePeriodMs: 30_000 });
    const log = alive('log', { Role: 'sidecar', StartAfter: ['proxy'] });
    const life = new Life({ config, peers: [alive('work'), log] }).askToStop(undefined, ['proxy']);
    assert.deepEqual([life.signals, life.exitCode], [[[0, 15]], 0]);
  });

  it('a partial stop waits for the members that it names', () => {
    const config = sidecarConfig({ name: 'proxy', gracePeriodMs: 30_000 });
    const log = { Role: 'sidecar', StartAfter: ['proxy'] } as const;
    const life = new Life({ config, peers: [alive('work'), alive('log', log)] });
    life.askToStop(undefined, ['proxy', 'log']).pass(5_000);
    assert.deepEqual([life.phase, life.signals], ['holding', []]);
    assert.equal(life.see(dead('log', 0, log)).sent, '5000 TERM');
  });
});

describe('sexton stop of a pod', () => {
  const grace = { gracePeriodMs: 30_000 };
  const pod = (): Pod =>
    new Pod([
      { config: sidecarConfig({ name: 's1', ...grace }), child: traps(300) },
      { config: sidecarConfig({ name: 's2', ...grace, startAfter: after('s1') }), child: traps(300) },
      { config: mainConfig({ name: 'work', ...grace, startAfter: after('s2') }), child: traps(2_000) },
    ]).pass(1_000);

  it('`sexton stop` and a deletion end a pod in order, with one signal for each child', () => {
    const all = pod();
    for (const life of all.lives.values()) life.askToStop();
    all.pass(1_000).delete().pass(10_000);
    assert.deepEqual(all.ends, ['work 0', 's2 0', 's1 0']);
    for (const life of all.lives.values()) assert.deepEqual([life.signals.length, life.deadlineMs], [1, 31_000]);
  });
});

const GRACE = { gracePeriodMs: 30_000 };
const draining = (): Life => new Life(main({ ...GRACE, drain: fixed(5_000) })).signal(15);

describe('a second stop signal', () => {
  it('A8 the same stop signal within a second is the same request', () => {
    assert.equal(draining().pass(20).signal(15).pass(979).signal(15).pass(9_000).sent, '5000 TERM');
    const holding = new Life(sidecar({ ...GRACE, mains: ['work'] })).signal(15).pass(20).signal(15).pass(5_000);
    assert.deepEqual([holding.phase, holding.signals], ['holding', []]);
  });

  it('A8 another stop signal is another request at once', () => {
    assert.equal(draining().pass(20).signal(2).sent, '20 TERM');
  });

  it('A8 the same signal from outside is the same request with a declared grace period', () => {
    assert.equal(draining().pass(3_000).signal(15).pass(9_000).sent, '5000 TERM');
    const holding = new Life(sidecar({ ...GRACE, mains: ['work'] })).signal(15).pass(12_000).signal(15).pass(5_000);
    assert.deepEqual([holding.phase, holding.signals], ['holding', []]);
  });

  it('A8 a second later, without grace, from inside, or by INT, it is another request', () => {
    assert.equal(new Life(main({ drain: fixed(5_000) })).signal(15).pass(1_000).signal(15).sent, '1000 TERM');
    assert.equal(draining().pass(1_000).signal(15, { pid: 7 }).sent, '1000 TERM');
    const byInt = new Life(main({ ...GRACE, drain: fixed(5_000) })).signal(2);
    assert.equal(byInt.pass(1_000).signal(2).sent, '1000 INT');
  });

  it('A8 each signal from a terminal is another request', () => {
    const life = new Life(main({ ...GRACE, drain: fixed(5_000) }, { on: { 2: 'ignores' } }));
    for (let nth = 0; nth < 3; nth += 1) life.signal(2, { terminal: true }).pass(20);
    assert.equal(life.sent, '20 INT, 40 KILL');
  });

  it('A8 a repeated request does not go on to the next rung', () => {
    const ladder = [
      { signal: 15, forMs: 20_000 },
      { signal: 2, forMs: undefined },
    ];
    const life = new Life(main({ ...GRACE, ladder }, { on: { 15: 'ignores' } }));
    assert.equal(life.signal(15).pass(20).signal(15).pass(1_980).signal(15).sent, '0 TERM');
    assert.deepEqual(life.signal(15, { pid: 7 }).signals.at(-1), [2_000, 2]);
  });

  it('A8 a repeated request after `sexton stop` is the same one, too', () => {
    const life = new Life(main({ ...GRACE, drain: fixed(5_000) })).askToStop();
    assert.equal(life.pass(100).signal(15).pass(20).signal(15).pass(9_000).sent, '5000 TERM');
  });
});
