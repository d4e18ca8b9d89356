/**
 * The kubelet of a cluster whose only node is this machine. It can be started again with other settings. What a node
 * does to its pods needs that, and concerns all pods of the node: TEST_NODE=1 allows it.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, openSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { hasEnded } from '../../helpers/process.ts';
import { waitFor } from '../../helpers/wait.ts';
import { ask } from './api.ts';
import type { PodObject } from './objects.ts';

const ASKED = 'TEST_NODE';

export async function whyNotThisNode(): Promise<string | undefined> {
  if (process.env[ASKED] !== '1') return `${ASKED}=1 allows tests to change the node, which concerns all pods on it`;
  if (kubeletsHere().length !== 1) return 'the kubelet of the cluster is no process of this machine';
  return (await nodes()).length === 1 ? undefined : 'the cluster has other nodes than this machine';
}

export class Kubelet {
  readonly #dir = mkdtempSync(join(tmpdir(), 'sx-kubelet-'));
  readonly #before: Description;
  #now: number;

  constructor() {
    const [kubelet] = kubeletsHere();
    if (kubelet === undefined) throw new Error('there is no kubelet here');
    this.#before = kubelet;
    this.#now = kubelet.pid;
  }

  /** As it was before, except for these fields of its configuration and these variables. */
  async restartWith(
    fields: Readonly<Record<string, unknown>>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const config = join(this.#dir, 'kubelet.yaml');
    const before = parse(readFileSync(this.#before.config, 'utf8')) as Record<string, unknown>;
    // JSON is YAML.
    writeFileSync(config, JSON.stringify({ ...before, ...fields }));
    await this.#restart(config, env);
  }

  /** The kubelet as it was before. */
  async end(): Promise<void> {
    if (this.#now !== this.#before.pid) await this.#restart(this.#before.config, {});
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #restart(config: string, more: Readonly<Record<string, string>>): Promise<void> {
    const { argv, env, cwd, log, config: before, pidFile } = this.#before;
    process.kill(this.#now, 'SIGTERM');
    await waitFor('the kubelet has ended', () => hasEnded(this.#now));
    const since = new Date();
    const output = openSync(log, 'a');
    const [file = '', ...args] = argv.map((word) => (word === before ? config : word));
    const kubelet = spawn(file, args, {
      cwd,
      env: { ...env, ...more },
      detached: true,
      stdio: ['ignore', output, output],
    });
    kubelet.unref();
    this.#now = kubelet.pid ?? 0;
    if (pidFile !== undefined) writeFileSync(pidFile, `${this.#now}\n`);
    await waitFor('the node is ready', async () => (await readySince()) >= since, 90_000);
  }
}

/** Bytes of memory that the node has left, as its kubelet counts them. */
export async function availableMemory(): Promise<number> {
  const [node] = await nodes();
  const path = `/api/v1/nodes/${node?.metadata.name}/proxy/stats/summary?only_cpu_and_memory=true`;
  const { node: summary } = await ask<{ node: { memory: { availableBytes: number } } }>('GET', path);
  return summary.memory.availableBytes;
}

interface Description {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly config: string;
  readonly log: string;
  /** Whoever started the kubelet may look for its PID there. */
  readonly pidFile: string | undefined;
}

function kubeletsHere(): readonly Description[] {
  return globSync('/proc/[0-9]*/comm').flatMap((path) => {
    const dir = path.replace(/\/comm$/, '');
    try {
      return readFileSync(path, 'utf8') === 'kubelet\n' ? describeKubelet(dir) : [];
    } catch {
      return []; // It has ended.
    }
  });
}

function describeKubelet(dir: string): readonly Description[] {
  const argv = readFileSync(`${dir}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const pairs = readFileSync(`${dir}/environ`, 'utf8').split('\0').filter(Boolean);
  const env = Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  const config = argv[argv.indexOf('--config') + 1];
  if (config === undefined || !argv.includes('--config')) return [];
  const pid = Number(dir.slice('/proc/'.length));
  const pidFile = globSync(join(config, '../../**/kubelet.pid')).find(
    (path) => readFileSync(path, 'utf8').trim() === `${pid}`,
  );
  return [{ pid, argv, env, cwd: readlinkSync(`${dir}/cwd`), config, log: readlinkSync(`${dir}/fd/1`), pidFile }];
}

type Node = Pick<PodObject, 'metadata'> & {
  status: { conditions: { type: string; status: string; lastHeartbeatTime: string }[] };
};

async function nodes(): Promise<readonly Node[]> {
  return (await ask<{ items: readonly Node[] }>('GET', '/api/v1/nodes')).items;
}

/** When the kubelet has told last that its node is ready. */
async function readySince(): Promise<Date> {
  const [node] = await nodes();
  const ready = node?.status.conditions.find((it) => it.type === 'Ready');
  return ready?.status === 'True' ? new Date(ready.lastHeartbeatTime) : new Date(0);
}
