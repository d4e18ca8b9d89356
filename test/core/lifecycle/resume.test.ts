/** A successor first hears what happened meanwhile, and does nothing before it knows all of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HttpAction, MemberConfig, ProbeAction } from '../../../src/core/config.ts';
import { maxWritingMs } from '../../../src/core/lifecycle/stop/quitting.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { child, config, peers, perform, schedule } from '../arbitraries.ts';
import { alive, command, dead, fixed, mainConfig, probe, probes, START, sidecarConfig } from '../helpers.ts';
import type { ChildScript, Run } from '../host.ts';
import { Life, main, type Step, sidecar } from '../life.ts';
import '../../helpers/seeded.ts';

const DEAF = { on: { 15: 'ignores' } } as const;

describe('a supervisor that comes back', () => {
  it('N33 the next supervisor keeps the deadline of a stop, and KILLs when it has passed', () => {
    for (const [awayMs, sent] of [
      [1_000, '0 TERM, 9500 KILL'],
      [20_000, '0 TERM, 24000 KILL'],
    ] as const) {
      const life = new Life(main({ gracePeriodMs: 10_000 }, DEAF)).signal(15);
      back(life.pass(4_000).loseSupervisor().pass(awayMs));
      assert.equal(life.deadlineMs, 10_000);
      assert.deepEqual([life.passUntilGone().sent, life.exitCode], [sent, 137]);
    }
  });

  it('a stop request without a supervisor counts from when it came', () => {
    const life = new Life(main({ gracePeriodMs: 10_000, drain: fixed(3_000) }, DEAF));
    life.pass(1_000).loseSupervisor().signal(15);
    assert.deepEqual(life.pass(2_000).signals, []);
    back(life);
    assert.equal(life.deadlineMs, 11_000);
    assert.equal(life.pass(2_000).sent, '4000 TERM');
  });

  it('the next supervisor of a lone main goes on with the drain, and holds for no one', () => {
    const life = new Life(main({ gracePeriodMs: 10_000, drain: fixed(3_000) }, DEAF)).signal(15).pass(1_000);
    back(life.loseSupervisor().pass(500));
    assert.deepEqual([life.phase, life.logs.filter((it) => it.includes('holding'))], ['draining', []]);
    assert.equal(life.pass(2_000).sent, '3000 TERM');
  });

  it('a stop request between two lives and supervisors prevents the next start', () => {
    const life = new Life(main({ restart: 'always' })).endChild(1);
    back(life.loseSupervisor().pass(500).signal(15));
    assert.deepEqual([life.spawns.length, life.exitCode], [1, 1]);
  });

  it('three interrupts between two lives and supervisors start nothing again', () => {
    const life = new Life(main({ restart: 'always' })).endChild(1).loseSupervisor();
    for (let count = 0; count < 3; count += 1) life.signal(2, { terminal: true });
    back(life).pass(60_000);
    assert.deepEqual([life.spawns.length, life.exitCode], [1, 1]);
  });

  it('the next supervisor restarts a holding sidecar once it has seen living mains', () => {
    const life = new Life(sidecar()).signal(15).pass(1_000);
    life.loseSupervisor().endChild(1).pass(3_000);
    assert.equal(life.spawns.length, 1);
    back(life, [alive('work')]).pass(1_000);
    assert.deepEqual([life.spawns.length, life.phase], [2, 'holding']);
    assert.equal(back(life.loseSupervisor(), [dead('work', 0)]).exitCode, 0);
  });

  it('supervisors log a thing once in the whole life of the container', () => {
    const life = new Life({ config: sidecarConfig({ mains: ['wrok'] }), peers: [] }).pass(20_000);
    back(life.loseSupervisor().pass(1_000), []).pass(20_000);
    assert.equal(life.logs.filter((line) => line.includes('no main named wrok')).length, 1);
  });

  it('the next supervisor keeps all laws, whatever happened meanwhile', () => {
    fc.assert(
      fc.property(
        config,
        child,
        peers,
        schedule,
        schedule,
        schedule,
        (member, script, found, first, meanwhile, then) => {
          const life = new Life({ config: { ...member, gracePeriodMs: 10_007 }, child: script, peers: found });
          let seen = new Map(found.map((view) => [view.tombstone.Name, view]));
          for (const action of first) {
            perform(life, action);
            if (action.do === 'see')
              seen = new Map([...seen, ...action.peers.map((view) => [view.tombstone.Name, view] as const)]);
          }
          if (life.exitCode !== undefined) return;
          life.loseSupervisor();
          for (const action of meanwhile) if (action.do !== 'see') perform(life, action);
          const wasGone = life.exitCode !== undefined;
          const asked = life.state.stop;
          const starts = life.spawns.length;
          back(life, [...seen.values()]);
          for (const action of then) perform(life, action);
          life.signal(15).pass(10_007);
          assert.equal(life.exits.length, wasGone ? 2 : 1);
          assert.ok(life.exits.every(({ code }) => code === life.exitCode));
          if (asked !== undefined && member.role === 'main')
            assert.equal(life.spawns.length, starts, 'a start after the stop');
          const kills = life.signals.filter(([, signal]) => signal === 9).length;
          assert.ok(kills <= life.spawns.length, 'more KILLs than children');
        },
      ),
      { numRuns: 600 },
    );
  });
});

/** The next one is there: it hears what was queued, boots, and looks at the graveyard. */
function back(life: Life, found: readonly PeerView[] = []): Life {
  return life.feed({ type: 'booted' }).see(...found);
}

