import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { readinessOf, startednessOf, waitsFor } from '../../../src/core/lifecycle/ready/readiness.ts';
import { evidenceOf } from '../../../src/core/lifecycle/stop/record.ts';
import { ADAPTIVE_DRAIN, command, mainConfig, probes } from '../helpers.ts';
import { Life } from '../life.ts';

const KILL = 9;
const [INT, TERM] = [2, 15];

function notified(change: Partial<MemberConfig> = {}): Life {
  const config = mainConfig({ notifies: true, gracePeriodMs: 60_000, ...change });
  return new Life({ config, peers: [], child: { on: { 2: 'ignores', 15: 'ignores' } } }).pass(1_000);
}

const tell = (life: Life, text: string, id = 1): Life => life.feed({ type: 'notified', id, dropped: 0, text });
const isHealthy = (life: Life): boolean => life.tombstone.Healthy !== undefined;

describe('a notification', () => {
  it('a command with --notify has started when it says READY=1', () => {
    const life = notified();
    assert.deepEqual(
      [startednessOf(life.state).ok, life.tombstone.Started, life.state.phase],
      [false, undefined, 'starting'],
    );
    tell(life, 'STATUS=loading\nREADY=1\n');
    assert.deepEqual(
      [startednessOf(life.state).ok, readinessOf(life.state, 'keep').ok, life.state.phase],
      [true, true, 'running'],
    );
    assert.equal(life.tombstone.Healthy, life.tombstone.Started);
  });

  it('a readiness probe decides beside READY=1', () => {
    const life = notified(probes({ readiness: {} }));
    assert.equal(isHealthy(life.pass(2_000)), false);
    assert.equal(isHealthy(tell(life, 'READY=1')), true);
  });

  it('post-start has to be done, too', () => {
    const config = mainConfig({ notifies: true, postStart: command('hook') });
    const life = new Life({ config, peers: [], child: { actions: { hook: [{ afterMs: 3_000, ok: true }] } } });
    assert.equal(isHealthy(tell(life.pass(1_000), 'READY=1')), false);
    assert.equal(isHealthy(life.pass(2_000)), true);
  });

  it('each life has to say it again, and a message of another life is late', () => {
    const life = tell(notified({ restart: 'always' }), 'READY=1');
    life.endChild(1).pass(60_000);
    assert.equal(life.tombstone.Restarts, 1);
    assert.equal(isHealthy(tell(life, 'READY=1', 1)), false);
    assert.equal(isHealthy(tell(life, 'READY=1', 2)), true);
  });

  it('a command that reloads is not ready until it says READY=1 again', () => {
    const life = tell(tell(notified(), 'READY=1'), 'RELOADING=1\nMONOTONIC_USEC=5');
    const { Started } = life.tombstone;
    assert.deepEqual(readinessOf(life.state, 'keep'), { ok: false, why: 'the command says that it reloads' });
    assert.deepEqual([isHealthy(life), startednessOf(life.state).ok], [false, true]);
    assert.equal(waitsFor(life.config, life.state), 'READY=1 of the command');
    tell(life, 'READY=1');
    assert.deepEqual([isHealthy(life), life.tombstone.Started], [true, Started]);
    assert.ok(life.done.some(({ effect }) => effect.type === 'log' && effect.message === 'has reloaded'));
  });

  it('log and history have at most one reload in ten seconds', () => {
    const life = tell(notified(), 'READY=1');
    const told = () => [
      life.logs.filter((line) => line === 'info: has reloaded').length,
      life.state.chronicle.history.filter(({ Event }) => Event === 'notified').length,
    ];
    for (let round = 0; round < 100; round++) tell(life.pass(99), 'RELOADING=1\nREADY=1');
    assert.deepEqual(told(), [1, 3]);
    tell(life.pass(200), 'RELOADING=1');
    assert.deepEqual([told(), isHealthy(life)], [[1, 4], false]);
    tell(life, 'READY=1');
    tell(tell(life, 'RELOADING=1'), 'STOPPING=1');
    assert.deepEqual(told(), [2, 6]);
  });

  it('STOPPING=1 takes readiness away', () => {
    const life = tell(tell(notified(), 'READY=1'), 'STOPPING=1');
    assert.deepEqual(readinessOf(life.state, 'keep'), { ok: false, why: 'the command says that it stops' });
    assert.equal(isHealthy(life), false);
  });

  it('STOPPING=1 ends an adaptive drain after its least time, whatever its connections are', () => {
    const life = notified({ drain: { ...ADAPTIVE_DRAIN, minMs: 1_000 } }).signal(TERM);
    tell(life.pass(300), 'STOPPING=1');
    assert.equal(life.pass(699).state.phase, 'draining');
    assert.equal(life.pass(1).sent, '2000 TERM');
  });

  it('EXTEND_TIMEOUT_USEC keeps an adaptive drain up, but not past its longest time', () => {
    const longest = ADAPTIVE_DRAIN.maxMs;
    const life = notified({ drain: ADAPTIVE_DRAIN }).signal(TERM);
    tell(life, 'STOPPING=1\nEXTEND_TIMEOUT_USEC=4500000');
    assert.equal(life.pass(4_499).state.phase, 'draining');
    assert.equal(life.pass(1).sent, '5500 TERM');
    const other = tell(notified({ drain: ADAPTIVE_DRAIN }).signal(TERM), 'STOPPING=1\nEXTEND_TIMEOUT_USEC=3600000000');
    assert.equal(other.pass(longest - 1).sent, '');
    assert.equal(other.pass(1).sent, `${1_000 + longest} TERM`);
  });

  it('EXTEND_TIMEOUT_USEC makes the rung that waits longer, never the grace period', () => {
    const ladder = [
      { signal: TERM, forMs: 2_000 },
      { signal: INT, forMs: 1_000 },
      { signal: KILL, forMs: undefined },
    ];
    const life = notified({ ladder }).signal(TERM);
    tell(life.pass(1_000), 'EXTEND_TIMEOUT_USEC=5000000');
    assert.equal(life.pass(60_000).sent, '1000 TERM, 7000 INT, 8000 KILL');
    const endless = tell(notified({ ladder, gracePeriodMs: 10_000 }).signal(TERM), 'EXTEND_TIMEOUT_USEC=3600000000');
    assert.equal(endless.pass(60_000).sent, '1000 TERM, 10500 KILL');
  });

  it('STATUS is kept without control characters, and cut', () => {
    const life = tell(notified(), 'STATUS=\u001b[31mred\u0007');
    assert.equal(life.tombstone.Status, '[31mred');
    tell(life, `STATUS=${'é'.repeat(300)}`);
    assert.equal(life.tombstone.Status, 'é'.repeat(100));
    assert.equal(tell(tell(notified(), 'STATUS=x'), 'STATUS=').tombstone.Status, undefined);
    life.signal(TERM).endChild(0).pass(5_000);
    assert.equal(evidenceOf(life.config, life.state).Status, 'é'.repeat(100));
  });

  it('the watchdog begins with READY=1, and silence then fails the liveness of the command', () => {
    const life = notified({ watchdogMs: 30_000 });
    const orders = () => life.done.flatMap(({ effect }) => (effect.type === 'watchdog' ? [effect] : []));
    assert.deepEqual(orders(), []);
    tell(life, 'READY=1');
    assert.deepEqual(orders(), [{ type: 'watchdog', id: 1, ms: 30_000 }]);
    tell(life, 'WATCHDOG=1\nWATCHDOG_USEC=1500001');
    tell(life, 'WATCHDOG_USEC=0');
    assert.deepEqual(orders().slice(1), [
      { type: 'watchdog', id: 1, ms: 1_501 },
      { type: 'watchdog', id: 1, ms: undefined },
    ]);
    assert.equal(life.sent, '');
    life.feed({ type: 'silent', id: 1 });
    assert.deepEqual([life.sent, life.tombstone.StopReason], ['1000 TERM', 'liveness']);
    assert.ok(life.logs.includes('warn: the watchdog of the command has failed: no WATCHDOG=1 in time'));
  });

  it('a time that the command chooses before READY=1 is that of its watchdog', () => {
    const life = tell(notified({ watchdogMs: 30_000 }), 'WATCHDOG_USEC=5000000\nREADY=1');
    assert.deepEqual(
      life.done.flatMap(({ effect }) => (effect.type === 'watchdog' ? [effect.ms] : [])),
      [5_000],
    );
  });

  it('WATCHDOG=trigger fails at once, where there is a watchdog', () => {
    assert.equal(tell(notified({ watchdogMs: 30_000 }), 'WATCHDOG=trigger').sent, '1000 TERM');
    const without = tell(notified(), 'WATCHDOG=trigger\nWATCHDOG=1\nWATCHDOG_USEC=5');
    assert.deepEqual([without.sent, without.state.notified?.ignored], ['', 3]);
  });

  it('a watchdog fails no command that stops, and no other life', () => {
    const stopping = tell(notified({ watchdogMs: 30_000, drain: ADAPTIVE_DRAIN }), 'READY=1').signal(TERM);
    assert.deepEqual([stopping.feed({ type: 'silent', id: 1 }).sent, stopping.state.phase], ['', 'draining']);
    const life = tell(notified({ watchdogMs: 30_000, restart: 'always' }), 'READY=1');
    life.endChild(1).pass(60_000).feed({ type: 'silent', id: 1 });
    assert.deepEqual([life.sent, life.state.failing], ['', undefined]);
  });

  it('all else is ignored and counted', () => {
    const life = tell(
      notified(),
      'MAINPID=7\nREADY=2\nEXTEND_TIMEOUT_USEC=-1\n=\nnonsense\nMONOTONIC_USEC=1\nconstructor=1\n__proto__=1',
    );
    assert.deepEqual(life.state.notified, { ready: false, stopping: false, reloading: false, ignored: 8 });
    assert.equal(isHealthy(life), false);
  });
});
