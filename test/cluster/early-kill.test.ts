/** A KILL earlier than the pod declares, on a real kubelet: which members still get TERM, and what is recorded. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ask } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { podOf, SIDECAR } from './helpers/members.ts';
import { type ClusterPod, startPod } from './helpers/pod.ts';
import { namespace, podsPath } from './helpers/watch.ts';

/** Nothing but the floor, or the KILL, ends this drain in time. */
const DRAIN = ['--drain', 'min=7s,quiet=5s,max=25s'];

function drainingPod(floor?: string) {
  const flags = floor === undefined ? [] : ['--grace-floor', floor];
  return podOf({
    members: [
      { name: 'proxy', flags: [...SIDECAR, ...flags] },
      { name: 'main', flags: ['--start-after', 'proxy=started', ...DRAIN, ...flags] },
    ],
  });
}

async function evict({ name }: ClusterPod, graceSeconds: number): Promise<void> {
  const metadata = { name, namespace: namespace() };
  const deleteOptions = { gracePeriodSeconds: graceSeconds };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions };
  await ask('POST', `${podsPath()}/${name}/eviction`, eviction);
}

describe('a KILL before the time that was declared', { concurrency: 4 }, () => {
  clusterTest('C3: an early KILL without a grace floor leaves a record of the drain and the hold', async (t) => {
    const pod = await startPod(t, 'early', drainingPod());
    await pod.untilStarted('proxy', 'main');
    await pod.delete(3);
    await pod.untilGone();
    assert.deepEqual([pod.timeline.signals('main'), pod.timeline.signals('proxy')], [[], []]);
    assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [137, 137]);
    const [main, proxy] = [pod.message('main'), pod.message('proxy')];
    assert.deepEqual([main.Unfinished, main.StopReason], ['drain', 'signal TERM']);
    assert.deepEqual([proxy.Unfinished, proxy.WaitsFor], ['hold', ['main']]);
    assert.ok(Date.parse(String(main.StopRequested)) > 0);
    assert.equal(pod.tombstone('main')?.Phase, 'draining');
    assert.equal(pod.tombstone('proxy')?.StopReason, 'signal TERM');
  });

  for (const [what, stop] of [
    ['a deletion', (pod: ClusterPod) => pod.delete(8)],
    ['an eviction', (pod: ClusterPod) => evict(pod, 8)],
  ] as const)
    clusterTest(`C3: both members get TERM at the grace floor before the KILL of ${what}`, async (t) => {
      const pod = await startPod(t, 'floor', drainingPod('8s'));
      await pod.untilStarted('proxy', 'main');
      await stop(pod);
      await pod.untilGone();
      assert.deepEqual([pod.timeline.signals('main'), pod.timeline.signals('proxy')], [[15], [15]]);
      assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [0, 0]);
      pod.timeline.exitsBeforeSignalTo('main', 'proxy');
      assert.equal((pod.message('main').Connections as { Ended: string }).Ended, 'grace floor');
    });
});