const http = (path: string): HttpAction => ({
  kind: 'http',
  method: 'GET',
  scheme: 'http',
  host: '127.0.0.1',
  port: 80,
  path,
  headers: [],
});
const TCP: ProbeAction = { kind: 'tcp', host: '127.0.0.1', port: 5432 };
const GRPC: ProbeAction = { kind: 'grpc', host: '127.0.0.1', port: 50051, service: '' };

const away = (life: Life, ms: number): Life => life.loseSupervisor().pass(ms).feed({ type: 'booted' }).see();
const readiness = (action: ProbeAction, timeoutMs: number): Partial<MemberConfig> => ({
  probes: { startup: undefined, liveness: undefined, readiness: probe(action, { timeoutMs }) },
});

describe('a supervisor that comes back while an action runs', () => {
  const stopping = (bye: Run) => new Life(main({ preStop: command('bye') }, { actions: { bye: [bye] } })).signal(15);

  it('the next supervisor does not begin a command twice, and hears its end', () => {
    const life = stopping({ afterMs: 5_000, ok: true });
    away(life.pass(1_000), 500).pass(3_499);
    assert.deepEqual([life.runsOf('bye'), life.signals], [[0], []]);
    assert.deepEqual([life.pass(1).signals, life.runsOf('bye')], [[[5_000, 15]], [0]]);
  });

  it('the next supervisor hears that a command ended meanwhile', () => {
    const life = stopping({ afterMs: 500, ok: true });
    away(life.pass(100), 2_000);
    assert.deepEqual([life.runsOf('bye'), life.signals], [[0], [[2_100, 15]]]);
  });

  it('the next supervisor dates a probe by its end, and ends an overdue one', () => {
    const config = probes({ readiness: { timeoutMs: 700, failures: 1 } });
    const ended = new Life(main(config, { actions: { readiness: [{ afterMs: 600, ok: true }] } }));
    assert.notEqual(away(ended.pass(100), 800).tombstone.Healthy, undefined);
    const overdue = new Life(main(config, { actions: { readiness: ['never'] } }));
    assert.deepEqual(away(overdue.pass(100), 2_000).endsOf('readiness'), [2_100]);
  });

  it('the next supervisor repeats network actions in the time that is left', () => {
    for (const action of [http('/ready'), TCP, GRPC]) {
      const name = action.kind === 'http' ? '/ready' : `${action.kind}:${action.port}`;
      const actions = { [name]: [{ afterMs: 5_000, ok: true }] };
      const life = new Life(main(readiness(action, 9_000), { actions })).pass(1_000);
      away(life, 1_500);
      const begun = life.done.flatMap(({ atMs, effect }) =>
        effect.type === 'startTask' ? [[atMs, effect.id, effect.timeoutMs]] : [],
      );
      assert.deepEqual(begun, [
        [0, 1, 9_000],
        [2_500, 1, 6_500],
      ]);
      assert.equal(life.tombstone.Healthy, undefined);
      assert.notEqual(life.pass(5_000).tombstone.Healthy, undefined, action.kind);
    }
  });

  it('the next supervisor repeats a network hook without a time limit', () => {
    const child: ChildScript = { actions: { '/bye': [{ afterMs: 2_000, ok: true }] } };
    const life = new Life(main({ preStop: http('/bye') }, child)).signal(15).pass(1_000);
    away(life, 500);
    assert.deepEqual([life.runsOf('/bye'), life.passUntilGone().signals], [[0, 1_500], [[3_500, 15]]]);
    const limits = life.done.flatMap(({ effect }) => (effect.type === 'startTask' ? [effect.timeoutMs] : []));
    assert.deepEqual(limits, [undefined, undefined]);
  });

  it('the time without a supervisor counts for sleeps', () => {
    const sleep = { kind: 'sleep', ms: 5_000 } as const;
    const life = away(new Life(main({ preStop: sleep })).signal(15).pass(1_000), 1_000);
    assert.equal(life.passUntilGone().sent, '5000 TERM');
    assert.equal(away(new Life(main({ preStop: sleep })).signal(15).pass(1_000), 9_000).sent, '10000 TERM');
    const started = away(new Life(main({ postStart: sleep })).pass(1_000), 1_000);
    assert.deepEqual([started.phase, started.pass(3_000).phase], ['starting', 'running']);
  });

  it('the next supervisor keeps the results of probes', () => {
    const actions = { liveness: [{ afterMs: 0, ok: false }] };
    const life = new Life(main({ ...probes({ liveness: {} }), restart: 'always' }, { actions })).pass(1_500);
    away(life, 200);
    assert.deepEqual([life.pass(299).signals, life.pass(1).signals], [[], [[2_000, 15]]]);
  });

  it('the next supervisor does not run a hook again', () => {
    const hooks = { postStart: command('hi'), preStop: command('bye') };
    const life = new Life(main({ ...hooks, gracePeriodMs: 9_000 }, { on: { 15: 'ignores' } })).pass(100);
    away(life, 100).signal(15).pass(100);
    away(life, 100).passUntilGone();
    assert.deepEqual([life.runsOf('hi'), life.runsOf('bye'), life.signals[0]], [[0], [200], [200, 15]]);
    assert.equal(life.signals.filter(([, signal]) => signal === 15).length, 1);
  });

  it('the next supervisor begins nothing again for a child that has ended', () => {
    const life = new Life(main(readiness(TCP, 9_000), { actions: { 'tcp:5432': ['never'] } }))
      .pass(100)
      .loseSupervisor();
    life.endChild(3).pass(500).feed({ type: 'booted' }).see();
    assert.deepEqual([life.runs.length, life.exitCode], [1, 3]);
  });

  it('the next supervisor goes on with a failed life', () => {
    const child: ChildScript = {
      actions: {
        liveness: [
          { afterMs: 0, ok: false },
          { afterMs: 0, ok: true },
        ],
        bye: [{ afterMs: 1_000, ok: true }],
      },
      on: { 15: 'ignores' },
    };
    const config = { ...probes({ liveness: { failures: 1, graceMs: 5_000 } }), preStop: command('bye') };
    const life = away(new Life(main({ ...config, restart: 'always' }, child)).pass(300), 300);
    away(life.pass(1_000), 300).pass(3_500);
    assert.deepEqual([life.runsOf('bye'), life.spawns], [[0], [0, 5_100]]);
    assert.equal(life.sent, '1000 TERM, 5000 KILL');
  });

  it('the next supervisor goes on with the stop of roots', () => {
    const life = new Life(main({}, { leaves: 'untilKilled' })).endChild(2).pass(100);
    away(life, 400).passUntilGone();
    assert.equal(life.sent, '20 TERM, 30020 KILL');
    assert.equal(life.exitCode, 2);
  });
});

describe('the next commit', () => {
  it('a supervisor that has only heard of a stop request owes a commit soon', () => {
    const steps: Step[] = [];
    const queued = [
      { type: 'spawned', id: 1, pid: 101 },
      { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false },
    ] as const;
    new Life({ config: mainConfig(), queued, observe: (step) => steps.push(step) });
    const unbegun = steps.filter(({ after }) => !after.hasCaughtUp);
    const owed = unbegun.map(({ event, wakeAtMs }) => `${event.type} ${(wakeAtMs ?? 0) - START}`);
    assert.deepEqual(owed, ['spawned 1000', 'signal 1000']);
  });

  it('a supervisor that is about to exit is due when the time to write its death is over', () => {
    const life = new Life(main({ gracePeriodMs: 10_000 }, { endsAfterMs: 2_000 }));
    life.pass(2_000);
    assert.equal(life.exits.length, 1);
    assert.equal(life.wakeAtMs, START + 2_000 + maxWritingMs(undefined, START));
  });
});
