/** The adaptive drain, by the reports of the watch. Times count from the stop request. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseQuits } from '../../../src/config/notation/sidecars.ts';
import type { AdaptiveDrain, MemberConfig } from '../../../src/core/config.ts';
import { sidecarPorts } from '../../../src/core/lifecycle/stop/drain.ts';
import type { SteadyPace } from '../../../src/core/state/state.ts';
import { config as anyConfig, child, perform, schedule } from '../arbitraries.ts';
import { ADAPTIVE_DRAIN, alive, asJson, command, dead, fixed, mainConfig, revived, sidecarConfig } from '../helpers.ts';
import { Life, main } from '../life.ts';
import '../../helpers/seeded.ts';

const DEAF = { on: { 15: 'ignores' as const } };

function asked(change: Partial<MemberConfig> = {}, drain: Partial<AdaptiveDrain> = {}): Life {
  const config = mainConfig({ drain: { ...ADAPTIVE_DRAIN, ...drain }, gracePeriodMs: 30_000, ...change });
  return new Life({ config, peers: [], child: DEAF }).pass(5_000).signal(15);
}

interface Told {
  readonly connections?: number;
  readonly open?: number;
  readonly steady?: SteadyPace;
  readonly blind?: string;
}

/** What the watch tells now; `ago`: since the last connection that counts. */
function seen(life: Life, ago: number | undefined, told: Told = {}): Life {
  const lastMs = ago === undefined ? undefined : life.nowMs - ago;
  return life.feed({
    type: 'trafficSeen',
    lastMs,
    connections: told.connections ?? 0,
    ignored: 0,
    open: told.open,
    byAddress: 0,
    ...(told.steady !== undefined && { steady: told.steady }),
    ...(told.blind !== undefined && { blind: told.blind }),
  });
}

function warnings({ done }: Life): string[] {
  return done.flatMap(({ effect }) => (effect.type === 'log' && effect.level === 'warn' ? [effect.message] : []));
}

function isDraining({ state }: Life): boolean {
  return state.phase === 'draining' && state.stop?.waitsFor === 'drain';
}

function drained({ state }: Life): object {
  const { At: _at, ...entry } = state.chronicle.history.find(({ Event }) => Event === 'drained') ?? {};
  return entry;
}

const effects = (life: Life, type: string) => life.done.filter(({ effect }) => effect.type === type).length;

