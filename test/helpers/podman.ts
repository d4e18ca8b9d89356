/**
 * A container of podman: busybox, no network, the test's directory and the build at their paths on this machine.
 * Signals come from outside, to the PID that its PID 1 has on the machine. TEST_IMAGE names the image;
 * `node test/run.ts --containers` builds and removes it.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Launched, Order } from './engine.ts';
import { quoted } from './namespaces.ts';
import { FIXTURES, SEXTON } from './paths.ts';
import { hasEnded, programOf, send } from './process.ts';
import { SETTLE_MS, waitFor } from './wait.ts';

const run = promisify(execFile);
/** A docker client that takes the place of podman. */
export const DOCKER = process.env.TEST_DOCKER;
const PROGRAM = DOCKER ?? 'podman';
/** One call, not one test: `podman wait` waits for a pod to end. */
const CALL_LIMIT_MS = 90_000;
/** The containers of one run of the tests carry its mark under this key. */
const LABEL = 'sexton-test';

/** Resolves to its stdout without the last line feed; rejects with what it said when it failed. */
export async function podman(...args: string[]): Promise<string> {
  const { stdout } = await run(PROGRAM, args, { timeout: CALL_LIMIT_MS, maxBuffer: 16 << 20 });
  return stdout.trimEnd();
}

/** Removes the containers of that run of the tests, running or not, and their PID files. Resolves to their names. */
export async function removeContainers(mark: string): Promise<string[]> {
  const listed = await podman('ps', '--all', `--filter=label=${LABEL}=${mark}`, '--format={{.Names}}');
  const names = listed.split('\n').filter(Boolean);
  if (names.length > 0) await removeNow(...names);
  for (const file of globSync(pidFileOf(`sx-${mark}-*`))) rmSync(file, { force: true });
  return names;
}

export function launchInPodman(order: Order): Launched {
  const mark = process.env.TEST_RUN_MARK ?? '';
  const name = `sx-${mark}-${randomBytes(4).toString('hex')}`;
  const pidFile = pidFileOf(name);
  const argv = [PROGRAM, 'run', ...optionsOf(order, name, pidFile), imageOf(), ...order.argv];
  const [file, ...rest] = order.terminal
    ? ['script', '--quiet', '--return', '--command', `exec ${argv.map(quoted).join(' ')}`, '/dev/null']
    : argv;
  // conmon leaves a file `oom` in its working directory when the kernel had to kill.
  const child = spawn(file ?? '', rest, { stdio: order.stdio, cwd: tmpdir() });
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    for (const event of ['close', 'error'])
      child.once(event, () => {
        isOver = true;
        resolve();
      });
  });
  const find = (program: string | undefined): number | undefined => {
    if (DOCKER !== undefined && !existsSync(pidFile)) {
      const { stdout } = spawnSync(DOCKER, ['inspect', '--format={{.State.Pid}}', name], { encoding: 'utf8' });
      if (Number(stdout) > 1) writeFileSync(pidFile, stdout);
    }
    return findPid1(pidFile, program);
  };
  return {
    process: child,
    findPid1: find,
    kill: async () => {
      // Podman itself must not be killed: it would leave a container behind without a monitor.
      const found = await waitFor('the container runs or has ended', () => isOver || find(undefined));
      if (typeof found !== 'number' || !send(found, 'SIGKILL')) return false;
      await waitFor('PID 1 is gone', () => hasEnded(found));
      return true;
    },
    clear: async () => {
      const ended = await waitFor('the container has ended', () => isOver, SETTLE_MS).catch(() => false);
      if (!ended) await removeNow(name);
      await over;
      rmSync(pidFile, { force: true });
      return ended ? undefined : `container ${name}: ${order.argv.join(' ')}`;
    },
  };
}

async function removeNow(...names: readonly string[]): Promise<void> {
  await podman('rm', '--force', ...ofPodman('--ignore', '--time=0'), ...names);
}

function ofPodman(...flags: readonly string[]): readonly string[] {
  return DOCKER === undefined ? flags : [];
}

function optionsOf(order: Order, name: string, pidFile: string): string[] {
  const { terminal, dir, user, hardened, tmpfs, memoryMb, stdio } = order;
  // The image has its programs in /bin and nowhere else.
  const env = Object.entries({ ...order.env, PATH: '/bin' });
  const isFed = !terminal && (stdio === 'pipe' || (Array.isArray(stdio) && stdio[0] === 'pipe'));
  const readOnly = [dirname(dirname(SEXTON)), dirname(FIXTURES), ...order.sees];
  return [
    ...['--rm', '--pull=never', `--name=${name}`, `--label=${LABEL}=${process.env.TEST_RUN_MARK ?? ''}`],
    ...ofPodman(`--pidfile=${pidFile}`, '--unsetenv-all'),
    ...['--network=none', '--log-driver=none', '--sig-proxy=false', '--pids-limit=-1'],
    // Tests compare the outputs of containers, so the outputs must not have the containers' names.
    ...['--hostname=sexton', '--entrypoint='],
    ...env.map(([key, value]) => `--env=${key}=${value}`),
    `--volume=${dir}:${dir}`,
    ...[...new Set(readOnly)].map((path) => `--volume=${path}:${path}:ro`),
    ...(terminal ? ['-it'] : isFed ? ['-i'] : []),
    ...(user === undefined ? [] : [`--user=${user}:${user}`]),
    ...(hardened ? ['--read-only', ...ofPodman('--read-only-tmpfs=false'), '--cap-drop=all'] : []),
    ...(hardened ? ['--security-opt=no-new-privileges', ...ofPodman('--security-opt=proc-opts=hidepid=2')] : []),
    ...(tmpfs === undefined ? [] : [`--mount=type=tmpfs,tmpfs-size=64k,destination=${tmpfs}`]),
    ...(memoryMb === undefined ? [] : [`--memory=${memoryMb}m`]),
  ];
}

/** Not in the test's directory: podman's monitor names it, outlives the container, and would count as left behind. */
function pidFileOf(name: string): string {
  return join(tmpdir(), `${name}.pid`);
}

function imageOf(): string {
  const image = process.env.TEST_IMAGE;
  if (image) return image;
  throw new Error('TEST_IMAGE names no image: start these tests by `node test/run.ts --containers PATH`');
}

/** The runtime's own program waits under this number until the container is started, then becomes the image's. */
function findPid1(pidFile: string, program: string | undefined): number | undefined {
  let pid: number;
  try {
    pid = Number(readFileSync(pidFile, 'latin1'));
  } catch {
    return undefined;
  }
  const runs = pid > 1 ? programOf(pid) : '';
  const good = program === undefined ? runs !== '' && !/runc|crun/.test(runs) : runs === program;
  return good ? pid : undefined;
}
