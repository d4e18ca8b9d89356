/**
 * What a pod goes through besides its normal end, in real containers: deletion, retries, and a container that is
 * killed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podman } from '../../helpers/podman.ts';
import { readTimeline, waitForEvent } from '../../helpers/timeline.ts';
import { readTombstone } from '../../helpers/tombstone.ts';
import { sharedImages } from './images.ts';
import { withPod } from './pod.ts';

const images = sharedImages();

test('N18 K13 the pod is deleted: the sidecars serve until the main has ended, then end in reverse order, each asked once', async () => {
  await withPod('deletion.yaml', { IMAGE: images().bare }, async (pod) => {
    const members = ['work', 'third', 'second', 'first'];
    for (const member of members) await waitForEvent(pod.log, member, 'Started');
    await pod.stop(60);
    const log = readTimeline(pod.log);
    for (const [index, member] of members.entries()) {
      assert.deepEqual(log.signals(member), [15]);
      assert.equal(await pod.exitOf(member), 0);
      const next = members[index + 1];
      if (next !== undefined) log.exitsBeforeSignalTo(member, next);
    }
    assert.deepEqual(log.of('work', 'Refused'), []);
    assert.ok(Number(log.at('work', 'Served').detail) > 0, 'the main was served');
  });
});

test('K06 J06 under OnFailure the sidecar stays through a failure of the main and ends after its success', async () => {
  await withPod('retry.yaml', { IMAGE: images().bare, POLICY: 'OnFailure', EXITS: '1,0' }, async (pod) => {
    await waitForEvent(pod.log, 'proxy', 'Exiting');
    const log = readTimeline(pod.log);
    assert.deepEqual(
      log.of('work', 'Exiting').map(({ detail }) => detail),
      ['1', '0'],
    );
    log.exitsBeforeSignalTo('work', 'proxy');
    log.notRestarted('proxy');
    assert.deepEqual([await pod.exitOf('work'), await pod.exitOf('proxy')], [0, 0]);
  });
});

test('J15 under Always no end of the main ends the sidecar, only the deletion of the pod does', async () => {
  await withPod('retry.yaml', { IMAGE: images().bare, POLICY: 'Always', EXITS: '0,1,0' }, async (pod) => {
    await waitForEvent(pod.log, 'work', 'Starting', 3);
    assert.deepEqual(readTimeline(pod.log).signals('proxy'), []);
    await pod.stop(60);
    const log = readTimeline(pod.log);
    log.notRestarted('proxy');
    assert.deepEqual(log.signals('proxy'), [15]);
    assert.equal(readTombstone(pod.graveyard, 'proxy')?.Reason, 'stopped');
  });
});

test('K14 a sidecar in another container under another user notices that a main’s whole container was killed', async () => {
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
