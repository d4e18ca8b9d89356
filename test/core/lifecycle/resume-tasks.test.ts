/**
 * A supervisor that died while actions ran: its successor goes on with them. Commands are the host's and are not begun
 * twice; what only the supervisor knew of, connections and sleeps, is begun again or goes by the clock.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpAction, MemberConfig, ProbeAction } from '../../../src/core/config.ts';
import { command, fixed, mainConfig, probe, probes } from '../helpers.ts';
import type { ChildScript } from '../host.ts';
import { Life } from '../life.ts';

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

function main(change: Partial<MemberConfig>, child: ChildScript = {}): Life {
  return new Life({ config: mainConfig(change), peers: [], child });
}
/** The supervisor is away for so long. */
const away = (life: Life, ms: number): Life => life.loseSupervisor().pass(ms).feed({ type: 'booted' }).see();
const readiness = (action: ProbeAction, timeoutMs: number): Partial<MemberConfig> => ({
  probes: { startup: undefined, liveness: undefined, readiness: probe(action, { timeoutMs }) },
});

describe('a supervisor that comes back while an action runs', () => {
  it('does not begin a command twice, and hears its end', () => {
    const life = main({ preStop: command('bye') }, { actions: { bye: [{ afterMs: 5_000, ok: true }] } }).signal(15);
    away(life.pass(1_000), 500).pass(3_499);
    assert.deepEqual([life.runsOf('bye'), life.signals], [[0], []]);
    assert.deepEqual([life.pass(1).signals, life.runsOf('bye')], [[[5_000, 15]], [0]]);
  });

  it('hears of a command’s end that came while there was no supervisor', () => {
    const life = main({ preStop: command('bye') }, { actions: { bye: [{ afterMs: 500, ok: true }] } }).signal(15);
    away(life.pass(100), 2_000);
    assert.deepEqual([life.runsOf('bye'), life.signals], [[0], [[2_100, 15]]]);
  });

  it('takes what a command’s probe said from when it ended, and ends one that is overdue', () => {
    const config = probes({ readiness: { timeoutMs: 700, failures: 1 } });
    const ended = main(config, { actions: { readiness: [{ afterMs: 600, ok: true }] } });
    assert.notEqual(away(ended.pass(100), 800).tombstone.Healthy, undefined);
    const overdue = main(config, { actions: { readiness: ['never'] } });
    assert.deepEqual(away(overdue.pass(100), 2_000).endsOf('readiness'), [2_100]);
  });

  it('begins what it did over the network again, under the same id, in the time that is left', () => {
    for (const action of [http('/ready'), TCP, GRPC]) {
      const name = action.kind === 'http' ? '/ready' : `${action.kind}:${action.port}`;
      const life = main(readiness(action, 9_000), { actions: { [name]: [{ afterMs: 5_000, ok: true }] } }).pass(1_000);
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

  it('begins a hook over the network again, without a limit of time as before', () => {
    const child: ChildScript = { actions: { '/bye': [{ afterMs: 2_000, ok: true }] } };
    const life = main({ preStop: http('/bye') }, child)
      .signal(15)
      .pass(1_000);
    away(life, 500);
    assert.deepEqual([life.runsOf('/bye'), life.passUntilGone().signals], [[0, 1_500], [[3_500, 15]]]);
    const limits = life.done.flatMap(({ effect }) => (effect.type === 'startTask' ? [effect.timeoutMs] : []));
    assert.deepEqual(limits, [undefined, undefined]);
  });

  it('sleeps on: the time that it was away counts', () => {
    const sleep = { kind: 'sleep', ms: 5_000 } as const;
    const life = away(main({ preStop: sleep }).signal(15).pass(1_000), 1_000);
    assert.deepEqual(life.passUntilGone().signals, [[5_000, 15]]);
    const over = away(main({ preStop: sleep }).signal(15).pass(1_000), 9_000);
    assert.deepEqual(over.signals, [[10_000, 15]]);
    const started = away(main({ postStart: sleep }).pass(1_000), 1_000);
    assert.deepEqual([started.phase, started.pass(3_000).phase], ['starting', 'running']);
  });

  it('keeps what probes have said so far: thresholds go on where they were', () => {
    const bad = { afterMs: 0, ok: false } as const;
    const life = main({ ...probes({ liveness: {} }), restart: 'always' }, { actions: { liveness: [bad] } }).pass(1_500);
    away(life, 200);
    assert.deepEqual([life.pass(299).signals, life.pass(1).signals], [[], [[2_000, 15]]]);
  });

  it('does not run a hook again that has ended, nor pre-stop that was skipped', () => {
    const hooks = { postStart: command('hi'), preStop: command('bye') };
    const life = main({ ...hooks, gracePeriodMs: 9_000 }, { on: { 15: 'ignores' } }).pass(100);
    away(life, 100).signal(15).pass(100);
    away(life, 100).passUntilGone();
    assert.deepEqual([life.runsOf('hi'), life.runsOf('bye'), life.signals[0]], [[0], [200], [200, 15]]);
    assert.equal(life.signals.filter(([, signal]) => signal === 15).length, 1);
  });

  it('begins nothing again for a child that ended meanwhile', () => {
    const life = main(readiness(TCP, 9_000), { actions: { 'tcp:5432': ['never'] } })
      .pass(100)
      .loseSupervisor();
    life.endChild(3).pass(500).feed({ type: 'booted' }).see();
    assert.deepEqual([life.runs.length, life.exitCode], [1, 3]);
  });

  it('goes on with a life that has failed: pre-stop once, its own grace period, another life', () => {
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
    const life = away(main({ ...config, restart: 'always' }, child).pass(300), 300);
    away(life.pass(1_000), 300).pass(3_500);
    assert.deepEqual([life.runsOf('bye'), life.spawns], [[0], [0, 5_100]]);
    assert.deepEqual(life.signals, [
      [1_000, 15],
      [5_000, 9],
    ]);
  });

  it('goes on sweeping strays', () => {
    const life = main({}, { stray: 'untilKilled' }).endChild(2).pass(100);
    away(life, 400).passUntilGone();
    assert.deepEqual(
      [life.sweeps, life.exitCode],
      [
        [
          [20, 15],
          [30_020, 9],
        ],
        2,
      ],
    );
  });

  it('keeps a request of sexton stop with whom it named', () => {
    const life = main({ drain: fixed(5_000) })
      .askToStop(20_000, ['self', 'log'])
      .pass(1_000);
    away(life, 500);
    assert.deepEqual([life.state.stop?.among, life.deadlineMs], [['self', 'log'], 20_000]);
    assert.deepEqual(life.passUntilGone().signals, [[5_000, 15]]);
  });
});
