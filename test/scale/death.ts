/**
 * The KILL of a main's whole container, and the reaction of a sidecar in another container and under another uid. The
 * containers are made in two ways. Times are milliseconds since the kill(2).
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podman } from '../helpers/podman.ts';
import { send } from '../helpers/process.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitForRunning } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { withBigPod } from './pod.ts';

export interface Death {
  /** Until the sidecar logs the loss of the main's handle. */
  readonly knownMs: number;
  /** Until the sidecar's application has its stop signal. */
  readonly stoppedMs: number;
}

export async function deathInNamespaces(): Promise<Death> {
  return withBigPod(async (pod) => {
    await pod.start([
      { name: 'work', flags: MAIN, application: [], uid: 30_001 },
      { name: 'proxy', flags: SIDECAR, application: [], uid: 30_002 },
    ]);
    await pod.running();
    await waitForEvent(pod.log, 'proxy', 'Started');
    return kill(pod.member('work').pid1, pod.log, () => pod.said('proxy'));
  });
}

/** `image`: sexton is its entrypoint and `/member` the fixture application. */
export async function deathInPodman(image: string): Promise<Death> {
  const mark = `sx-${randomBytes(4).toString('hex')}`;
  const dir = mkdtempSync(join(tmpdir(), 'sx-'));
  const volume = `${mark}-graveyard`;
  const names = ['work', 'proxy'];
  try {
    chmodSync(dir, 0o777);
    const log = join(dir, 'events');
    writeFileSync(log, '');
    chmodSync(log, 0o666);
    await podman('volume', 'create', volume);
    const graveyard = await podman('volume', 'inspect', '--format', '{{.Mountpoint}}', volume);
    chmodSync(graveyard, 0o777);
    for (const [at, name] of names.entries()) {
      const flags = [`--user=${1001 + at}:${1001 + at}`, '--network=none', '--log-driver=none', '--pull=never'];
      const mounts = [`--volume=${volume}:/graveyard`, `--volume=${dir}:${dir}`, `--pidfile=${join(dir, name)}.pid`];
      const sexton = [...(name === 'work' ? MAIN : SIDECAR), '--name', name, '--graveyard', '/graveyard'];
      const member = ['/member', `name=${name}`, `log=${log}`];
      const words = [...flags, ...mounts, `--name=${mark}-${name}`, image, ...sexton, '--', ...member];
      await startAttached(words, join(dir, `${name}.err`));
    }
    await waitForRunning(graveyard, names);
    for (const name of names) await waitForEvent(log, name, 'Started');
    const pid1 = Number(readFileSync(join(dir, 'work.pid'), 'latin1'));
    return await kill(pid1, log, () => readFileSync(join(dir, 'proxy.err'), 'utf8'));
  } finally {
    const all = names.map((name) => `${mark}-${name}`);
    // podman refuses to remove a container that is about to end by itself.
    const isRemoved = (): Promise<boolean> =>
      podman('rm', '--force', '--ignore', '--time=0', ...all).then(
        () => true,
        () => false,
      );
    await waitFor('the containers are removed', isRemoved);
    await podman('volume', 'rm', '--force', volume);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

const MAIN = ['--restart-policy', 'Never'];
const SIDECAR = ['--restart-policy', 'Never', '--role', 'sidecar', '--mains', 'work', '--log-level', 'debug'];

async function kill(pid1: number, log: string, said: () => string): Promise<Death> {
  await waitFor('the sidecar holds the handle of the main', () => hasSettled(said()));
  const wallMs = Date.now();
  const atMs = Number(process.hrtime.bigint()) / 1e6;
  if (!send(pid1, 'SIGKILL')) throw new Error('the main is gone before its KILL');
  const knownAt = await waitFor('the sidecar knows', () => lossIn(said()));
  await waitForEvent(log, 'proxy', 'Signal');
  return { knownMs: Math.max(0, knownAt - wallMs), stoppedMs: readTimeline(log).at('proxy', 'Signal').atMs - atMs };
}

/** The time of the loss in the log, in wall clock milliseconds. */
function lossIn(text: string): number | undefined {
  const line = text.split('\n').find((it) => it.includes('the handle of a member: lost'));
  const [, time] = /"time":"([^"]+)"/.exec(line ?? '') ?? [];
  return time === undefined ? undefined : Date.parse(time);
}

function hasSettled(text: string): boolean {
  return text.includes('the handle of a member: held');
}

/** podman stays beside the container and passes its stderr on. */
async function startAttached(words: readonly string[], errors: string): Promise<void> {
  writeFileSync(errors, '');
  const child = spawn('sh', ['-c', `exec podman run "$@" 2>${errors}`, 'sh', ...words], { stdio: 'ignore' });
  child.on('error', () => {});
}