describe('the adaptive drain', () => {
  it('a drain watches from the request on and ends after `quiet` without a connection', () => {
    const life = asked();
    assert.equal(effects(life, 'watchTraffic'), 1);
    assert.ok(isDraining(seen(life.pass(1_900), 1_500)));
    assert.ok(isDraining(seen(life.pass(400), 1_900, { connections: 3 })));
    seen(life.pass(100), 2_000, { connections: 3 });
    assert.equal(life.state.phase, 'stopping');
    assert.equal(effects(life, 'unwatchTraffic'), 1);
    const { ended, connections } = life.state.traffic ?? {};
    assert.deepEqual([ended, connections], ['quiet', 3]);
    const entry = { Event: 'drained', Why: 'quiet', AfterMs: 2_400, Connections: 3, Ignored: 0 };
    assert.deepEqual(drained(life), entry);
  });

  it('a drain is never shorter than `min`, however quiet it is', () => {
    const life = asked({}, { minMs: 4_000, quietMs: 500 });
    assert.ok(isDraining(seen(life.pass(3_999), 3_999)));
    seen(life.pass(1), 4_000);
    assert.equal(life.state.phase, 'stopping');
  });

  it('a drain waits for `quiet` even if no connection has come at all', () => {
    const life = asked();
    assert.ok(isDraining(seen(life.pass(1_999), undefined)));
    assert.equal(seen(life.pass(1), undefined).state.phase, 'stopping');
  });

  it('a drain is never longer than `max`, however many connections come', () => {
    const life = asked();
    for (let at = 500; at < 15_000; at += 500) assert.ok(isDraining(seen(life.pass(500), 10, { connections: at })));
    life.pass(499);
    assert.ok(isDraining(life));
    life.pass(1);
    assert.equal(life.state.phase, 'stopping');
    assert.equal(life.state.traffic?.ended, 'max');
  });

  it('a drain that lasted `max` warns of connections that came as probes do', () => {
    const told = { connections: 15, steady: { from: '10.244.1.1', port: 8080, everyMs: 1_020 } };
    const quiet = seen(asked().pass(4_000), 2_100, told);
    assert.equal(quiet.state.traffic?.ended, 'quiet');
    assert.deepEqual(warnings(quiet), []);
    const awake = seen(asked().pass(14_900), 10, told).pass(100);
    assert.equal(awake.state.traffic?.ended, 'max');
    assert.match(
      warnings(awake).join(),
      /^all connections of the drain came from 10\.244\.1\.1 to port 8080, one every 1\.0 s, as readiness probes/,
    );
    const mixed = seen(seen(asked().pass(14_000), 10, told).pass(900), 10, { connections: 99 }).pass(100);
    assert.deepEqual(warnings(mixed), []);
  });

  it('a drain warns once where the kernel does not tell connections apart', () => {
    const blind = 'sock_diag fails with EACCES';
    const words = `cannot tell connections apart: ${blind}; `;
    const counted = seen(seen(asked().pass(1_000), 500, { blind }).pass(500), 1_000, { blind });
    assert.deepEqual(warnings(counted), [`${words}each new one counts, and requests over kept ones do not`]);
    const waiting = seen(asked({}, { inflight: true }).pass(5_000), 5_000, { blind });
    assert.ok(isDraining(waiting));
    assert.deepEqual(warnings(waiting), [`${words}the drain takes its longest time`]);
  });

  it('a drain takes `max` when nothing is reported: silence is not quiet', () => {
    const life = seen(asked().pass(1_000), 500).pass(13_999);
    assert.ok(isDraining(life));
    assert.equal(life.pass(1).state.traffic?.ended, 'max');
  });

  it('a drain takes `max` where nothing can be seen, with one warning', () => {
    const life = asked().pass(100);
    const unseen = { type: 'trafficUnavailable', why: 'no such file' } as const;
    life.feed(unseen).feed(unseen).loseSupervisor().pass(1_000).feed({ type: 'booted' }).see().feed(unseen);
    assert.equal(life.done.filter(({ effect }) => effect.type === 'log' && effect.level === 'warn').length, 1);
    assert.ok(isDraining(life.pass(13_800)));
    assert.equal(life.pass(200).state.traffic?.ended, 'max');
    assert.deepEqual(drained(life), { Event: 'drained', Why: 'max', AfterMs: 15_000, Unseen: 'no such file' });
  });

  it('a drain leaves the ladder its time before the deadline', () => {
    const life = seen(asked({ gracePeriodMs: 10_000 }).pass(7_999), 5);
    assert.ok(isDraining(life));
    assert.equal(seen(life.pass(1), 5).state.phase, 'stopping');
    assert.equal(life.state.traffic?.ended, 'deadline');
  });

  it('a drain is over with a second stop request, and with the command', () => {
    for (const [life, ended, phase] of [
      [asked().pass(300).signal(2), 'asked again', 'stopping'],
      [asked().pass(300).endChild(0).pass(100), 'command ended', 'dead'],
    ] as const) {
      assert.deepEqual([life.phase, life.state.traffic?.ended], [phase, ended]);
      assert.equal(effects(life, 'unwatchTraffic'), 1);
    }
  });

  it('a drain comes before the pre-stop hook', () => {
    const life = asked({ preStop: command('bye') });
    assert.equal(effects(life, 'startTask'), 0);
    seen(life.pass(2_500), 2_100);
    assert.equal(effects(life, 'startTask'), 1);
    assert.equal(life.state.traffic?.ended, 'quiet');
  });

  it('C1: the port of a known sidecar has no clients, unless ports= names it', () => {
    const quit = parseQuits('istio,http://127.0.0.1:8080/quit');
    const config = mainConfig({ quit: quit.ok ? quit.value : [] });
    assert.deepEqual(sidecarPorts({ ...config, drain: ADAPTIVE_DRAIN }), [15_020]);
    assert.deepEqual(sidecarPorts({ ...config, drain: { ...ADAPTIVE_DRAIN, ports: [15_020] } }), []);
  });

  it('late reports of the watch change nothing', () => {
    const life = seen(asked().pass(2_500), 2_100);
    const before = asJson(life.state);
    seen(life, 1, { connections: 99 }).feed({ type: 'trafficUnavailable', why: 'late' });
    assert.deepEqual(asJson(life.state), before);
    assert.equal(seen(new Life(main({ drain: ADAPTIVE_DRAIN })), 1).state.traffic, undefined);
  });

  it('a sidecar whose mains have finished lingers and does not drain', () => {
    const config = sidecarConfig({ drain: ADAPTIVE_DRAIN, lingerMs: 700, mains: ['a'] });
    const life = new Life({ config, peers: [alive('a')], child: DEAF }).see(dead('a', 0));
    assert.equal(life.state.stop?.waitsFor, 'linger');
    assert.equal(effects(life, 'watchTraffic'), 0);
  });

  it('the drain of a sidecar runs beside its hold', () => {
    const config = sidecarConfig({ drain: ADAPTIVE_DRAIN, gracePeriodMs: 30_000, mains: ['a'] });
    const life = new Life({ config, peers: [alive('a')], child: DEAF }).pass(5_000).signal(15);
    assert.equal(life.state.stop?.waitsFor, 'turn');
    seen(life.pass(4_000), 3_000);
    assert.equal(life.state.traffic?.ended, 'quiet');
    assert.equal(life.state.phase, 'holding');
    assert.equal(life.see(dead('a', 0)).state.phase, 'stopping');
  });

  it('the drain of a sidecar goes on after a shorter hold', () => {
    const config = sidecarConfig({ drain: ADAPTIVE_DRAIN, gracePeriodMs: 30_000, mains: ['a'] });
    const life = new Life({ config, peers: [alive('a')], child: DEAF }).pass(5_000).signal(15).pass(1_500);
    seen(life, 100).see(dead('a', 0));
    assert.ok(isDraining(life));
    assert.equal(seen(life.pass(1_950), 2_050).state.phase, 'stopping');
  });

  it('a member that is stopped before it has a command does not watch', () => {
    const life = new Life({
      config: mainConfig({ drain: ADAPTIVE_DRAIN }),
      queued: [{ type: 'signal', signal: 15, senderPid: 0, fromTerminal: false }],
    });
    assert.equal(life.state.phase, 'dead');
    assert.equal(effects(life, 'watchTraffic'), 0);
  });
});

