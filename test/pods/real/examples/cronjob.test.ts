/**
 * examples/cronjob: the pod of cronjob.yaml in real containers. Its main fails once and is started again, as OnFailure
 * says.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podman } from '../../../helpers/podman.ts';
import { readTombstone } from '../../../helpers/tombstone.ts';
import { waitFor } from '../../../helpers/wait.ts';
import { sharedImages } from '../images.ts';
import { playExample } from './played.ts';

const images = sharedImages();
const file = 'examples/cronjob/cronjob.yaml';

test('J06 K06 the CronJob of the example: its sidecar serves the second try as well and ends after it', async () => {
  await playExample({ file, image: images().busybox }, async (pod) => {
    const { StopReason } = await waitFor('the proxy has ended', () => {
      const tombstone = readTombstone(pod.graveyard, 'proxy');
      return tombstone?.Died === undefined ? undefined : tombstone;
    });
    assert.equal(StopReason, 'mains finished');
    assert.deepEqual([await pod.exitOf('work'), await pod.exitOf('proxy')], [0, 0]);
    const restarts = (member: string): Promise<string> =>
      podman('inspect', '--format', '{{.RestartCount}}', pod.container(member));
    assert.deepEqual([await restarts('work'), await restarts('proxy')], ['1', '0']);
    assert.match(await podman('logs', pod.container('work')), /^not there yet$.*^the report is written$/ms);
  });
});
