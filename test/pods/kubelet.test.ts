/**
 * The stand-in kubelet itself: it must do to a pod what the real one does, or the pod tests show nothing. The containers
 * here run the fixture application as PID 1, without sexton.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import type { MemberOptions } from '../helpers/member.ts';
import { member } from '../helpers/member.ts';
import { processesNaming } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { type PodContainer, runPod } from './kubelet.ts';

const FAR_GRACE_MS = 60_000;

function bare(stage: Stage, name: string, options: MemberOptions, more: Partial<PodContainer> = {}): PodContainer {
  return { name, bare: true, command: member(stage, name, options), ...more };
}

describe('the stand-in kubelet', { concurrency: atOnce(4) }, () => {
  scenario('runs predecessors one by one and then all others, and tells the phase of the pod', async (stage) => {
    const { scratch } = stage;
    const [first, all] = [scratch.path('first'), scratch.path('all')];
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: FAR_GRACE_MS,
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
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: FAR_GRACE_MS, containers });
    assert.equal(await pod.end(), 'Failed');
    assert.equal(pod.exitOf('one'), 3);
    readTimeline(stage.scratch.log).neverStarted('main');
  });

  scenario('starts a container again after a failure under OnFailure, not after a success', async (stage) => {
    const options = { run: 30, exits: '1,2,0', counter: stage.scratch.path('count') };
    const containers = [bare(stage, 'main', options)];
    const pod = runPod(stage.scratch, { restartPolicy: 'OnFailure', graceMs: FAR_GRACE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    const expected = { is: 'terminated', running: false, exits: [1, 2, 0], restarts: 2, killed: false };
    assert.deepEqual(pod.state('main'), { name: 'main', ...expected });
  });

  scenario('starts a container again after every end under Always, until the pod is deleted', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'main', { runs: '20,20,0', counter: scratch.path('count') })];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: FAR_GRACE_MS, containers });
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
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: FAR_GRACE_MS, containers });
    await waitForEvent(scratch.log, 'main', 'Exiting', 2);
    await pod.current('main').exit();
    assert.equal(pod.state('main').is, 'waiting');
    assert.ok(
      readTimeline(scratch.log).at('other', 'Started').index < readTimeline(scratch.log).last('main', 'Starting').index,
    );
    await pod.delete();
    assert.deepEqual(pod.state('main').exits, [1, 1], 'a deletion ends the waiting');
  });

  scenario('sends TERM to all at once on deletion, but to one with a preStop after that', async (stage) => {
    const { scratch } = stage;
    const until = scratch.path('until');
    const hook = async () => {
      // Each has its TERM while none may end yet: they were asked together, and this one was not.
      for (const name of ['a', 'b']) await waitForEvent(scratch.log, name, 'Signal');
      assert.deepEqual(readTimeline(scratch.log).signals('late'), []);
      writeFileSync(until, '');
      for (const name of ['a', 'b']) await waitForEvent(scratch.log, name, 'Exiting');
    };
    const containers = [
      bare(stage, 'late', {}, { preStop: hook }),
      bare(stage, 'a', { until }),
      bare(stage, 'b', { until }),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: FAR_GRACE_MS, containers });
    for (const name of ['late', 'a', 'b']) await waitForEvent(scratch.log, name, 'Started');
    assert.equal(await pod.delete(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('a', 'late');
    log.exitsBeforeSignalTo('b', 'late');
    assert.deepEqual(['late', 'a', 'b'].map(log.signals), [[15], [15], [15]]);
  });

  scenario('sends TERM although a preStop failed, and none when the container ended during it', async (stage) => {
    const { scratch } = stage;
    const gone = scratch.path('gone');
    const endIt = async () => {
      writeFileSync(gone, '');
      await waitForEvent(scratch.log, 'ended', 'Exiting');
      await new Promise(() => {});
    };
    const containers = [
      bare(stage, 'failing', {}, { preStop: () => Promise.reject(new Error('exit 1')) }),
      bare(stage, 'ended', { after: gone, run: 1 }, { preStop: endIt }),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: FAR_GRACE_MS, containers });
    for (const name of ['failing', 'ended']) await waitForEvent(scratch.log, name, 'Started');
    assert.equal(await pod.delete(), 'Succeeded');
    assert.deepEqual(['failing', 'ended'].map(readTimeline(scratch.log).signals), [[15], []]);
  });

  scenario(
    'counts the grace period from the start of a preStop, and still sends TERM when that used it up',
    async (stage) => {
      const { scratch } = stage;
      let isTold = false;
      const endless = (over: AbortSignal) =>
        new Promise<void>(() => {
          over.addEventListener('abort', () => {
            isTold = true;
          });
        });
      const containers = [
        bare(stage, 'good', {}, { preStop: endless }),
        bare(stage, 'deaf', { ignore: 'TERM' }, { preStop: endless }),
      ];
      const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 300, containers });
      for (const name of ['good', 'deaf']) await waitForEvent(scratch.log, name, 'Started');
      assert.equal(await pod.delete(), 'Failed');
      assert.ok(isTold);
      assert.deepEqual(['good', 'deaf'].map(readTimeline(scratch.log).signals), [[15], [15]]);
      assert.deepEqual([pod.state('good').killed, pod.state('deaf').killed], [false, true]);
      assert.deepEqual([pod.exitOf('good'), pod.exitOf('deaf')], [0, 137]);
    },
  );

  scenario('kills the whole namespace at the grace period, also what ignores TERM and its children', async (stage) => {
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

  scenario(
    'lets a second deletion shorten the grace period, without a second TERM, and not lengthen it',
    async (stage) => {
      const { scratch } = stage;
      const containers = [bare(stage, 'main', { ignore: 'TERM' })];
      const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 300_000, containers });
      await waitForEvent(scratch.log, 'main', 'Started');
      const deletions = [pod.delete()];
      await waitForEvent(scratch.log, 'main', 'Signal');
      deletions.push(pod.delete(100), pod.delete(300_000));
      assert.deepEqual(await Promise.all(deletions), ['Failed', 'Failed', 'Failed']);
      assert.ok(pod.state('main').killed);
      assert.deepEqual(readTimeline(scratch.log).signals('main'), [15]);
    },
  );

  scenario('evicts: a deletion with its own grace period that fails the pod, whatever it exits with', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'good', {}), bare(stage, 'deaf', { ignore: 'TERM', run: 0 })];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 300_000, containers });
    for (const name of ['good', 'deaf']) await waitForEvent(scratch.log, name, 'Started');
    assert.equal(await pod.evict(2_000), 'Failed');
    assert.deepEqual([pod.exitOf('good'), pod.exitOf('deaf')], [0, 137]);
    const alone = runPod(scratch, { restartPolicy: 'Never', graceMs: 300_000, containers: [bare(stage, 'alone', {})] });
    await waitForEvent(scratch.log, 'alone', 'Started');
    assert.equal(await alone.evict(FAR_GRACE_MS), 'Failed');
    assert.equal(alone.exitOf('alone'), 0);
  });

  scenario(
    'replaces one container: preStop, TERM, KILL, and another life unless the policy is Never',
    async (stage) => {
      const { scratch } = stage;
      const hooks: string[] = [];
      const preStop = async () => hooks.push('hook');
      for (const restartPolicy of ['OnFailure', 'Never'] as const) {
        const [main, other] = [`main-${restartPolicy}`, `other-${restartPolicy}`] as const;
        const containers = [bare(stage, main, {}, { preStop }), bare(stage, other, {})];
        const pod = runPod(scratch, { restartPolicy, graceMs: FAR_GRACE_MS, containers });
        for (const name of [main, other]) await waitForEvent(scratch.log, name, 'Started');
        await pod.replace(main);
        assert.deepEqual(pod.state(main).exits, [0]);
        if (restartPolicy === 'Never') assert.equal(pod.state(main).is, 'terminated');
        else await waitForEvent(scratch.log, main, 'Started', 2);
        assert.deepEqual(readTimeline(scratch.log).signals(other), [], 'nobody else is stopped');
        await pod.delete();
      }
      // A hook for each of the three lives.
      assert.deepEqual(hooks, ['hook', 'hook', 'hook']);
    },
  );

  scenario('kills one container that it replaces when its grace period is over', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'main', { ignore: 'TERM' })];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 300_000, containers });
    await waitForEvent(scratch.log, 'main', 'Started');
    await pod.replace('main', 100);
    assert.deepEqual(pod.state('main').exits, [137]);
    await waitForEvent(scratch.log, 'main', 'Started', 2);
    await pod.delete(100);
  });

  scenario('lets everything vanish at once in a crash', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'a', {}), bare(stage, 'b', {})];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: FAR_GRACE_MS, containers });
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
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: FAR_GRACE_MS, containers });
    await waitForEvent(scratch.log, 'left', 'Started');
    await assert.rejects(Promise.all(hooks.map((hook) => hook())), /left behind: .*left/);
    assert.deepEqual([pod.exitOf('left'), pod.state('left').killed], [137, true]);
    assert.deepEqual(processesNaming(scratch.dir), []);
  });
});
