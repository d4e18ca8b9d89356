/** Pods that come to an end by themselves or by a deletion, on a real cluster: what the kubelet reports of them. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { clusterTest } from './helpers/case.ts';
import { podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';

describe('on a cluster', { concurrency: 6 }, () => {
  for (const exit of [0, 3]) {
    clusterTest(
      `J04 the main exits ${exit}: the sidecar ends after it with 0, and the pod with the main's code`,
      async (t) => {
        const pod = await startPod(
          t,
          'job',
          podOf({
            members: [
              { name: 'proxy', flags: SIDECAR },
              { name: 'main', flags: ['--start-after', 'proxy=started'], does: { run: 300, exit } },
            ],
          }),
        );
        assert.equal(await pod.untilEnded(), exit === 0 ? 'Succeeded' : 'Failed');
        assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [exit, 0]);
        pod.timeline.exitsBeforeSignalTo('main', 'proxy');
        assert.equal(pod.tombstone('main')?.ExitCode, exit);
        assert.equal(pod.tombstone('proxy')?.StopReason, 'mains finished');
        assert.equal(pod.message('proxy').StopReason, 'mains finished');
      },
    );
  }

  clusterTest(
    'N18 a deletion with a slow main: the sidecar serves until the main has ended, and each gets one TERM',
    async (t) => {
      const pod = await startPod(
        t,
        'deletion',
        podOf({
          restartPolicy: 'Always',
          members: [
            { name: 'proxy', flags: SIDECAR, does: { serve: '/log/proxy.sock' } },
            { name: 'main', flags: ['--start-after', 'proxy=started'], does: { use: '/log/proxy.sock', term: 4_000 } },
          ],
        }),
      );
      await pod.untilStarted('proxy', 'main');
      await pod.delete();
      await pod.untilGone();
      const log = pod.timeline;
      log.exitsBeforeSignalTo('main', 'proxy');
      assert.deepEqual([log.signals('main'), log.signals('proxy')], [[15], [15]]);
      assert.deepEqual(log.of('main', 'Refused'), []);
      assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [0, 0]);
      assert.equal(pod.tombstone('main')?.StopReason, 'signal TERM');
    },
  );
});