describe('a supervisor that comes back in a drain', () => {
  it('the next supervisor watches from the old counts, and ends the drain by its own view', () => {
    const life = seen(asked().pass(1_500), 1_000, { connections: 7 }).loseSupervisor();
    life.pass(600).feed({ type: 'booted' }).see();
    const last = life.done.findLast(({ effect }) => effect.type === 'watchTraffic')?.effect;
    assert.deepEqual(last, { type: 'watchTraffic', drain: ADAPTIVE_DRAIN, connections: 7, ignored: 0 });
    assert.ok(isDraining(life.pass(1_000)));
    assert.ok(isDraining(seen(life.pass(100), 900, { connections: 7 })));
    assert.equal(seen(life.pass(1_100), 2_000, { connections: 7 }).state.phase, 'stopping');
  });

  it('the next supervisor watches no more after the drain', () => {
    const life = seen(asked().pass(2_500), 2_100).loseSupervisor().feed({ type: 'booted' }).see();
    assert.equal(effects(life, 'watchTraffic'), 1);
    assert.equal(life.state.phase, 'stopping');
  });

  it('the memo of a sexton without adaptive drains is read', () => {
    const life = asked();
    const { traffic: _none, ...older } = asJson(life.state);
    assert.equal(revived(older as typeof life.state).traffic, undefined);
  });
});

describe('inflight', () => {
  const lasting = () => asked({}, { inflight: true });

  it('inflight waits for open connections after it has become quiet', () => {
    const life = lasting();
    assert.ok(isDraining(seen(life.pass(2_500), 2_100, { open: 2 })));
    assert.ok(isDraining(seen(life.pass(100), 2_200, { open: 1 })));
    assert.equal(seen(life.pass(100), 2_300, { open: 0 }).state.phase, 'stopping');
  });

  it('inflight waits where it is unknown whether connections are open', () => {
    assert.ok(isDraining(seen(lasting().pass(2_500), 2_100)));
  });

  it('inflight waits no longer than `max`', () => {
    const life = seen(lasting().pass(14_999), 14_000, { open: 1 });
    assert.ok(isDraining(life));
    assert.equal(life.pass(1).state.traffic?.ended, 'max');
  });
});

describe('in every life', () => {
  it('a drain without any report is the fixed one of its longest time', () => {
    fc.assert(
      fc.property(anyConfig, child, schedule, (change, script, actions) => {
        const [fixedly, adaptively] = [fixed(ADAPTIVE_DRAIN.maxMs), ADAPTIVE_DRAIN].map((drain) => {
          const life = new Life({ config: { ...change, drain }, child: script, peers: [] });
          for (const action of actions) if (action.do !== 'traffic') perform(life, action);
          return life.pass(60_000).done.filter(({ effect }) => !/Traffic$|^log$/.test(effect.type));
        });
        assert.deepEqual(adaptively, fixedly);
      }),
      { numRuns: 300 },
    );
  });

  it('every watch ends once, before the end of the member', () => {
    fc.assert(
      fc.property(anyConfig, child, schedule, (change, script, actions) => {
        const life = new Life({
          config: { ...change, drain: ADAPTIVE_DRAIN, gracePeriodMs: 20_000 },
          child: script,
          peers: [],
        });
        for (const action of actions) perform(life, action);
        if (life.state.stop === undefined) life.signal(15);
        life.pass(60_000);
        assert.equal(effects(life, 'watchTraffic'), effects(life, 'unwatchTraffic'));
        assert.ok(effects(life, 'watchTraffic') <= 1);
      }),
      { numRuns: 300 },
    );
  });
});
