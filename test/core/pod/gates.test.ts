import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GateCondition, StartGate } from '../../../src/core/config.ts';
import { type GateState, gatesOf } from '../../../src/core/pod/gates.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { RESTART } from '../../../src/core/state/state.ts';
import { alive, dead, kubexit, lost, mainConfig, peersOf, START, sidecarConfig, stateAt, waiting } from '../helpers.ts';
import { Life } from '../life.ts';

const gate = (name: string, condition: GateCondition = 'started', optional = false): StartGate => ({
  name,
  condition,
  optional,
});
const starting = (name: string) => alive(name, { Phase: 'starting', Started: undefined as never });

describe('one start gate', () => {
  const between = alive('db', { Phase: 'backoff' });
  const restarting = alive('db', { Phase: 'stopping', StopReason: RESTART });
  const unstarted = dead('db', 0, { Reason: 'never-started' });
  const stale = dead('db', 0, { DiedMonotonic: START - 5 }, { foundAtStart: true });
  const TABLE: readonly (readonly [title: string, GateCondition, readonly PeerView[], GateState['is']])[] = [
    ['`started` opens once the other has started', 'started', [alive('db')], 'open'],
    ['`started` stays shut while the other starts', 'started', [starting('db')], 'shut'],
    ['`started` stays shut while the other waits', 'started', [waiting('db')], 'shut'],
    ['`started` stays shut while the other is between two lives', 'started', [between], 'shut'],
    ['`started` stays shut while the other stops to restart in place', 'started', [restarting], 'shut'],
    ['`started` takes a living member of kubexit for started', 'started', [kubexit('db')], 'open'],
    ['`completed` opens after exit 0', 'completed', [dead('db', 0)], 'open'],
    ['`completed` opens after an exit 0 that is not final', 'completed', [dead('db', 0, { Final: false })], 'open'],
    ['`completed` stays shut while the other runs', 'completed', [alive('db')], 'shut'],
    ['`completed` is barred by a member that never started', 'completed', [unstarted], 'barred'],
    ['`completed` stays shut without the other', 'completed', [], 'shut'],
    ['N02 a final death bars `started`', 'started', [dead('db', 0, { Final: true })], 'barred'],
    ['N02 a lost member bars `started`', 'started', [lost('db', START - 2_000)], 'barred'],
    ['a failure that is not final leaves `completed` shut', 'completed', [dead('db', 3, { Final: false })], 'shut'],
    ['a failure that is not final leaves `started` shut', 'started', [dead('db', 3, { Final: false })], 'shut'],
  ];
  for (const [title, condition, peers, is] of TABLE)
    it(title, () => assert.equal(gateState(condition, ...peers).is, is));

  it('N02 a barred gate names the cause', () => {
    const why = 'db is dead (exit code 3), so db=completed cannot come true';
    assert.deepEqual(gateState('completed', dead('db', 3, { Final: true })), { is: 'barred', why });
  });

  it('an optional gate is open only if the other is absent', () => {
    const config = mainConfig({ startAfter: [gate('db', 'completed', true)] });
    const is = (...peers: PeerView[]) => gatesOf(config, stateAt(START, { peers: peersOf(...peers) })).is;
    assert.deepEqual([is(), is(alive('db'))], ['open', 'shut']);
  });

  it('a stale death neither opens nor bars a gate before 10 s', () => {
    const shut = gateState('completed', stale);
    assert.ok(shut.is === 'shut');
    assert.deepEqual([shut.untilMs, /found dead/.test(shut.waitsFor)], [START + 10_000, true]);
  });

  it('a member that has just vanished does not count as dead yet', () => {
    const shut = { is: 'shut', untilMs: START + 2_000, waitsFor: 'db=started (it has vanished)' };
    assert.deepEqual(gateState('started', lost('db', START)), shut);
  });
});

