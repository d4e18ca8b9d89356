/** One container of podman with sexton as its PID 1. The test's own directory is mounted at the same path inside. */
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { type MemberOptions, member } from '../../helpers/member.ts';
import { podman } from '../../helpers/podman.ts';
import type { Stage } from '../../helpers/scenario.ts';
import { waitFor } from '../../helpers/wait.ts';

export interface RealContainer {
  readonly name: string;
  start(): Promise<void>;
  /** PID 1 as the machine sees it, as soon as it is the program of the image. */
  pid1(): Promise<number>;
  exit(): Promise<number>;
}

export interface RealOptions {
  readonly image: string;
  /** Of `podman create`. */
  readonly podman?: readonly string[];
  /** Of the container: without the entrypoint, which is sexton. */
  readonly command: readonly string[];
}

export async function withContainer(
  { scratch }: Stage,
  { image, podman: flags = [], command }: RealOptions,
  body: (container: RealContainer) => Promise<void>,
): Promise<void> {
  const name = `sx-${randomBytes(4).toString('hex')}`;
  const pidFile = scratch.path(`${name}.pid`);
  const mount = `--volume=${scratch.dir}:${scratch.dir}`;
  await podman('create', '--name', name, `--pidfile=${pidFile}`, '--network=none', mount, ...flags, image, ...command);
  try {
    await body({
      name,
      start: async () => {
        await podman('start', name);
      },
      pid1: () => waitFor('PID 1 runs', () => findPid1(pidFile)),
      exit: async () => Number(await podman('wait', name)),
    });
  } finally {
    await podman('rm', '--force', '--time=0', name);
  }
}

/** The fixture application's command line in the images. */
export function application(stage: Stage, name: string, options: MemberOptions = {}): string[] {
  return ['/member', ...member(stage, name, options).slice(1)];
}

/**
 * The runtime's own program waits under this number until the container is started, and then becomes that of the image.
 */
function findPid1(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'latin1'));
    return pid > 1 && readlinkSync(`/proc/${pid}/exe`).startsWith('/sexton/') ? pid : undefined;
  } catch {
    return undefined;
  }
}
