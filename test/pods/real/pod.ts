/**
 * A pod that podman plays from YAML. In the file, `$NAME` is the pod's unique name and `$KEY` the value of each
 * variable of the test. The volume `$NAME-graveyard` is the graveyard, and `$NAME-log` holds the shared log of the
 * members, `events`. Other volumes `$NAME-...` are made like these.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podman } from '../../helpers/podman.ts';
import { readTombstone } from '../../helpers/tombstone.ts';

export interface Pod {
  readonly name: string;
  /** Paths as the machine sees the volumes. */
  readonly log: string;
  readonly graveyard: string;
  /** podman's name of a member's container. */
  container(member: string): string;
  /** Waits until the container has ended. */
  exitOf(member: string): Promise<number>;
  isRunning(member: string): Promise<boolean>;
  /** What podman calls a pod's deletion: the stop signal to all at once, KILL when `graceSeconds` are over. */
  stop(graceSeconds: number): Promise<void>;
  /** The end of every container, its log and its tombstone, for a test that failed. */
  story(): Promise<string>;
}

/** Plays the pod, hands it to `body`, and removes all that it made. */
export async function withPod(
  file: string,
  variables: Readonly<Record<string, string | number>>,
  body: (pod: Pod) => Promise<void>,
): Promise<void> {
  const name = `sx-${randomBytes(4).toString('hex')}`;
  const dir = await mkdtemp(join(tmpdir(), 'sx-pod-'));
  const manifest = join(dir, 'pod.yaml');
  const template = await readFile(join(import.meta.dirname, file), 'utf8');
  await writeFile(manifest, fill(template, { ...variables, NAME: name }));
  const named = [...template.matchAll(/\$NAME-([a-z]+)/g)].map(([, volume]) => `${name}-${volume}`);
  const others = [...new Set(named)].filter((it) => it !== `${name}-graveyard` && it !== `${name}-log`);
  try {
    for (const volume of others) await makeVolume(volume);
    const graveyard = await makeVolume(`${name}-graveyard`);
    const log = join(await makeVolume(`${name}-log`), 'events');
    // Members of several users append to it.
    await writeFile(log, '');
    await chmod(log, 0o666);
    await podman('kube', 'play', '--network=none', manifest);
    const pod = describePod(name, graveyard, log);
    await body(pod).catch(async (error: unknown) => {
      if (error instanceof Error) error.message += `\n${await pod.story()}`;
      throw error;
    });
  } finally {
    await podman('pod', 'rm', '--force', '--ignore', '--time=0', name);
    await podman('volume', 'rm', '--force', `${name}-graveyard`, `${name}-log`, ...others);
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Returns where the machine has it. Made before the pod, because an emptyDir of the kubelet is writable for every user,
 * and what podman makes for one belongs to root.
 */
async function makeVolume(volume: string): Promise<string> {
  await podman('volume', 'create', volume);
  const mountpoint = await podman('volume', 'inspect', '--format', '{{.Mountpoint}}', volume);
  await chmod(mountpoint, 0o777);
  return mountpoint;
}

function fill(template: string, variables: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\$([A-Z]+)/g, (_, key: string) => {
    const value = variables[key];
    if (value === undefined) throw new Error(`internal error: the test gives no $${key}`);
    return String(value);
  });
}

function describePod(name: string, graveyard: string, log: string): Pod {
  const container = (member: string): string => `${name}-${member}`;
  const listed = async (): Promise<string[]> =>
    (await podman('ps', '--all', '--noheading', '--filter', `pod=${name}`, '--format', '{{.Names}}')).split('\n');
  return {
    name,
    log,
    graveyard,
    container,
    exitOf: async (member) => Number(await podman('wait', container(member))),
    isRunning: async (member) =>
      (await podman('inspect', '--format', '{{.State.Running}}', container(member))) === 'true',
    stop: async (graceSeconds) => {
      await podman('pod', 'stop', `--time=${graceSeconds}`, name);
    },
    story: async () => {
      const members = (await listed()).filter((it) => !it.endsWith('-infra'));
      const parts = members.map(async (it) => {
        const state = await podman('inspect', '--format', '{{json .State}}', it);
        const tombstone = JSON.stringify(readTombstone(graveyard, it.slice(name.length + 1)));
        return `--- ${it}\n${state}\n${tombstone}\n${await podman('logs', it)}`;
      });
      const events = await readFile(log, 'utf8').catch(() => '');
      return `--- events\n${events}${(await Promise.all(parts)).join('\n')}`;
    },
  };
}
