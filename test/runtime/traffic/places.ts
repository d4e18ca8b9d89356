/**
 * Two network namespaces with a wire between them: that of a pod, and that of the node with its clients and kubelet.
 * They have no names, so each lives as long as a process in it, and nothing is left behind.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { ROOT } from '../../helpers/paths.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import type { Order } from './agent.ts';

export const POD = '10.77.0.2';
export const POD6 = 'fd77::2';
export const CLIENT = '10.77.0.1';
export const CLIENT6 = 'fd77::1';
export const KUBELET = '10.77.0.9';

/** Why this machine has no namespaces; false: it has. */
export const NO_NAMESPACES = whyNone();

export interface Told {
  readonly lastMs: number;
  readonly atMs: number;
  readonly connections: number;
  readonly ignored: number;
  readonly open: number | undefined;
}

export class Agent {
  readonly process: ChildProcess;
  readonly seen: Told[] = [];
  readonly unseen: string[] = [];
  pid = 0;
  #answer: ((answer: unknown) => void) | undefined;
  #errors = '';

  constructor(argv: readonly string[], ports: readonly number[] = []) {
    const agent = join(import.meta.dirname, 'agent.ts');
    const [file = '', ...rest] = [...argv, process.execPath, agent, ...ports.map(String)];
    this.process = spawn(file, rest, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.process.stderr?.on('data', (chunk) => {
      this.#errors += String(chunk);
    });
    this.process.stdin?.on('error', () => {});
    if (this.process.stdout !== null) createInterface(this.process.stdout).on('line', (line) => this.#hear(line));
  }

  async ready(): Promise<this> {
    await waitFor('the agent is ready', () => {
      if (this.process.exitCode !== null) throw new Error(`the agent has ended: ${this.#errors}`);
      return this.pid > 0;
    });
    return this;
  }

  async do(order: Order): Promise<unknown> {
    const answer = new Promise((resolve) => {
      this.#answer = resolve;
    });
    this.process.stdin?.write(`${JSON.stringify(order)}\n`);
    return within(`${JSON.stringify(order)} is done; ${this.#errors}`, answer);
  }

  /** The latest report of the watch for which this holds. */
  waitToSee(what: string, holds: (told: Told) => boolean): Promise<Told> {
    return waitFor(`${what}: ${JSON.stringify(this.seen.at(-1))} ${this.#errors}`, () =>
      this.seen.findLast(holds),
    ).catch((error: Error) => {
      throw new Error(`${error.message}; last seen: ${JSON.stringify(this.seen.at(-1))}`);
    });
  }

  #hear(text: string): void {
    const line = JSON.parse(text) as { seen?: Told; unseen?: string; ready?: number; answer?: unknown };
    if (line.seen !== undefined) this.seen.push(line.seen);
    if (line.unseen !== undefined) this.unseen.push(line.unseen);
    if (line.ready !== undefined) this.pid = line.ready;
    if (line.answer !== undefined) this.#answer?.(line.answer);
  }
}

export interface Places {
  readonly pod: Agent;
  readonly client: Agent;
}

/** The agent in the pod serves on `ports`. */
export async function makePlaces(t: TestContext, ports: readonly number[]): Promise<Places> {
  const plain = ['unshare', '--net', '--'];
  const pod = new Agent(plain, ports);
  const client = new Agent(plain);
  t.after(async () => {
    for (const { process: one } of [pod, client]) one.kill('SIGKILL');
    await waitFor('both have ended', () =>
      [pod, client].every(({ process: one }) => one.exitCode !== null || one.signalCode !== null),
    );
  });
  await Promise.all([pod.ready(), client.ready()]);
  wire(client.pid, pod.pid);
  return { pod, client };
}

/** The namespace of the process `pod` gets the addresses of the pod, that of `client` those of the node. */
export function wire(client: number, pod: number): void {
  const veth = ['link', 'add', 'eth0', 'netns', `${client}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${pod}`];
  checked('ip', veth);
  configure(pod, [`${POD}/24`, `${POD6}/64`]);
  configure(client, [`${CLIENT}/24`, `${KUBELET}/24`, `${CLIENT6}/64`]);
}

function configure(pid: number, addresses: readonly string[]): void {
  const [file = '', ...enter] = inside(pid);
  const run = (...args: string[]): void => checked(file, [...enter, 'ip', ...args]);
  run('link', 'set', 'lo', 'up');
  for (const address of addresses)
    run('address', 'add', address, 'dev', 'eth0', ...(address.includes(':') ? ['nodad'] : []));
  run('link', 'set', 'eth0', 'up');
}

/** What comes before a command that is to run where that process is. */
export function inside(pid: number): readonly string[] {
  return ['nsenter', `--net=/proc/${pid}/ns/net`, '--'];
}

function whyNone(): string | false {
  if (process.getuid?.() !== 0) return 'needs root';
  const why = 'needs network namespaces, IPv6 and iproute2';
  if (!existsSync('/proc/net/if_inet6')) return why;
  const { status } = spawnSync('unshare', ['--net', '--', 'ip', 'link', 'add', 'sx0', 'type', 'veth']);
  return status === 0 ? false : why;
}

function checked(file: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(file, args, { encoding: 'utf8', cwd: ROOT });
  if (status !== 0) throw new Error(`cannot make a network: ${file} ${args.join(' ')}: ${error?.message ?? stderr}`);
}
