/**
 * examples/restart-in-place: the pod of deployment.yaml in containers of podman, restarted in place.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podman } from '../../../helpers/podman.ts';
import { readTombstone, waitForTombstone } from '../../../helpers/tombstone.ts';
import { sharedImages } from '../images.ts';
import { playExample } from './played.ts';

const images = sharedImages();
const file = 'examples/restart-in-place/deployment.yaml';
const MEMBERS = ['web', 'cache'];

test('the pod of the example restarts in place: in order, in the same containers, and its cache stays warm', async () => {
  await playExample({ file, image: images().busybox }, async (pod) => {
    const inWeb = (...command: readonly string[]): Promise<string> => podman('exec', pod.container('web'), ...command);
    const lives = (): Promise<string[]> =>
      Promise.all(
        MEMBERS.map((it) => podman('inspect', '--format', '{{.Id}} {{.State.StartedAt}}', pod.container(it))),
      );
    await waitForHealth(pod.graveyard);
    assert.equal(await inWeb('wget', '-q', '-O', '-', 'http://127.0.0.1:8080/'), 'cached');
    const before = await lives();
    const said = await inWeb('/sexton/sexton', 'restart');
    for (const name of MEMBERS) assert.match(said, new RegExp(`^${name} restarted, after `, 'm'));
    assert.deepEqual(await lives(), before);
    await waitForHealth(pod.graveyard);
    assert.equal(await inWeb('wget', '-q', '-O', '-', 'http://127.0.0.1:8080/'), 'cached');
    assert.equal(await podman('logs', pod.container('cache')), 'filling the cache\nthe cache is warm');
    const [web, cache] = MEMBERS.map((name) => readTombstone(pod.graveyard, name));
    assert.deepEqual([web?.PodRestarts, cache?.PodRestarts, web?.Restarts], [1, 1, 1]);
    assert.ok((cache?.LastDied ?? '') >= (web?.LastDied ?? '?'), 'the cache has ended after the server');
    const report = await inWeb('/sexton/sexton', 'report');
    assert.match(report.replace(/\s+/g, ' '), /: restart in place: graceful, .* asked for by web, uid 0, /);
  });
});

async function waitForHealth(graveyard: string): Promise<void> {
  for (const name of MEMBERS)
    await waitForTombstone(graveyard, name, 'is healthy', ({ Healthy }) => Healthy !== undefined);
}
