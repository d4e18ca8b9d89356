/**
 * The stand-in kubelet itself: it must do to a pod what the real one does, or the pod tests show nothing. The
 * containers here run the fixture application as PID 1, without sexton.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { processesNaming } from '../helpers/process.ts';
import { scenario } from '../helpers/scenario.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, bare } from './members.ts';

describe('the stand-in kubelet', { concurrency: atOnce(4) }, () => {
  scenario('runs predecessors one by one and then all others, and tells the phase of the pod', async (stage) => {
    const { scratch } = stage;
    const [first, all] = [scratch.path('first'), scratch.path('all')];
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: AMPLE_MS,
      containers: [
        bare(stage, 'a', { run: 1, after: all }),
        bare(stage, 'one', { run: 1, after: first }, { init: true }),
        bare(stage, 'two', { run: 1 }, { init: true }),
        bare(stage, 'b', { run: 1, after: all }),
      ],
    });
    await waitForEvent(scratch.log, 'one', 'Started');
    assert.deepEqual(
      ['one', 'two', 'a'].map((it) => pod.state(it).is),
      ['running', 'waiting', 'waiting'],
    );
    assert.equal(pod.phase(), 'Pending');
    writeFileSync(first, '');
    for (const name of ['a', 'b']) await waitForEvent(scratch.log, name, 'Started');
    assert.equal(pod.phase(), 'Running');
    assert.deepEqual(
      ['one', 'two', 'a'].map((it) => pod.state(it).is),
      ['terminated', 'terminated', 'running'],
    );
    writeFileSync(all, '');
    assert.equal(await pod.end(), 'Succeeded');
    assert.equal(pod.phase(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.endsBeforeStartOf('one', 'two');
    log.endsBeforeStartOf('two', 'a');
    log.endsBeforeStartOf('two', 'b');
    log.runTogether('a', 'b');
  });

  scenario('fails a pod whose predecessor fails under Never, and starts nothing else', async (stage) => {
    const containers = [bare(stage, 'one', { run: 20, exit: 3 }, { init: true }), bare(stage, 'main', { run: 20 })];
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Failed');
    assert.equal(pod.exitOf('one'), 3);
    readTimeline(stage.scratch.log).neverStarted('main');
  });

  scenario('starts a container again after a failure under OnFailure, not after a success', async (stage) => {
    const options = { run: 30, exits: '1,2,0', counter: stage.scratch.path('count') };
    const containers = [bare(stage, 'main', options)];
    const pod = runPod(stage.scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    const expected = { is: 'terminated', running: false, exits: [1, 2, 0], restarts: 2, killed: false };
    assert.deepEqual(pod.state('main'), { name: 'main', ...expected });
  });

  scenario('starts a container again after every end under Always, until the pod is deleted', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'main', { runs: '20,20,0', counter: scratch.path('count') })];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'main', 'Started', 3);
    assert.equal(pod.phase(), 'Running');
    assert.equal(await pod.delete(), 'Succeeded');
    assert.deepEqual(pod.state('main').exits, [0, 0, 0]);
  });

  scenario('lets a container wait between two lives, for as long as it pleases', async (stage) => {
    const { scratch } = stage;
    const backoff = async (life: number) => {
      if (life > 2) return new Promise(() => {});
      await waitForEvent(scratch.log, 'other', 'Started');
    };
    const containers = [
      bare(stage, 'main', { run: 1, exit: 1 }, { backoff }),
      bare(stage, 'other', { after: scratch.path('never') }, { init: false }),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'main', 'Exiting', 2);
    await pod.current('main').exit();
    assert.equal(pod.state('main').is, 'waiting');
    assert.ok(
      readTimeline(scratch.log).at('other', 'Started').index < readTimeline(scratch.log).last('main', 'Starting').index,
    );
    await pod.delete();
    assert.deepEqual(pod.state('main').exits, [1, 1], 'a deletion ends the waiting');
  });

  scenario('lets everything vanish at once in a crash', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'a', {}), bare(stage, 'b', {})];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    for (const name of ['a', 'b']) await waitForEvent(scratch.log, name, 'Started');
    await pod.crash();
    const log = readTimeline(scratch.log);
    assert.deepEqual(
      [log.of('a', 'Exiting'), log.of('b', 'Exiting'), log.signals('a'), log.signals('b')],
      [[], [], [], []],
    );
    assert.deepEqual([pod.exitOf('a'), pod.exitOf('b')], [137, 137]);
    assert.deepEqual([pod.state('a').is, pod.state('b').is], ['terminated', 'terminated']);
  });

  scenario('fails a test that leaves a container, and ends the container', async (stage) => {
    const hooks: (() => unknown)[] = [];
    const scratch = await tempGraveyard({ after: (hook) => hooks.push(hook as () => unknown) }, 100);
    const containers = [bare({ ...stage, scratch }, 'left', {})];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'left', 'Started');
    await assert.rejects(Promise.all(hooks.map((hook) => hook())), /left behind: .*left/);
    assert.deepEqual([pod.exitOf('left'), pod.state('left').killed], [137, true]);
    assert.deepEqual(processesNaming(scratch.dir), []);
  });
});
