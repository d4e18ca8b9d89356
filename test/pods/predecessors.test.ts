/** N: the start order that the kubelet gives init containers and native sidecars, done from inside the containers. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { assertStartedBefore, readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

describe('start order', { concurrency: atOnce(4) }, () => {
  scenario('N02 a main whose predecessor failed is not started', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: AMPLE_MS,
      containers: [main('migrate', { run: 50, exit: 1 }), main('work', { run: 50 }, after('migrate=completed'))],
    });
    assert.equal(await pod.end(), 'Failed');
    assert.deepEqual([pod.exitOf('migrate'), pod.exitOf('work')], [1, 125]);
    readTimeline(scratch.log).neverStarted('work');
    assert.equal(readTombstone(scratch.graveyard, 'work')?.Reason, 'never-started');
    assert.match(pod.current('work').stderr(), /migrate/, 'it says why');
  });

  scenario('N05 under Always a failing member is started again, its completed predecessor is not', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const failing = { runs: '100,100,0', exit: 1, counter: scratch.path('count') };
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: AMPLE_MS,
      containers: [main('migrate', { run: 50 }, [], { init: true }), main('work', failing, after('migrate=completed'))],
    });
    await waitForEvent(scratch.log, 'work', 'Started', 3);
    await pod.delete();
    const log = readTimeline(scratch.log);
    log.endsBeforeStartOf('migrate', 'work');
    log.restarted('work');
    log.notRestarted('migrate');
    assert.deepEqual(pod.state('work').exits.slice(0, 2), [1, 1]);
    assert.equal(pod.state('work').killed, false);
  });

  scenario('N01 N10 three predecessors and two sidecars start in order, and the pod succeeds', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const roster = ['--mains', 'work'];
    const pod = runPod(stage.scratch, {
      restartPolicy: 'Never',
      graceMs: AMPLE_MS,
      containers: [
        main('p1', { run: 50 }),
        sidecar('s1', {}, [...roster, ...after('p1=completed')]),
        main('p2', { run: 50 }, after('s1=started')),
        sidecar('s2', {}, [...roster, ...after('p2=completed')]),
        main('p3', { run: 50 }, after('s2=started')),
        main('work', { run: 1, ...served }, after('p3=completed')),
      ],
    });
    await running('s1', 's2', 'work');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(stage.scratch.log);
    log.endsBeforeStartOf('p1', 's1');
    assertStartedBefore(stage.scratch.graveyard, 's1', 'p2');
    log.endsBeforeStartOf('p2', 's2');
    assertStartedBefore(stage.scratch.graveyard, 's2', 'p3');
    log.endsBeforeStartOf('p3', 'work');
    for (const name of ['s1', 's2']) {
      log.runTogether(name, 'work');
      log.exitsBeforeSignalTo('work', name);
      log.notRestarted(name);
    }
  });

  scenario('N13 a sidecar and its main do not start while their predecessor fails', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'OnFailure',
      graceMs: AMPLE_MS,
      containers: [
        main('migrate', { run: 20, exit: 1 }),
        sidecar('proxy', {}, ['--mains', 'work', ...after('migrate=completed')]),
        main('work', {}, after('proxy=started')),
      ],
    });
    await waitForEvent(scratch.log, 'migrate', 'Starting', 4);
    for (const name of ['proxy', 'work'])
      await waitForTombstone(scratch.graveyard, name, 'waits', (it) => it.Phase === 'waiting');
    await pod.delete(AMPLE_MS - 10_000);
    for (const name of ['proxy', 'work']) {
      readTimeline(scratch.log).neverStarted(name);
      assert.equal(pod.state(name).killed, false, name);
    }
    assert.equal(pod.exitOf('proxy'), 0);
    // 125: that its gate can never open any more it may hear before its own signal.
    assert.ok([143, 125].includes(pod.exitOf('work')), String(pod.exitOf('work')));
  });

  scenario('N14 a sidecar serves a predecessor that starts behind it until it succeeds', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const failing = { run: 20, exits: '1,1,0', counter: scratch.path('count') };
    const pod = runPod(scratch, {
      restartPolicy: 'OnFailure',
      graceMs: AMPLE_MS,
      containers: [
        main('work', { run: 1, ...served }, after('migrate=completed')),
        main('migrate', failing, after('proxy=started')),
        sidecar('proxy', {}, ['--mains', 'work']),
      ],
    });
    await running('proxy', 'work');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    assertStartedBefore(scratch.graveyard, 'proxy', 'migrate');
    assert.deepEqual(pod.state('migrate').exits, [1, 1, 0]);
    log.endsBeforeStartOf('migrate', 'work');
    log.runTogether('proxy', 'migrate');
    log.exitsBeforeSignalTo('work', 'proxy');
    log.notRestarted('proxy');
  });
});
