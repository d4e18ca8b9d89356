/**
 * Containers of podman that share a network and volumes, for examples that no pod manifest describes. Volumes and names
 * are unique, and all that was made is removed.
 */
import { randomBytes } from 'node:crypto';
import { podman } from '../../../helpers/podman.ts';

export interface Part {
  readonly name: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Name of the volume and where it is mounted. */
  readonly mounts: readonly (readonly [volume: string, path: string])[];
  readonly stopSignal?: string;
  readonly stopSeconds: number;
}

export interface Together {
  /** Makes all of them, in place of those that were made before, over the same volumes. */
  make(parts: readonly Part[]): Promise<void>;
  /** All at once, also again when they have ended. */
  start(): Promise<void>;
  /** The stop signal to all at once, KILL when the time of each is over. */
  stop(): Promise<void>;
  exitOf(part: string): Promise<number>;
  logsOf(part: string): Promise<string>;
  /** The volume's path as the machine sees it. */
  volume(name: string): Promise<string>;
}

export async function withTogether(
  image: string,
  names: { readonly parts: readonly string[]; readonly volumes: readonly string[] },
  body: (together: Together) => Promise<void>,
): Promise<void> {
  const pod = `sx-${randomBytes(4).toString('hex')}`;
  const unique = (name: string): string => `${pod}-${name}`;
  const volumes = names.volumes.map(unique);
  const containers = names.parts.map(unique);
  try {
    await podman('pod', 'create', '--name', pod, '--network=none');
    for (const volume of volumes) await podman('volume', 'create', volume);
    await body({
      make: async (parts) => {
        await podman('rm', '--force', '--ignore', '--time=0', ...containers);
        for (const part of parts)
          await podman('create', '--pod', pod, ...optionsOf(part, unique), image, ...part.command);
      },
      start: async () => {
        await podman('start', ...containers);
      },
      // Not by the pod, which has one time for all.
      stop: async () => {
        await podman('stop', ...containers);
      },
      exitOf: async (part) => Number(await podman('wait', unique(part))),
      logsOf: (part) => podman('logs', unique(part)),
      volume: (name) => podman('volume', 'inspect', '--format', '{{.Mountpoint}}', unique(name)),
    });
  } finally {
    await podman('pod', 'rm', '--force', '--ignore', '--time=0', pod);
    await podman('volume', 'rm', '--force', ...volumes);
  }
}

function optionsOf(
  { name, entrypoint, env, mounts, stopSignal, stopSeconds }: Part,
  unique: (name: string) => string,
): string[] {
  return [
    ...['--name', unique(name), '--pull=never', `--entrypoint=${JSON.stringify(entrypoint)}`],
    ...Object.entries(env).map(([key, value]) => `--env=${key}=${value}`),
    ...mounts.map(([volume, path]) => `--volume=${unique(volume)}:${path}`),
    ...(stopSignal === undefined ? [] : [`--stop-signal=${stopSignal}`]),
    `--stop-timeout=${stopSeconds}`,
  ];
}
