/** Jobs with sidecars on a real cluster: what the kubelet and the Job's controller report of them. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { clusterTest } from './helpers/case.ts';
import { createJob } from './helpers/job.ts';
import { podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';
import { readmePod } from './helpers/readme.ts';

/** The kubelet starts one container after the other: a main that ends at once has ended before its proxy is there. */
const AFTER_PROXY = 'after=/graveyard/proxy run=3000';

describe('on a cluster', { concurrency: 6 }, () => {
  clusterTest("J04 README's Job completes: its proxy gets TERM when the main has finished, and exits 0", async (t) => {
    const job = await createJob(t, 'readme', readmePod('A Job with a sidecar', { main: AFTER_PROXY }));
    const pod = await job.pod();
    assert.equal(await pod.untilEnded(), 'Succeeded');
    assert.equal(await job.end(), 'Complete');
    assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [0, 0]);
    pod.timeline.exitsBeforeSignalTo('do-the-work', 'proxy');
    const { StopReason, Reason } = pod.message('proxy');
    assert.deepEqual([StopReason, Reason], ['mains finished', 'stopped']);
  });

  clusterTest("J04 README's Job fails by its main's code, and its proxy ends with 0 all the same", async (t) => {
    const job = await createJob(
      t,
      'readme-fails',
      readmePod('A Job with a sidecar', { main: `${AFTER_PROXY} exit=3` }),
    );
    const pod = await job.pod();
    assert.equal(await pod.untilEnded(), 'Failed');
    assert.equal(await job.end(), 'Failed');
    assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [3, 0]);
    assert.deepEqual([pod.message('main').Reason, pod.message('main').ExitCode], ['error', 3]);
  });

  clusterTest(
    "N18 README's Job is deleted while its main needs 5 s to stop: the proxy serves until it has",
    async (t) => {
      const job = await createJob(t, 'readme-deleted', readmePod('A Job with a sidecar', { main: 'term=5000' }));
      const pod = await job.pod();
      await pod.untilStarted('do-the-work', 'proxy');
      await pod.untilLogged('main', /"message":"started"/);
      await job.delete();
      await pod.untilGone();
      const log = pod.timeline;
      log.exitsBeforeSignalTo('do-the-work', 'proxy');
      assert.deepEqual([log.signals('do-the-work'), log.signals('proxy')], [[15], [15]]);
      assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [0, 0]);
      assert.equal(pod.message('main').StopReason, 'signal TERM');
    },
  );

  clusterTest(
    'J10 a main that fails under OnFailure is deleted in its back-off: the sidecar ends at once, well before the grace period',
    async (t) => {
      const pod = await startPod(
        t,
        'back-off',
        podOf({
          restartPolicy: 'OnFailure',
          graceSeconds: 120,
          members: [
            { name: 'proxy', flags: SIDECAR },
            { name: 'main', does: { run: 1, exit: 1 } },
          ],
        }),
      );
      await pod.until('the main waits for its next life', () => pod.waitingReason('main') === 'CrashLoopBackOff');
      await pod.delete();
      await pod.untilGone();
      assert.deepEqual([pod.timeline.signals('proxy'), pod.end('proxy').exitCode], [[15], 0]);
    },
  );
});
