/**
 * A user without inotify instances. The kernel gives 128 to each uid of a node, and containers of root share them with
 * the kubelet and containerd. A member needs none.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { whyNoCgroup } from '../helpers/cgroup.ts';
import { isSupervisor } from '../helpers/container.ts';
import { childrenOf, send } from '../helpers/process.ts';
import { FAR_MS, waitFor, within } from '../helpers/wait.ts';
import { seatsOf, withBigPod } from './pod.ts';

const skip = whyNoCgroup('cpuacct') ?? false;
const SLEEPS = ['--log-level', 'debug', '--sleep-after', '300ms'];
const STAYS = ['--log-level', 'debug', '--sleep-after', 'never'];

test('members without inotify instances sleep, wake, see each other and end in order', {
  skip,
  timeout: 300_000,
}, async (t) => {
  // The limits of a user namespace are its own: user_namespaces(7), /proc/sys/user.
  const limit = 'echo 0 >/proc/sys/user/max_inotify_instances && echo limited && exec cat';
  const holder = spawn('unshare', ['--user', '--map-root-user', 'sh', '-c', limit], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => end(holder));
  const [limited] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'close').then(() => [])]);
  if (limited === undefined) return t.skip('needs user namespaces');
  const outside = ['nsenter', `--user=/proc/${holder.pid}/ns/user`, '--'];
  await withBigPod(async (pod) => {
    const [main, awake, ...asleep] = seatsOf(1, 3, false).map((seat) => ({ ...seat, outside }));
    assert.ok(main && awake);
    const seats = [...asleep, main].map((seat) => ({ ...seat, flags: [...seat.flags, ...SLEEPS] }));
    await pod.start([...seats, { ...awake, flags: [...awake.flags, ...STAYS] }]);
    await pod.running();
    const supervisorOf = (name: string): number | undefined => childrenOf(pod.member(name).pid1).find(isSupervisor);
    for (const { name } of seats) await waitFor(`${name} sleeps`, () => supervisorOf(name) === undefined);
    const pids = [...pod.members.map(({ pid1 }) => pid1), supervisorOf(awake.name) ?? 0];
    assert.deepEqual(pids.map(inotifyInstancesOf), [0, 0, 0, 0, 0]);
    for (const { name } of asleep) {
      writeFileSync(join(pod.graveyard, `.${name}.nothing`), '');
      await waitFor(`${name} wakes`, () => pod.said(name).includes(`"by":"file .${name}.nothing"`));
    }
    send(pod.member(main.name).pid1, 'SIGUSR1');
    await pod.ended(FAR_MS);
    for (const { name } of pod.members) assert.doesNotMatch(pod.said(name), /cannot watch the graveyard/);
    for (const name of ['side-0', 'side-1', 'side-2']) assert.deepEqual(pod.timeline().signals(name), [15], name);
  });
});

function inotifyInstancesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`).includes('inotify')).length;
}

/** Empty when the descriptor has been closed since. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

async function end(holder: ChildProcess): Promise<void> {
  const closed = once(holder, 'close');
  if (holder.exitCode !== null || holder.signalCode !== null) return;
  holder.stdin?.end();
  await within('the namespace is given back', closed);
}
