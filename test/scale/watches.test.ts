/**
 * More members of one uid than it may have inotify instances: 128 by default, and the pods of a node often share a uid.
 * Whoever comes too late for one says so once, and sees by its rescans what the others see at once.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { whyNoCgroup } from '../helpers/cgroup.ts';
import { send } from '../helpers/process.ts';
import { FAR_MS, waitFor, within } from '../helpers/wait.ts';
import { seatsOf, withBigPod } from './pod.ts';

const skip = whyNoCgroup('cpuacct') ?? false;
const SAID = 'cannot watch the graveyard';

test('a pod with fewer inotify instances than members is told so by each that has none, and ends all the same', {
  skip,
  timeout: 300_000,
}, async (t) => {
  // The limits of a user namespace are its own: user_namespaces(7), /proc/sys/user.
  const limit = 'echo 1 >/proc/sys/user/max_inotify_instances && echo limited && exec cat';
  const holder = spawn('unshare', ['--user', '--map-root-user', 'sh', '-c', limit], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => end(holder));
  const [limited] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'close').then(() => [])]);
  if (limited === undefined) return t.skip('needs user namespaces');
  const outside = ['nsenter', `--user=/proc/${holder.pid}/ns/user`, '--'];
  await withBigPod(async (pod) => {
    await pod.start(seatsOf(1, 3, false).map((seat) => ({ ...seat, outside })));
    await pod.running();
    const complaints = (): number[] => pod.members.map(({ name }) => pod.said(name).split(SAID).length - 1);
    await waitFor('three of four have none', () => complaints().filter((count) => count > 0).length >= 3);
    send(pod.member('main-0').pid1, 'SIGUSR1');
    await pod.ended(FAR_MS);
    assert.ok(
      complaints().every((count) => count <= 1),
      `said ${complaints()} times`,
    );
    for (const name of ['side-0', 'side-1', 'side-2']) assert.deepEqual(pod.timeline().signals(name), [15], name);
  });
});

async function end(holder: ChildProcess): Promise<void> {
  const closed = once(holder, 'close');
  if (holder.exitCode !== null || holder.signalCode !== null) return;
  holder.stdin?.end();
  await within('the namespace is given back', closed);
}
