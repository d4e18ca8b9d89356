/** One container with `dist/sexton/sexton` as its PID 1, by the engine of the run. */
import assert from 'node:assert/strict';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { byEngine } from './engine.ts';
import { launchInNamespaces } from './namespaces.ts';
import { SEXTON } from './paths.ts';
import { launchInPodman } from './podman.ts';
import { childrenOf, environmentOf, hasEnded, send } from './process.ts';
import type { Scratch } from './scratch.ts';
import { killSupervisorAtRandom } from './supervisor-kills.ts';
import { waitFor, within } from './wait.ts';

export interface ContainerOptions {
  readonly name?: string;
  readonly flags?: readonly string[];
  readonly command: readonly string[];
  /** The whole environment but PATH, the mark by which leaks are found, and what an engine cannot leave out. */
  readonly env?: Readonly<Record<string, string>>;
  /** Run in the container before sexton, which it must exec: `['sh', '-c', 'exec "$@" <&-', 'sh']`. */
  readonly inside?: readonly string[];
  readonly stdio?: StdioOptions;
  /** The command is PID 1 itself, without sexton. */
  readonly bare?: boolean;
  /** On a terminal of its own, as `-it` gives it; what is written to `process.stdin` is typed. */
  readonly terminal?: boolean;
  /** The uid and gid of PID 1. */
  readonly user?: number;
  /** For a `user`: read-only root, no capabilities, no new privileges, and nobody else's processes in /proc. */
  readonly hardened?: boolean;
  /** A directory in which a file system of 64 KiB in memory is mounted. */
  readonly tmpfs?: string;
  /** Only an engine with images can limit a container as a whole. */
  readonly memoryMb?: number;
  /** What it needs of this machine besides the build and the test's directory, where it would not see it. */
  readonly sees?: readonly string[];
}

export interface Exit {
  /** As a shell says it: the code, or 128+n for signal n. */
  readonly status: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Container {
  readonly process: ChildProcess;
  /** Never rejects for how it ended. Waits with the far limit. */
  exit(): Promise<Exit>;
  readonly ended: Promise<Exit>;
  /** PID 1 as seen from outside, once it is the program that was asked for. */
  pid1(): Promise<number>;
  /** The Node process beside PID 1; not the one of `not`. */
  supervisor(not?: number): Promise<number>;
  /** Looks once whether PID 1 is that program by now; without one, whether it is the one that was asked for. */
  findNow(program?: string): number | undefined;
  signal(signal: number | NodeJS.Signals): Promise<void>;
  /** KILL to PID 1, and by that to all that is in the namespace. `wasKilled` is false when it had ended before. */
  kill(): Promise<Exit & { readonly wasKilled: boolean }>;
  stdout(): string;
  stderr(): string;
}

/** For a test that looks for the supervisor, whose process then stays there until the container ends. */
export const AWAKE = ['--sleep-after', 'never'];

export function startContainer(scratch: Scratch, options: ContainerOptions): Container {
  const program = options.bare ? [] : [SEXTON, 'run', ...(options.flags ?? []), '--'];
  const terminal = options.terminal ?? false;
  const launch = byEngine({ namespaces: launchInNamespaces, podman: launchInPodman });
  const launched = launch({
    argv: [...(options.inside ?? []), ...program, ...options.command],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', SCRATCH: scratch.dir, ...options.env },
    dir: scratch.dir,
    stdio: options.stdio ?? [terminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    terminal,
    user: options.user,
    hardened: options.hardened ?? false,
    tmpfs: options.tmpfs,
    memoryMb: options.memoryMb,
    sees: options.sees ?? [],
  });
  const child = launched.process;
  scratch.clearAlso(() => launched.clear());
  const ended = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    // 'close' and not 'exit': what it wrote last is read by then.
    child.once('close', (code, signal) => resolve({ status: statusOf(code, signal), code, signal }));
  });
  const wanted = options.bare ? undefined : realpathSync(SEXTON);
  /** Stops waiting when the container has ended. */
  const whileItRuns = <T>(what: string, probe: () => T | undefined): Promise<T> =>
    waitFor(what, () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the container has ended before ${what}`);
      return probe();
    });
  const pid1 = (): Promise<number> => whileItRuns('PID 1 is there', () => launched.findPid1(wanted));
  if (!options.bare) killSupervisorAtRandom(() => launched.findPid1(wanted), isSupervisor, ended);
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  scratch.describe(
    () =>
      `${options.name ?? options.command.join(' ')} ${JSON.stringify(child.exitCode)} ${child.signalCode}\n${err()}`,
  );
  return {
    process: child,
    ended,
    exit: () => within('the container ends', ended),
    pid1,
    supervisor: async (not) => {
      const parent = await pid1();
      const find = () => childrenOf(parent).find((it) => it !== not && isSupervisor(it));
      return whileItRuns('the supervisor is there', find);
    },
    signal: async (signal) => assert.ok(send(await pid1(), signal), 'PID 1 is gone before its signal'),
    findNow: (program = wanted) => launched.findPid1(program),
    kill: async () => {
      const wasKilled = await launched.kill();
      return { ...(await within('the container ends', ended)), wasKilled };
    },
    stdout: out,
    stderr: err,
  };
}

export function isSupervisor(pid: number): boolean {
  return !hasEnded(pid) && environmentOf(pid).some((it) => it.startsWith('SEXTON_INIT_FD='));
}

export function statusOf(code: number | null, signal: NodeJS.Signals | null): number {
  return signal === null ? (code ?? -1) : 128 + constants.signals[signal];
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('latin1');
}
