/** What makes containers: namespaces of this machine, or podman (`TEST_ENGINE`), which test titles tell. */
import type { ChildProcess, StdioOptions } from 'node:child_process';

export type Engine = 'namespaces' | 'podman';

export const ENGINE: Engine = parse(process.env.TEST_ENGINE ?? 'namespaces');

export interface Order {
  /** All that PID 1 is started with; it may exec other programs before it is what was asked for. */
  readonly argv: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** A directory of the test that is writable at the same path. */
  readonly dir: string;
  readonly stdio: StdioOptions;
  readonly terminal: boolean;
  readonly user: number | undefined;
  readonly hardened: boolean;
  readonly tmpfs: string | undefined;
  readonly memoryMb: number | undefined;
  readonly sees: readonly string[];
}

export interface Launched {
  /** It ends with the container, and its code is what a shell would say of PID 1. */
  readonly process: ChildProcess;
  /** Looks once. `program`: what PID 1 must be by now; undefined: anything but the engine's own. */
  findPid1(program: string | undefined): number | undefined;
  /** KILL to PID 1 and so to all in the container, also when it is about to start. Says whether PID 1 still ran. */
  kill(): Promise<boolean>;
  /** Called when the test is over. Says what had to be ended. */
  clear(): Promise<string | undefined>;
}

/** What differs between engines, side by side. */
export function byEngine<T>(choices: Readonly<Record<Engine, T>>): T {
  return choices[ENGINE];
}

/** One title per engine; that of namespaces is the plain one. */
export function titled(title: string): string {
  return byEngine({ namespaces: title, podman: `${title} (podman)` });
}

/** How many of something run side by side: every start of podman is some ten processes of its own. */
export function atOnce(usual: number): number {
  return byEngine({ namespaces: usual, podman: Math.min(usual, 2) });
}

function parse(text: string): Engine {
  if (text === 'namespaces' || text === 'podman') return text;
  throw new Error(`TEST_ENGINE is '${text}': give namespaces or podman`);
}
