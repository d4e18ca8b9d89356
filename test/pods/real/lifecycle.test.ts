/** In real containers, besides a pod's normal end: deletion, retries, and a container that is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podman } from '../../helpers/podman.ts';
import { readTimeline, waitForEvent } from '../../helpers/timeline.ts';
import { readTombstone } from '../../helpers/tombstone.ts';
import { sharedImages } from './images.ts';
import { withPod } from './pod.ts';

const images = sharedImages();

test('K14 a sidecar of another user notices that its main’s whole container was killed', async () => {
  await withPod('other-users.yaml', { IMAGE: images().bare }, async (pod) => {
    for (const member of ['work', 'proxy']) await waitForEvent(pod.log, member, 'Started');
    await podman('kill', '--signal', 'KILL', pod.container('work'));
    assert.equal(await pod.exitOf('work'), 137);
    assert.equal(await pod.exitOf('proxy'), 0);
    assert.deepEqual(readTimeline(pod.log).signals('proxy'), [15]);
    const { StopReason, Died } = readTombstone(pod.graveyard, 'proxy') ?? {};
    assert.equal(StopReason, 'mains finished');
    assert.ok(Died, 'its death was written');
  });
});
