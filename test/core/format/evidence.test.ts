import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EXIT } from '../../../src/core/exit.ts';
import { type Evidence, formatEvidence, MAX_EVIDENCE_BYTES } from '../../../src/core/format/evidence.ts';
import { evidenceOf, terminationMessageOf } from '../../../src/core/lifecycle/stop/record.ts';
import { peers } from '../arbitraries.ts';
import { anything, member, performAny, script } from '../arbitraries-actions.ts';
import { alive, command, dead, fixed, mainConfig, probes, sidecarConfig } from '../helpers.ts';
import { type ChildScript, Life, main } from '../life.ts';
import '../../helpers/seeded.ts';

function testimony(life: Life): Evidence {
  return evidenceOf(life.config, life.passUntilGone().state);
}

describe('the evidence', () => {
  it('the evidence of a stop has its phases and rungs, the grace left, and a summary', () => {
    const ladder = [
      { signal: 3, forMs: 2_000 },
      { signal: 15, forMs: undefined },
    ];
    const change = { drain: fixed(2_000), preStop: command('pre'), ladder, gracePeriodMs: 30_000 };
    const child: ChildScript = {
      on: { 3: 'ignores', 15: { afterMs: 250, code: 0 } },
      actions: { pre: [{ afterMs: 300, ok: true }] },
    };
    const evidence = testimony(new Life(main(change, child)).pass(5_000).signal(15));
    assert.deepEqual(evidence.Phases, [
      { Phase: 'drain', Ms: 2_000 },
      { Phase: 'pre-stop', Ms: 300 },
      { Phase: 'ladder', Signal: 'SIGQUIT', Ms: 2_000 },
      { Phase: 'ladder', Signal: 'SIGTERM', Ms: 250 },
    ]);
    assert.equal(
      evidence.Summary,
      'stopped in 4.6 s (signal TERM): drain 2.0 s, pre-stop 300 ms, QUIT 2.0 s, TERM 250 ms, exit code 0, not forced, 25 s of grace left',
    );
    const { StopMs, GraceMs, GraceLeftMs, ForcedBy } = evidence;
    assert.deepEqual([StopMs, GraceMs, GraceLeftMs, ForcedBy], [4_550, 30_000, 25_450, undefined]);
  });

  it('a KILL in an earlier life does not make a stop forced', () => {
    const { config, state } = new Life(main({}, { on: { 15: { afterMs: 250, code: 0 } } })).signal(15).passUntilGone();
    const earlier = [
      { name: 'ladder', signal: 9, sinceMs: 0 },
      { name: 'hold', sinceMs: 1 },
    ] as const;
    const stages = [...earlier, ...state.chronicle.stages];
    assert.equal(evidenceOf(config, { ...state, chronicle: { ...state.chronicle, stages } }).ForcedBy, undefined);
  });

  it('the evidence of a stop that KILL ended names its sender and the time', () => {
    const late = testimony(new Life(main({ gracePeriodMs: 10_000 }, { on: { 15: 'ignores' } })).pass(1_000).signal(15));
    assert.deepEqual([late.ForcedBy, late.Signal, late.ExitCode, late.GraceLeftMs], ['sexton', 'SIGKILL', 137, 500]);
    assert.match(
      late.Summary,
      /^stopped in 9\.5 s \(signal TERM\): TERM 9\.5 s, KILL 0 ms, ended by SIGKILL, killed by sexton, /,
    );
    const other = new Life(main({ gracePeriodMs: 10_000 }, { on: { 15: 'ignores' } })).signal(15).pass(100);
    assert.equal(testimony(other.killChild({ oom: false })).ForcedBy, 'an unknown sender');
  });

  it('the termination message is empty for a command that failed by itself, and for no other end', () => {
    const said = (life: Life): string => terminationMessageOf(life.config, life.passUntilGone().state);
    const running = (): Life => new Life(main({ restart: 'never' })).pass(1_000);
    for (const failed of [running().endChild(3), running().interruptChild(11)]) assert.equal(said(failed), '');
    const killed = [true, false].map((oom) => running().killChild({ oom }));
    const asked = new Life(main({ drain: fixed(1_000) })).signal(15).endChild(3);
    const sick = new Life(main(probes({ liveness: { failures: 1 } }), { actions: { liveness: ['never'] } }));
    const others = [...killed, asked, sick, running().endChild(0), new Life(main({}, { errno: 'ENOENT' }))];
    for (const life of others) assert.match(said(life), /^{"Summary":/);
  });

  it('the evidence of a command that ended by itself mentions no stop', () => {
    const ended = testimony(new Life(main()).pass(1_000).endChild(3));
    assert.equal(ended.Summary, 'ended by itself, exit code 3');
    assert.equal(ended.StopReason, undefined);
    assert.equal(ended.Phases, undefined);
    const killed = testimony(new Life(main()).pass(1_000).killChild({ oom: false }));
    assert.equal(killed.Summary, 'killed by an unknown sender, ended by SIGKILL');
    const starved = testimony(new Life(main()).pass(1_000).killChild({ oom: true }));
    assert.deepEqual([starved.Summary, starved.OomKills], ['killed by the OOM killer, ended by SIGKILL', 1]);
  });

  it('the evidence of a sidecar tells hold from linger, and has both codes', () => {
    const config = sidecarConfig({ mains: ['web'], lingerMs: 700, gracePeriodMs: 60_000 });
    const child: ChildScript = { on: { 15: { afterMs: 100, code: 9 } } };
    const held = new Life({ config, child, peers: [alive('web')] }).pass(1_000).signal(15).pass(5_000);
    const end = (life: Life) => dead('web', 0, { Final: true, DiedMonotonic: life.nowMs });
    const evidence = testimony(held.see(end(held)));
    assert.deepEqual(evidence.Phases?.slice(0, 2), [
      { Phase: 'hold', Ms: 5_000 },
      { Phase: 'linger', Ms: 700 },
    ]);
    assert.deepEqual([evidence.ExitCode, evidence.ContainerExitCode], [9, 0]);
    const lingered = new Life({ config, child, peers: [alive('web')] }).pass(1_000);
    const after = testimony(lingered.see(end(lingered)));
    const phases = after.Phases?.map(({ Phase }) => Phase);
    assert.deepEqual(phases, ['linger', 'ladder']);
    assert.match(after.Summary, /^stopped in 800 ms \(mains finished\): linger 700 ms, TERM 100 ms, exit code 9, /);
  });

  it('the evidence of a sidecar that restarted while it held has that absence', () => {
    const config = sidecarConfig({ mains: ['web'], gracePeriodMs: 60_000 });
    const held = new Life({ config, peers: [alive('web')] }).pass(1_000).endChild(1).pass(30_000).signal(15);
    held.pass(5_000).killChild({ oom: false });
    const away = (held.nextMs ?? 0) - held.nowMs;
    const evidence = testimony(held.pass(9_000).see(dead('web', 0, { Final: true })));
    assert.deepEqual(evidence.Absences, [{ AfterMs: 5_000, Ms: away, Signal: 'SIGKILL', By: 'an unknown sender' }]);
    assert.equal(evidence.Restarts, 2);
  });

  it('the evidence of a sidecar that ends after an OOM kill names the OOM killer', () => {
    const config = sidecarConfig({ mains: ['web'] });
    const killed = new Life({ config, peers: [alive('web')] }).pass(1_000).killChild({ oom: true });
    const evidence = testimony(killed.see(dead('web', 0, { Final: true })));
    assert.deepEqual([evidence.Reason, evidence.ForcedBy, evidence.OomKills], ['oom', 'OOM killer', 1]);
    assert.match(evidence.Summary, /^killed by the OOM killer, ended by SIGKILL, /);
  });

  it('the start of a supervisor during a stop is a phase of its own', () => {
    const child: ChildScript = { on: { 15: { afterMs: 100, code: 0 } } };
    const life = new Life({ config: mainConfig({ drain: fixed(2_000) }), peers: [], child }).pass(60_000);
    life.loseSupervisor().signal(15).pass(300).feed({ type: 'booted' }).pass(18).see();
    assert.deepEqual(testimony(life).Phases, [
      { Phase: 'wake', Ms: 318 },
      { Phase: 'drain', Ms: 1_682 },
      { Phase: 'ladder', Signal: 'SIGTERM', Ms: 100 },
    ]);
    assert.ok(!life.logs.some((line) => line.includes('depend on it')), life.logs.join('\n'));
    assert.ok(!life.tombstone.History?.some(({ Phase }) => Phase === 'holding'));
  });

  it('a stop that is heard at once begins with its first wait', () => {
    const life = new Life(main({ drain: fixed(2_000) }, { on: { 15: { afterMs: 100, code: 0 } } })).pass(60_000);
    life.loseSupervisor().feed({ type: 'booted' }).pass(18).signal(15).pass(18).see();
    assert.deepEqual(testimony(life).Phases?.[0], { Phase: 'drain', Ms: 2_000 });
  });

  it('the evidence of `sexton stop` has the grace period of that request', () => {
    const life = new Life(main({ gracePeriodMs: 20_000 }, { on: { 15: { afterMs: 2_000, code: 0 } } })).pass(1_000);
    const evidence = testimony(life.askToStop(10_000));
    assert.deepEqual([evidence.GraceMs, evidence.GraceLeftMs], [10_000, 8_000]);
  });

  it('the evidence says when another signal hurried the stop, and only then', () => {
    const child: ChildScript = { on: { 15: { afterMs: 100, code: 0 } } };
    const drains = { drain: fixed(30_000), gracePeriodMs: 60_000 };
    const hurried = testimony(new Life(main(drains, child)).pass(1_000).signal(15).pass(15_000).signal(2));
    assert.deepEqual(hurried.Hurried, { Signal: 'SIGINT', AfterMs: 15_000 });
    assert.match(hurried.Summary, /: drain 15 s, TERM 100 ms, hurried by another INT after 15 s, exit code 0,/);
    const same = testimony(new Life(main(drains, child)).pass(1_000).signal(15).pass(100).signal(15));
    assert.equal(same.Hurried, undefined);
  });

  it('C3: the evidence of an unfinished stop says how far it is and what it waits for', () => {
    const config = sidecarConfig({ mains: ['web'], gracePeriodMs: 60_000 });
    const child: ChildScript = { on: { 15: 'ignores' } };
    const held = new Life({ config, child, peers: [alive('web')] }).pass(1_000).signal(15).pass(5_000);
    const evidence = evidenceOf(config, held.state);
    assert.deepEqual([evidence.Unfinished, evidence.WaitsFor, evidence.Reason], ['hold', ['web'], undefined]);
    assert.match(
      evidence.Summary,
      /^asked to stop \(signal TERM\): holding for web, the command was not told to stop; if /,
    );
    const { Summary, WaitsFor } = evidenceOf(config, held.see(dead('web', 0, { Final: true })).state);
    assert.match(Summary, /^asked to stop \(signal TERM\): hold 5.0 s, TERM .*the command had not ended; if /);
    assert.equal(WaitsFor, undefined);
  });

  it('the evidence after a failed life is that of the last one, with its restarts', () => {
    const child: ChildScript = {
      actions: {
        liveness: [
          { afterMs: 1, ok: false },
          { afterMs: 1, ok: true },
        ],
      },
    };
    const life = new Life(main({ restart: 'always', ...probes({ liveness: { failures: 1 } }) }, child)).pass(20_000);
    assert.equal(life.state.births, 2);
    const evidence = testimony(life.signal(15));
    assert.deepEqual([evidence.Restarts, evidence.Phases?.length, evidence.StopReason], [1, 1, 'signal TERM']);
    assert.match(evidence.Summary, /, restarted 1 time$/);
  });

  it('the evidence of a command that never started says why', () => {
    const gate = { name: 'db', condition: 'healthy', optional: false } as const;
    const timedOut = testimony(new Life(main({ startAfter: [gate], startTimeoutMs: 1_000 })));
    assert.equal(timedOut.ExitCode, EXIT.sexton);
    assert.match(
      timedOut.Summary,
      /^never started: timed out waiting for db=healthy \(no member db has been seen\), exit code 125$/,
    );
    const stopped = testimony(new Life(main({ startAfter: [gate] })).signal(15));
    assert.equal(stopped.Summary, 'never started: stopped before (signal TERM), exit code 143');
    const absent = new Life(main({}, { errno: 'ENOENT' }));
    assert.equal(testimony(absent).Summary, 'never started: app: ENOENT, exit code 127');
    assert.ok(absent.logs.includes('error: cannot start app: ENOENT'));
  });

  it('the evidence outlives the supervisor', () => {
    const life = new Life(main({ drain: fixed(1_000) }, { on: { 15: { afterMs: 3_000, code: 0 } } }))
      .signal(15)
      .pass(2_000);
    assert.deepEqual(testimony(life.loseSupervisor().feed({ type: 'booted' })).Phases, [
      { Phase: 'drain', Ms: 1_000 },
      { Phase: 'ladder', Signal: 'SIGTERM', Ms: 3_000 },
    ]);
  });

  it('the summary is in the history of the tombstone, and the log has one last line', () => {
    const life = new Life(main()).pass(1_000).endChild(0).passUntilGone();
    const entry = life.tombstone.History?.find(({ Event }) => Event === 'over');
    assert.equal(entry?.Summary, 'ended by itself, exit code 0');
    assert.equal(life.logs.filter((line) => line.endsWith(': dead')).length, 1);
  });
});

describe('in any life', () => {
  it('any evidence is JSON of at most 4096 bytes, and its phases make up the stop', () => {
    fc.assert(
      fc.property(member, script, peers, anything, (config, child, found, todo) => {
        let kills = 0;
        const observe = (step: { effects: readonly { type: string; signal?: number }[] }): void => {
          kills += step.effects.filter(({ type, signal }) => /^(kill|stop)$/.test(type) && signal === 9).length;
        };
        const life = new Life({ config, child, peers: found, observe: observe as never });
        for (const one of todo) {
          performAny(life, one);
          check(evidenceOf(config, life.state));
        }
        life.pass(200_003);
        check(evidenceOf(config, life.state));
        const evidence = evidenceOf(config, life.state);
        if (evidence.ForcedBy === 'sexton') assert.ok(kills > 0);
        if (evidence.StopMs === undefined || evidence.Phases === undefined || life.exitCode === undefined) return;
        // Leftovers may have been cleared, or the life may have failed, before the stop request.
        if (evidence.Phases.some(({ Phase }) => Phase === 'rest') || life.state.failing !== undefined) return;
        const sum = evidence.Phases.reduce((all, { Ms }) => all + Ms, 0);
        assert.ok(sum <= evidence.StopMs + evidence.Phases.length, `${sum} of ${evidence.StopMs}`);
      }),
      { numRuns: 120 },
    );
  });

  it('evidence that is too long is cut, and stays JSON with its summary', () => {
    const text = fc.string({ unit: 'binary', maxLength: 5_000 });
    fc.assert(
      fc.property(text, text, fc.nat(200), (one, other, count) => {
        const Phases = Array.from({ length: count }, () => ({ Phase: 'ladder', Signal: 'SIGTERM', Ms: 1 }) as const);
        const Died = '2026-01-01T00:00:00.000000000Z';
        const last = { Restarts: 0, OomKills: 0, Died };
        const cut = check({ Summary: one, Version: 1, Name: 'web', StopReason: other, Phases, ...last });
        assert.equal(cut.Name, 'web');
        if (count > 120) assert.equal(cut.Died, undefined);
      }),
    );
  });
});

function check(evidence: Evidence): Evidence {
  const text = formatEvidence(evidence);
  assert.ok(Buffer.byteLength(text) <= MAX_EVIDENCE_BYTES);
  assert.ok(text.isWellFormed() && text.startsWith('{"Summary":"') && text.indexOf('\n') === text.length - 1);
  return JSON.parse(text) as Evidence;
}