describe('starting behind gates', () => {
  const config = mainConfig({ startAfter: [gate('db')], startTimeoutMs: 30_000 });

  it('N01 a main without gates starts before the graveyard is read', () => {
    assert.deepEqual(new Life({ config: mainConfig(), peers: undefined }).spawns, [0]);
  });

  it('a gated member and a sidecar read the graveyard first', () => {
    assert.deepEqual(new Life({ config }).pass(60_000).spawns, []);
    assert.deepEqual(new Life({ config: sidecarConfig() }).pass(60_000).spawns, []);
  });

  it('a tombstone from before the socket was free opens no gate', () => {
    const nobody = alive('db', {}, { liveness: 'none', refused: true, foundAtStart: true });
    const between = alive('db', {}, { liveness: 'none' });
    const born = alive('db', { Incarnation: 'another-0', Phase: 'starting', Started: undefined as never });
    for (const gone of [nobody, lost('db', START)])
      for (const old of [alive('db'), between]) {
        const life = new Life({ config, peers: [gone] }).pass(100).see(old).pass(50).see(old, alive('other'));
        assert.deepEqual(life.spawns, []);
        assert.ok(life.logs.some((line) => line.includes('db=started (it is back, but')));
        assert.deepEqual(life.see(born).pass(50).spawns, []);
        assert.deepEqual(life.see(alive('db', { Incarnation: 'another-1' })).spawns, [200]);
      }
  });

  it('an unchanged tombstone counts 10 s after its socket is held again', () => {
    const back = () => new Life({ config, peers: [lost('db', START)] }).pass(100).see(alive('db'));
    assert.deepEqual(back().pass(60_000).spawns, [10_100]);
    const gone = back()
      .pass(5_000)
      .see(lost('db', START + 5_100))
      .pass(1_000)
      .see(alive('db'));
    assert.deepEqual(gone.pass(60_000).spawns, [16_100]);
  });

  it('all gates must be open', () => {
    const two = mainConfig({ startAfter: [gate('db'), gate('net')] });
    const life = new Life({ config: two, peers: [alive('db')] }).pass(100);
    assert.deepEqual(life.spawns, []);
    assert.deepEqual(life.see(alive('db'), alive('net')).spawns, [100]);
  });

  it('K01, K02 a death before or during the gate starts nothing', () => {
    const atOnce = new Life({ config, peers: [dead('db', 1)] });
    assert.deepEqual([atOnce.spawns, atOnce.exitCode], [[], 125]);
    const later = new Life({ config, peers: [starting('db')] }).pass(500).see(dead('db', 1));
    assert.deepEqual([later.spawns, later.exitCode], [[], 125]);
  });

  it('K16 a gate that times out exits 125 and records that the command never started', () => {
    const life = new Life({ config, peers: [waiting('db')] }).passUntilGone();
    assert.deepEqual([life.exitedAtMs, life.exitCode], [30_000, 125]);
    const { Phase, Reason, ExitCode, Died, Final } = life.tombstone;
    assert.deepEqual([Phase, Reason, ExitCode, Final], ['dead', 'never-started', 125, true]);
    assert.ok(Died !== undefined && life.tombstone.Born === undefined);
  });

  it('a sidecar whose gate times out exits 125 too', () => {
    const gated = sidecarConfig({ startAfter: [gate('db')] });
    assert.equal(new Life({ config: gated, peers: [alive('work')] }).passUntilGone().exitCode, 125);
  });

  it('with `continue` a command starts at the timeout, or once a gate is barred', () => {
    const onward = { ...config, startTimeoutAction: 'continue' as const };
    assert.deepEqual(new Life({ config: onward, peers: [] }).pass(60_000).spawns, [30_000]);
    assert.deepEqual(new Life({ config: onward, peers: [dead('db', 1)] }).spawns, [0]);
  });

  it('K03, N21 a stop request at a gate starts nothing: 128+n for a main, 0 for a sidecar', () => {
    const main = new Life({ config, peers: [] }).pass(1_000).signal(15);
    assert.deepEqual([main.spawns, main.exitCode, main.tombstone.Reason], [[], 143, 'never-started']);
    assert.deepEqual(main.see(alive('db')).pass(60_000).spawns, []);
    assert.equal(new Life({ config, peers: [] }).signal(2).exitCode, 130);
    const gated = sidecarConfig({ startAfter: [gate('db')] });
    assert.equal(new Life({ config: gated, peers: [] }).signal(15).exitCode, 0);
  });

  it('K03 under the name tini only TERM ends the start', () => {
    const config = mainConfig({ startAfter: [gate('db')], stopSignals: [] });
    const life = new Life({ config, peers: [] }).signal(1).signal(10);
    assert.deepEqual([life.phase, life.exitCode], ['waiting', undefined]);
    assert.deepEqual([life.signal(15).exitCode, life.spawns], [143, []]);
  });

  it('a stop request before everything else starts nothing', () => {
    const queued = [{ type: 'signal', signal: 15, senderPid: 0, fromTerminal: false }] as const;
    const life = new Life({ config: mainConfig(), queued });
    assert.deepEqual([life.spawns, life.exitCode, life.exits.length], [[], 143, 1]);
  });

  it('a circle of gates is refused at once, with its names', () => {
    const life = new Life({ config, peers: [waiting('db', { StartAfter: ['self'] })] });
    assert.deepEqual([life.spawns, life.exitCode], [[], 125]);
    assert.ok(life.logs.some((line) => line.includes('self after db after self')));
  });

  it('a gate logs once what it waits for', () => {
    const life = new Life({ config, peers: [] }).see().pass(5_000).see().see(alive('other'));
    assert.equal(life.logs.filter((line) => line.includes('waiting for db=started')).length, 1);
  });
});

function gateState(condition: GateCondition, ...peers: readonly PeerView[]): GateState {
  const config = mainConfig({ startAfter: [gate('db', condition)] });
  return gatesOf(config, stateAt(START, { peers: peersOf(...peers) }));
}
