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
  for (const [code, phase, end] of [
    [0, 'Succeeded', 'Complete'],
    [3, 'Failed', 'Failed'],
  ] as const)
    clusterTest(`J04 README's Job ends by its main's code ${code}, and its proxy exits 0 after TERM`, async (t) => {
      const spec = readmePod('A Job with a sidecar', { main: `${AFTER_PROXY} exit=${code}` });
      const job = await createJob(t, `readme-${code}`, spec);
      const pod = await job.pod();
      assert.equal(await pod.untilEnded(), phase);
      assert.equal(await job.end(), end);
      assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [code, 0]);
      pod.timeline.exitsBeforeSignalTo('do-the-work', 'proxy');
      const { StopReason, Reason } = pod.message('proxy');
      assert.deepEqual([StopReason, Reason], ['mains finished', 'stopped']);
      if (code !== 0) assert.equal(pod.end('main').message, undefined);
    });

  clusterTest('FallbackToLogsOnError shows the last lines of a command that fails by itself', async (t) => {
    const more = { terminationMessagePolicy: 'FallbackToLogsOnError' };
    const pod = await startPod(
      t,
      'last-lines',
      podOf({ members: [{ name: 'main', does: { run: 1, exit: 3, log: '/dev/stdout' }, more }] }),
    );
    assert.equal(await pod.untilEnded(), 'Failed');
    assert.match(pod.end('main').message ?? '', /^[\d.]+ main Exiting 3$/m);
  });

  clusterTest("N18 the proxy of README's deleted Job serves while its main needs 5 s to stop", async (t) => {
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
  });

  clusterTest('J10 the sidecar of a main that is deleted in its back-off ends at once', async (t) => {
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
  });
});
