/** The pod that sexton is for, in real containers: its main ends, its sidecar is asked to stop, and the pod is done. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { podman } from '../../helpers/podman.ts';
import { readTimeline } from '../../helpers/timeline.ts';
import { readTombstone } from '../../helpers/tombstone.ts';
import { sharedImages } from './images.ts';
import { withPod } from './pod.ts';

const images = sharedImages();

for (const [shown, pick] of [
  ['an image with a shell', (): string => images().busybox],
  ['an image with no Node, libc or shell', (): string => images().bare],
] as const) {
  for (const exit of [0, 3]) {
    test(`J04 J02 N11 a sidecar exits 0 after its main exited ${exit} in ${shown}`, async () => {
      await withPod('job.yaml', { IMAGE: pick(), EXIT: exit }, async (pod) => {
        assert.deepEqual([await pod.exitOf('work'), await pod.exitOf('proxy')], [exit, 0]);
        const log = readTimeline(pod.log);
        log.exitsBeforeSignalTo('work', 'proxy');
        assert.deepEqual(log.signals('proxy'), [15]);
        log.notRestarted('proxy');
        log.notRestarted('work');
        const { Reason, ExitCode, StopReason } = readTombstone(pod.graveyard, 'proxy') ?? {};
        assert.deepEqual([Reason, ExitCode, StopReason], ['stopped', 0, 'mains finished']);
        assert.equal(readTombstone(pod.graveyard, 'work')?.ExitCode, exit);
      });
    });
  }
}

test('the bare image holds sexton, one static program, and nothing else', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'sx-image-'));
  const container = await podman('create', '--network=none', images().bare);
  try {
    await podman('export', '--output', join(dir, 'image.tar'), container);
    const { stdout } = await promisify(execFile)('tar', ['--list', '--file', join(dir, 'image.tar')]);
    const files = stdout
      .split('\n')
      .filter((name) => name !== '' && !name.endsWith('/') && !name.startsWith('sexton/'));
    assert.deepEqual(files, ['member']);
  } finally {
    await podman('rm', '--force', container);
    await rm(dir, { recursive: true, force: true });
  }
});
