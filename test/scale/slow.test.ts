/** Graveyards on a disk that is slow or hangs: the application does not notice, and every wait is bounded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoCgroup } from '../helpers/cgroup.ts';
import { send } from '../helpers/process.ts';
import { waitForEvent } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { FAR_MS, waitFor, within } from '../helpers/wait.ts';
import { type BigPod, withBigPod } from './pod.ts';
import { whyNoSlowVolume, withSlowVolume } from './slow.ts';

const skip = whyNoSlowVolume() ?? whyNoCgroup('cpuacct') ?? false;
const LIMIT_MS = 300_000;

test('a stop passes and the death is written where each file operation takes 50 ms', {
  skip,
  timeout: LIMIT_MS,
}, async () => {
  await withSlowVolume(async (volume) => {
    await volume.delay(50);
    await withBigPod(async (pod) => {
      await begin(pod, '1h');
      send(pod.member('work').pid1, 'SIGTERM');
      await pod.ended(FAR_MS);
      const { ExitCode, Reason } = readTombstone(pod.graveyard, 'work') ?? {};
      assert.deepEqual([ExitCode, Reason], [3, 'stopped']);
      pod.timeline().exitsBeforeSignalTo('work', 'proxy');
      assert.deepEqual(pod.timeline().signals('proxy'), [15]);
      assert.deepEqual([codeOf(pod, 'work'), codeOf(pod, 'proxy')], [3, 0]);
    }, volume.dir);
  });
});

test('signals pass while the graveyard hangs, and the container ends and logs the failed write', {
  skip,
  timeout: LIMIT_MS,
}, async () => {
  await withSlowVolume(async (volume) => {
    await withBigPod(async (pod) => {
      // The command ends within 10 s on any machine; the supervisor gives up a second before that.
      await begin(pod, '10s');
      await volume.hang();
      send(pod.member('work').pid1, 'SIGUSR2');
      await waitForEvent(pod.log, 'work', 'Signal');
      send(pod.member('work').pid1, 'SIGTERM');
      await within('the main ends while nothing answers', pod.member('work').ended);
      assert.deepEqual(pod.timeline().signals('work'), [12, 15]);
      assert.equal(codeOf(pod, 'work'), 3);
      assert.match(pod.said('work'), /the graveyard does not answer: exiting without writing the last tombstone/);
      // The socket does not depend on the disk, so the sidecar still sees the loss.
      await waitForEvent(pod.log, 'proxy', 'Signal');
      await volume.go();
      await pod.ended(FAR_MS);
      assert.equal(readTombstone(pod.graveyard, 'work')?.Died, undefined);
      assert.equal(readTombstone(pod.graveyard, 'proxy')?.Reason, 'stopped');
      assert.equal(codeOf(pod, 'proxy'), 0);
    }, volume.dir);
  });
});

async function begin(pod: BigPod, grace: string): Promise<void> {
  const common = ['--restart-policy', 'Never'];
  await pod.start([
    { name: 'work', flags: [...common, '--grace-period', grace], application: ['trap=USR2', 'exit=3'], uid: 30_001 },
    {
      name: 'proxy',
      flags: [...common, '--role', 'sidecar', '--mains', 'work', '--log-level', 'debug'],
      application: [],
      uid: 30_002,
    },
  ]);
  await pod.running();
  for (const name of ['work', 'proxy']) await waitForEvent(pod.log, name, 'Started');
  await waitFor('the sidecar holds the handle of the main', () =>
    pod.said('proxy').includes('the handle of a member: held'),
  );
}

function codeOf(pod: BigPod, name: string): number | null {
  return pod.member(name).process.exitCode;
}
