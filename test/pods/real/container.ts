/** One container of podman with sexton as its PID 1. The test's own directory is mounted at the same path inside. */
import { randomBytes } from 'node:crypto';
import { type MemberOptions, member } from '../../helpers/member.ts';
import { podman } from '../../helpers/podman.ts';
import type { Stage } from '../../helpers/scenario.ts';

export interface RealContainer {
  readonly name: string;
  start(): Promise<void>;
  exit(): Promise<number>;
}

export interface RealOptions {
  readonly image: string;
  /** Options of `podman create`. */
  readonly podman?: readonly string[];
  /** The container's command, behind the entrypoint, which is sexton. */
  readonly command: readonly string[];
}

export async function withContainer(
  { scratch }: Stage,
  { image, podman: flags = [], command }: RealOptions,
  body: (container: RealContainer) => Promise<void>,
): Promise<void> {
  const name = `sx-${randomBytes(4).toString('hex')}`;
  const mount = `--volume=${scratch.dir}:${scratch.dir}`;
  await podman('create', '--name', name, '--network=none', mount, ...flags, image, ...command);
  try {
    await body({
      name,
      start: async () => {
        await podman('start', name);
      },
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
