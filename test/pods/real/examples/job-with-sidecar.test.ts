/** examples/job-with-sidecar: the pod of job.yaml in real containers, with sexton and without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podman } from '../../../helpers/podman.ts';
import { readTombstone } from '../../../helpers/tombstone.ts';
import { waitFor } from '../../../helpers/wait.ts';
import { sharedImages } from '../images.ts';
import { playExample } from './played.ts';

const images = sharedImages();
const file = 'examples/job-with-sidecar/job.yaml';

test('J04 the Job of the example ends: its sidecar has shipped the last line and exits 0', async () => {
  await playExample({ file, image: images().busybox }, async (pod) => {
    assert.deepEqual([await pod.exitOf('work'), await pod.exitOf('shipper')], [0, 0]);
    const shipped = await podman('logs', pod.container('shipper'));
    assert.match(shipped, /^step one\nstep two\nstep three\nthe last line\nshipped all$/);
    const { Reason, StopReason } = readTombstone(pod.graveyard, 'shipper') ?? {};
    assert.deepEqual([Reason, StopReason], ['stopped', 'mains finished']);
  });
});

test('the same Job without sexton does not end: its sidecar runs on when the main has ended', async () => {
  await playExample({ file, image: images().busybox, bare: true }, async (pod) => {
    assert.equal(await pod.exitOf('work'), 0);
    await waitFor('all is shipped', async () =>
      (await podman('logs', pod.container('shipper'))).endsWith('the last line'),
    );
    assert.equal(await pod.isRunning('shipper'), true);
  });
});
