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
  scenario('the stand-in kubelet runs predecessors one by one and then all others', async (stage) => {
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

  scenario('the stand-in kubelet fails a pod whose predecessor fails under Never', async (stage) => {
    const containers = [bare(stage, 'one', { run: 20, exit: 3 }, { init: true }), bare(stage, 'main', { run: 20 })];
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Failed');
    assert.equal(pod.exitOf('one'), 3);
    readTimeline(stage.scratch.log).neverStarted('main');
  });

  scenario('the stand-in kubelet fails a test that leaves a container, and ends the container', async (stage) => {
    const hooks: (() => unknown)[] = [];
    const scratch = await tempGraveyard({ after: (hook) => hooks.push(hook as () => unknown) }, 100);
    const containers = [bare({ ...stage, scratch }, 'left', {})];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'left', 'Started');
    await assert.rejects(Promise.all(hooks.map((hook) => hook())), /left behind: .*left/);
    assert.deepEqual([pod.exitOf('left'), pod.state('left').killed], [137, true]);
    assert.deepEqual(processesNaming(scratch.dir), []);
  });

  scenario('the stand-in kubelet kills the whole namespace at the end of the grace period', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'main', { ignore: 'TERM', grandchild: 600_000 })];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 2_000, containers });
    for (const name of ['main', 'main.grandchild']) await waitForEvent(scratch.log, name, 'Starting');
    assert.equal(await pod.delete(), 'Failed');
    assert.equal(pod.exitOf('main'), 137);
    assert.ok(pod.state('main').killed);
    assert.deepEqual(readTimeline(scratch.log).signals('main'), [15]);
    assert.deepEqual(readTimeline(scratch.log).of('main.grandchild', 'Exiting'), []);
    assert.deepEqual(
      processesNaming(`name=main`).filter((it) => it.commandLine.includes(scratch.log)),
      [],
    );
  });

  scenario('the stand-in kubelet takes no notice of a second deletion, with less time or with more', async (stage) => {
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: 300_000,
      containers: [bare(stage, 'main', { term: 500 })],
    });
    await waitForEvent(scratch.log, 'main', 'Started');
    const deletions = [pod.delete()];
    await waitForEvent(scratch.log, 'main', 'Signal');
    deletions.push(pod.delete(1), pod.delete(600_000));
    assert.deepEqual(await Promise.all(deletions), ['Succeeded', 'Succeeded', 'Succeeded']);
    assert.equal(pod.state('main').killed, false);
    assert.deepEqual(readTimeline(scratch.log).signals('main'), [15]);
  });

  scenario('the stand-in kubelet replaces one container unless the policy is Never', async (stage) => {
    const { scratch } = stage;
    for (const restartPolicy of ['OnFailure', 'Never'] as const) {
      const [main, other] = [`main-${restartPolicy}`, `other-${restartPolicy}`] as const;
      const containers = [bare(stage, main), bare(stage, other)];
      const pod = runPod(scratch, { restartPolicy, graceMs: AMPLE_MS, containers });
      for (const name of [main, other]) await waitForEvent(scratch.log, name, 'Started');
      await pod.replace(main);
      assert.deepEqual(pod.state(main).exits, [0]);
      if (restartPolicy === 'Never') assert.equal(pod.state(main).is, 'terminated');
      else await waitForEvent(scratch.log, main, 'Started', 2);
      assert.deepEqual(readTimeline(scratch.log).signals(other), [], 'nobody else is stopped');
      await pod.delete();
    }
  });
});
