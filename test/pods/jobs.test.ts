/**
 * J: what a sidecar does when the work has ended, policy by policy. "Nothing" is shown by the sidecar's own log: it
 * gets no signal and ends as it would have ended alone.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForDeath } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

/** The sidecar ends by itself and is not started again in place. */
const ONCE = ['--restart', 'never'];

describe('jobs with sidecars', { concurrency: atOnce(4) }, () => {
  for (const [id, restartPolicy, exit, phase] of [
    ['J01 J04 N11', 'Never', 0, 'Succeeded'],
    ['J02', 'Never', 1, 'Failed'],
    ['J05 N11', 'OnFailure', 0, 'Succeeded'],
  ] as const) {
    const then = `and is stopped when it has ended with ${exit}`;
    scenario(`${id} under ${restartPolicy} a sidecar is left alone while its main runs ${then}`, async (stage) => {
      const { main, sidecar, served, serves } = cast(stage);
      const containers = [main('work', { run: 300, exit, ...served }), sidecar('proxy', { loop: 50, ...serves })];
      const pod = runPod(stage.scratch, { restartPolicy, graceMs: AMPLE_MS, containers });
      assert.equal(await pod.end(), phase);
      const log = readTimeline(stage.scratch.log);
      log.exitsBeforeSignalTo('work', 'proxy');
      assert.deepEqual(log.signals('proxy'), [15]);
      log.notRestarted('proxy');
      assert.deepEqual([pod.exitOf('proxy'), pod.state('proxy').restarts], [0, 0]);
      const { Reason, ExitCode, StopReason } = readTombstone(stage.scratch.graveyard, 'proxy') ?? {};
      assert.deepEqual([Reason, ExitCode, StopReason], ['stopped', 0, 'mains finished']);
    });
  }

  for (const [id, restartPolicy, exits, own, reason] of [
    ['J03', 'Never', [1], 2, 'error'],
    ['J06', 'OnFailure', [1, 0], 0, 'completed'],
    ['J07', 'OnFailure', [0], 0, 'completed'],
  ] as const)
    scenario(`${id} under ${restartPolicy} a sidecar that ended before its main gets no signal`, async (stage) => {
      const { main, sidecar, served, open } = cast(stage);
      const { scratch } = stage;
      const work = main('work', { run: 1, exits: exits.join(), counter: scratch.path('count'), ...served });
      const containers = [work, sidecar('proxy', { run: 50, exit: own }, ONCE)];
      const pod = runPod(scratch, { restartPolicy, graceMs: AMPLE_MS, containers });
      await waitForDeath(scratch.graveyard, 'proxy');
      open();
      assert.equal(await pod.end(), id === 'J03' ? 'Failed' : 'Succeeded');
      assert.deepEqual([pod.state('work').exits, pod.state('proxy').exits], [exits, [own]]);
      const log = readTimeline(scratch.log);
      assert.deepEqual([log.signals('work'), log.signals('proxy')], [[], []]);
      log.notRestarted('proxy');
      assert.equal(readTombstone(scratch.graveyard, 'proxy')?.Reason, reason);
    });

  scenario('J08 the end of two mains ends a running sidecar and one that never started', async (stage) => {
    const { main, sidecar, served, serves } = cast(stage);
    const { scratch } = stage;
    // By name: a main that is still to be seen would not be waited for.
    const roster = ['--mains', 'w1,w2'];
    const containers = [
      main('w1', { run: 300, ...served }),
      main('w2', { run: 500, ...served }),
      sidecar('s1', serves, roster),
      sidecar('s2', {}, [...roster, ...after('absent=started')]),
    ];
    const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('w1', 's1');
    log.exitsBeforeSignalTo('w2', 's1');
    log.neverStarted('s2');
    assert.deepEqual([pod.state('s1').exits, pod.state('s2').exits], [[0], [0]]);
    assert.equal(readTombstone(scratch.graveyard, 's2')?.Reason, 'never-started');
  });

  scenario('J09 when one sidecar is done already the other is stopped', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const containers = [main('work', { run: 200, ...served }), sidecar('s1', { run: 50 }, ONCE), sidecar('s2')];
    const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    await waitForDeath(scratch.graveyard, 's1');
    await running('s2');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    assert.deepEqual([log.signals('s1'), log.signals('s2')], [[], [15]]);
    log.notRestarted('s1');
  });

  scenario('J10 a sidecar stays while one of two mains runs, also when the first one failed', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const enough = scratch.path('enough');
    const containers = [
      main('w1', { run: 1, exit: 1, ...served }),
      main('w2', { run: 1, after: enough }),
      // The sidecar does not know the mains by name, but has seen both once these gates are open.
      sidecar('proxy', { loop: 50 }, after('w1=started', 'w2=started')),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await running('w1', 'w2', 'proxy');
    open();
    await waitForDeath(scratch.graveyard, 'w1');
    // A second in which a sidecar that took this for the end would be stopped.
    await waitForEvent(scratch.log, 'proxy', 'Looping', readTimeline(scratch.log).of('proxy', 'Looping').length + 20);
    writeFileSync(enough, '');
    assert.equal(await pod.end(), 'Failed');
    const log = readTimeline(scratch.log);
    log.exitsBefore('w1', 'w2');
    log.exitsBeforeSignalTo('w2', 'proxy');
    const [proxy, w2] = ['proxy', 'w2'].map((name) => readTombstone(scratch.graveyard, name));
    assert.ok((proxy?.StopRequested ?? '') >= (w2?.Died ?? '?'), 'the first death decided nothing');
    assert.deepEqual([pod.exitOf('w1'), pod.exitOf('w2'), pod.exitOf('proxy')], [1, 0, 0]);
  });

  scenario('J10 with `any` the first of two mains that ends is enough', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const roster = ['--mains', 'w1,w2', '--when', 'any'];
    const containers = [main('w1', { run: 1, ...served }), main('w2', {}), sidecar('proxy', {}, roster)];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await running('w1', 'w2', 'proxy');
    open();
    await waitFor('the sidecar ends', () => pod.state('proxy').exits.length > 0);
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('w1', 'proxy');
    assert.deepEqual(log.signals('w2'), [], 'nobody touched the other main');
    await pod.delete();
  });

  scenario('J11 a main that is born again after the sidecar decided to stop is reported as an error', async (stage) => {
    const { main, sidecar, served, serves } = cast(stage);
    const { scratch } = stage;
    const until = scratch.path('until');
    const containers = [
      main('work', { runs: '1,0', counter: scratch.path('count'), ...served }),
      sidecar('proxy', { until, ...serves }),
    ];
    const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'proxy', 'Signal');
    await waitFor('the main has ended', () => !pod.state('work').running);
    pod.rerun('work');
    await waitFor('the log names it', () => /"level":"?(error|50)"?.*work/i.test(pod.current('proxy').stderr()));
    assert.equal(readTimeline(scratch.log).of('work', 'Starting').length, 2);
    writeFileSync(until, '');
    await waitFor('the sidecar ends', () => !pod.state('proxy').running);
    await pod.delete();
  });

  scenario('J12 the marker of OpenKruise alone makes a sidecar, in any case of letters', async (stage) => {
    const { main, served, serves } = cast(stage);
    const env = { KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT: 'True' };
    const containers = [main('work', { run: 300, ...served }), main('proxy', serves, [], { env })];
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    readTimeline(stage.scratch.log).exitsBeforeSignalTo('work', 'proxy');
    assert.equal(readTombstone(stage.scratch.graveyard, 'proxy')?.Role, 'sidecar');
  });

  scenario('J13 N23 the exit code of a sidecar fails no pod, stopped or ended by itself', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const containers = [
      main('work', { run: 200, ...served }),
      sidecar('stopped', { termexit: 7 }),
      sidecar('alone', { run: 50, exit: 7 }, ['--exit-code', '7=0', ...ONCE]),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForDeath(scratch.graveyard, 'alone');
    await running('stopped');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    for (const name of ['stopped', 'alone']) assert.equal(readTombstone(scratch.graveyard, name)?.ExitCode, 7, name);
  });

  scenario('J14 N26 a deaf sidecar is killed at its deadline, the others end, the pod succeeds', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const deaf = sidecar('proxy', { ignore: 'TERM' });
    const containers = [main('work', { run: 200, ...served }), sidecar('s1'), deaf, sidecar('s3')];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: 1_500, containers });
    await running('work', 's1', 'proxy', 's3');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    for (const name of ['s1', 's3']) assert.deepEqual(readTimeline(scratch.log).signals(name), [15]);
    const tombstone = readTombstone(scratch.graveyard, 'proxy');
    assert.deepEqual([tombstone?.Reason, tombstone?.ExitCode, tombstone?.Signal], ['killed', 137, 'SIGKILL']);
    assert.deepEqual(readTimeline(scratch.log).signals('proxy'), [15]);
  });

  scenario('J15 under Always no death of a main ends a sidecar', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const failing = { runs: '100,100,100,0', exits: '0,1,0,0', counter: scratch.path('count') };
    const containers = [main('work', failing, after('proxy=started')), sidecar('proxy')];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'work', 'Started', 4);
    await running('work', 'proxy');
    assert.deepEqual(readTimeline(scratch.log).signals('proxy'), []);
    await pod.delete();
    const log = readTimeline(scratch.log);
    log.notRestarted('proxy');
    log.exitsBeforeSignalTo('work', 'proxy');
  });
});
