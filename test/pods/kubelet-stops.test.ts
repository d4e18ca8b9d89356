/**
 * How the stand-in kubelet ends containers: hooks, TERM, grace periods and KILL, for a pod and for one container of it.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { processesNaming } from '../helpers/process.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, bare } from './members.ts';

describe('the stand-in kubelet ends containers and', { concurrency: atOnce(4) }, () => {
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
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
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
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
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

  scenario('takes no notice of a second deletion, with less time or with more', async (stage) => {
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

  scenario('evicts: a deletion with its own grace period that fails the pod, whatever it exits with', async (stage) => {
    const { scratch } = stage;
    const containers = [bare(stage, 'good', {}), bare(stage, 'deaf', { ignore: 'TERM', run: 0 })];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 300_000, containers });
    for (const name of ['good', 'deaf']) await waitForEvent(scratch.log, name, 'Started');
    assert.equal(await pod.evict(2_000), 'Failed');
    assert.deepEqual([pod.exitOf('good'), pod.exitOf('deaf')], [0, 137]);
    const alone = runPod(scratch, { restartPolicy: 'Never', graceMs: 300_000, containers: [bare(stage, 'alone', {})] });
    await waitForEvent(scratch.log, 'alone', 'Started');
    assert.equal(await alone.evict(AMPLE_MS), 'Failed');
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
        const pod = runPod(scratch, { restartPolicy, graceMs: AMPLE_MS, containers });
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
});
