/**
 * N: post-start and pre-stop hooks in pods of real processes. Every hook is the fixture application under a name of its
 * own, so that its events are in the log of the members.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

/** A grace period for hooks that never end: sexton ends them at half of it, and KILLs what ignores TERM in time. */
const SHORT_MS = 6_000;

describe('hooks', { concurrency: atOnce(4) }, () => {
  scenario('N03 a member does not start before the post-start hook of its predecessor is over', async (stage) => {
    const { main, hook, served, open, running } = cast(stage);
    const { scratch } = stage;
    const go = scratch.path('go');
    const containers = [
      main('first', { run: 1, ...served }, ['--post-start', hook('first.hook', { after: go, run: 1 })]),
      main('second', { run: 1, ...served }, after('first=started')),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'first.hook', 'Started');
    await waitForEvent(scratch.log, 'first', 'Started');
    await waitFor('it waits', () => /first=started \(it has not started\)/.test(pod.current('second').stderr()));
    assert.equal(readTombstone(scratch.graveyard, 'first')?.Started, undefined);
    writeFileSync(go, '');
    await running('first', 'second');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.endsBeforeStartOf('first.hook', 'second');
    log.notRestarted('first.hook');
  });

  scenario('N04 a predecessor that is done before its post-start hook is done all the same', async (stage) => {
    const { main, hook } = cast(stage);
    const { scratch } = stage;
    const begun = scratch.path('begun');
    const containers = [
      main('first', { after: begun, run: 1 }, ['--post-start', hook('first.hook', { ready: begun })]),
      main('second', { run: 1 }, after('first=completed')),
    ];
    assert.equal(await runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers }).end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.endsBeforeStartOf('first', 'second');
    log.at('first.hook', 'Started');
    assert.equal(readTombstone(scratch.graveyard, 'first')?.Reason, 'completed');
  });

  scenario('N06 N19 a pre-stop hook that never ends is ended in time for TERM, and for KILL', async (stage) => {
    const { main, hook, running } = cast(stage);
    const { scratch } = stage;
    const endless = (name: string) => ['--pre-stop', hook(`${name}.hook`, { ignore: 'TERM' })];
    const containers = [main('good', {}, endless('good')), main('deaf', { ignore: 'TERM' }, endless('deaf'))];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: SHORT_MS, containers });
    await running('good', 'deaf');
    // The platform's own KILL would come too late: what ends them is ours.
    assert.equal(await pod.delete(AMPLE_MS), 'Failed');
    assert.deepEqual([pod.exitOf('good'), pod.exitOf('deaf')], [0, 137]);
    const log = readTimeline(scratch.log);
    for (const name of ['good', 'deaf']) {
      assert.ok(log.at(`${name}.hook`, 'Started').index < log.at(name, 'Signal').index, name);
      assert.deepEqual([log.of(`${name}.hook`, 'Exiting'), log.signals(name)], [[], [15]], name);
      assert.equal(pod.state(name).killed, false, name);
    }
    assert.equal(readTombstone(scratch.graveyard, 'good')?.Reason, 'stopped');
    assert.equal(readTombstone(scratch.graveyard, 'deaf')?.Reason, 'killed');
    assert.match(pod.current('good').stderr(), /pre-stop/, 'it says so');
  });

  scenario('N20 pre-stop hooks of sidecars run when their turn comes, and they end in reverse order', async (stage) => {
    const { main, sidecar, hook, running } = cast(stage);
    const { scratch } = stage;
    const withHook = (name: string) => ['--pre-stop', hook(`${name}.hook`, { run: 100 })];
    const containers = [
      sidecar('s1', {}, withHook('s1')),
      sidecar('s2', {}, [...withHook('s2'), ...after('s1=started')]),
      sidecar('s3', {}, [...withHook('s3'), ...after('s2=started')]),
      main('work', {}, [...withHook('work'), ...after('s3=started')]),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await running('s1', 's2', 's3', 'work');
    assert.equal(await pod.delete(AMPLE_MS - 10_000), 'Succeeded');
    const log = readTimeline(scratch.log);
    for (const name of ['work', 's3', 's2', 's1']) {
      log.exitsBeforeSignalTo(`${name}.hook`, name);
      assert.deepEqual(log.signals(name), [15], name);
      assert.equal(pod.state(name).killed, false, name);
    }
    log.endsBeforeStartOf('work', 's3.hook');
    log.endsBeforeStartOf('s3', 's2.hook');
    log.endsBeforeStartOf('s2', 's1.hook');
  });

  scenario('N24 a pre-stop hook that fails is logged and ignored', async (stage) => {
    const { main, hook, running } = cast(stage);
    const { scratch } = stage;
    const containers = [
      main('work', {}, ['--pre-stop', hook('work.hook', { run: 1, exit: 3 })]),
      main('other', {}, ['--pre-stop', 'exec:/no/such/program']),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await running('work', 'other');
    assert.equal(await pod.delete(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('work.hook', 'work');
    assert.deepEqual([log.signals('work'), log.signals('other')], [[15], [15]]);
    for (const name of ['work', 'other']) assert.match(pod.current(name).stderr(), /the pre-stop hook failed/, name);
  });

  for (const [id, whose] of [
    ['N27', 'main'],
    ['N28', 'sidecar'],
  ] as const) {
    scenario(`${id} every member gets TERM when the pre-stop hook of a ${whose} never ends`, async (stage) => {
      const { main, sidecar, hook, running } = cast(stage);
      const { scratch } = stage;
      const endless = ['--pre-stop', hook('hook', { ignore: 'TERM' })];
      const containers = [
        main('work', {}, whose === 'main' ? endless : []),
        sidecar('proxy', {}, whose === 'sidecar' ? endless : []),
      ];
      const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: SHORT_MS, containers });
      await running('work', 'proxy');
      assert.equal(await pod.delete(AMPLE_MS), 'Succeeded');
      const log = readTimeline(scratch.log);
      log.at('hook', 'Started');
      assert.deepEqual(log.of('hook', 'Exiting'), []);
      for (const name of ['work', 'proxy']) {
        assert.deepEqual([log.signals(name), log.of(name, 'Exiting').length], [[15], 1], name);
        assert.equal(pod.state(name).killed, false, name);
      }
    });
  }

  scenario('N21 N34 a member stopped in its start gate ends at once without child or hooks', async (stage) => {
    const { main, sidecar, hook } = cast(stage);
    const { scratch } = stage;
    const flags = (name: string) => ['--pre-stop', hook(`${name}.hook`, { run: 1 }), ...after('absent=started')];
    const containers = [main('work', {}, flags('work')), sidecar('proxy', {}, flags('proxy'))];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    for (const name of ['work', 'proxy'])
      await waitForTombstone(scratch.graveyard, name, 'waits', (it) => it.Phase === 'waiting');
    await pod.delete(AMPLE_MS - 10_000);
    for (const name of ['work', 'proxy', 'work.hook', 'proxy.hook']) readTimeline(scratch.log).neverStarted(name);
    for (const name of ['work', 'proxy']) {
      assert.equal(pod.state(name).killed, false, name);
      assert.equal(readTombstone(scratch.graveyard, name)?.Reason, 'never-started', name);
    }
    assert.deepEqual([pod.exitOf('work'), pod.exitOf('proxy')], [143, 0]);
  });

  scenario('N35 pre-stop runs although post-start still runs', async (stage) => {
    const { main, hook } = cast(stage);
    const { scratch } = stage;
    const hooks = ['--post-start', hook('work.post', {}), '--pre-stop', hook('work.pre', { run: 1 })];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers: [main('work', {}, hooks)] });
    for (const name of ['work', 'work.post']) await waitForEvent(scratch.log, name, 'Started');
    assert.equal(await pod.delete(AMPLE_MS - 10_000), 'Succeeded');
    readTimeline(scratch.log).exitsBeforeSignalTo('work.pre', 'work');
  });

  scenario('N36 post-start goes on after the stop request and ends with the child', async (stage) => {
    const { main, hook } = cast(stage);
    const { scratch } = stage;
    const flags = ['--post-start', hook('work.post', { loop: 50, ignore: 'TERM' })];
    const containers = [main('work', { ignore: 'TERM' }, flags)];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: SHORT_MS, containers });
    for (const name of ['work', 'work.post']) await waitForEvent(scratch.log, name, 'Started');
    assert.equal(await pod.delete(AMPLE_MS), 'Failed');
    const log = readTimeline(scratch.log);
    assert.ok(log.last('work.post', 'Looping').index > log.at('work', 'Signal').index, 'it went on');
    assert.deepEqual([log.signals('work'), pod.exitOf('work'), pod.state('work').killed], [[15], 137, false]);
    assert.equal(readTombstone(scratch.graveyard, 'work')?.Started, undefined);
  });

  for (const [what, options, flags] of [
    ['traps TERM', { term: 300 }, []],
    ['has a pre-stop hook', {}, ['--pre-stop', 'sleep:300ms']],
  ] as const) {
    scenario(`N38 a main that ${what} is served to its end and ends alike`, async (stage) => {
      const { main, sidecar, running } = cast(stage);
      const { scratch } = stage;
      const socket = scratch.path('socket');
      const work = main('work', { use: socket, ...options }, [...flags, ...after('proxy=started')]);
      const pod = runPod(scratch, {
        restartPolicy: 'Never',
        graceMs: AMPLE_MS,
        containers: [sidecar('proxy', { serve: socket }), work],
      });
      await running('proxy', 'work');
      assert.equal(await pod.delete(AMPLE_MS - 10_000), 'Succeeded');
      const log = readTimeline(scratch.log);
      log.exitsBeforeSignalTo('work', 'proxy');
      assert.deepEqual([log.of('work', 'Refused'), log.signals('work'), log.signals('proxy')], [[], [15], [15]]);
      const { Reason, ExitCode, StopReason } = readTombstone(scratch.graveyard, 'work') ?? {};
      assert.deepEqual([Reason, ExitCode, StopReason], ['stopped', 0, 'signal TERM']);
    });
  }
});
