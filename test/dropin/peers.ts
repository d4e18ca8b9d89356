/**
 * Side by side: a test expects the same of tini or dumb-init itself, where it is installed, and of sexton under its
 * name.
 *
 * What is meant to differ stands in INTENDED and nowhere else; docs/migration.md tells users the same.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import type { DropIn } from '../../src/config/dropin/dropin.ts';
import { type Container, type ContainerOptions, startContainer } from '../helpers/container.ts';
import { SEXTON } from '../helpers/paths.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { within } from '../helpers/wait.ts';

export type ProgramName = Exclude<DropIn['name'], 'kubexit'>;

/** `sexton`: a plain command under sexton's own name, which shares much of their behaviour. */
export type PeerName = ProgramName | 'sexton';

/** What sexton does in the place of each, and the program itself does not. */
export const INTENDED = {
  /** tini keeps these for itself, whether as crashes of its own or ignored. */
  tiniForwardsToo: [4, 5, 6, 7, 8, 11, 21, 22, 31],
  contFollows: 'what is stopped gets CONT after TERM, HUP, INT and QUIT, so that it hears of them',
  theRest: 'what a command leaves behind in its group gets TERM, and is waited for up to the grace period',
  tiniPermutes: "tini built against glibc looks for its own flags behind the command's name, up to --",
  /** These keep the directory busy that they were started in. */
  staysInPlace: ['tini'] as readonly PeerName[],
  processGroup: 'dumb-init gives its command a session, sexton a process group and the foreground',
} as const;

export interface Peer {
  readonly name: PeerName;
  readonly isOurs: boolean;
  readonly program: string;
  /** What it is started with so that it reads its command line as documented. */
  readonly env: Readonly<Record<string, string>>;
}

/** The same test for the program itself and for sexton in its place. */
export function sideBySide(
  name: PeerName,
  title: string,
  body: (stage: Stage, peer: Peer) => Promise<void>,
  only: 'both' | 'sexton' = 'both',
): void {
  const own = findInPath(name);
  if (only === 'both' && name !== 'sexton') {
    const itself = `${title}: ${name} itself`;
    const env = { POSIXLY_CORRECT: '1' };
    if (own === undefined) test(itself, { skip: `${name} is not installed (apt-get install ${name})` });
    else scenario(itself, (stage) => body(stage, { name, isOurs: false, program: own, env }));
  }
  scenario(`${title}: ${name === 'sexton' ? 'sexton by its own name' : `sexton as ${name}`}`, (stage) =>
    body(stage, ours(stage, name)),
  );
}

export function ours({ scratch }: Stage, name: PeerName): Peer {
  return { name, isOurs: true, program: name === 'sexton' ? SEXTON : linkAs(scratch.dir, name), env: {} };
}

/** A link of that name to sexton, for an entrypoint. */
export function linkAs(dir: string, name: DropIn['name']): string {
  const link = join(dir, name);
  symlinkSync(SEXTON, link);
  return link;
}

/** As PID 1 of a container. */
export function contain(
  { scratch }: Stage,
  peer: Peer,
  words: readonly string[],
  options: Partial<ContainerOptions> = {},
): Container {
  return startContainer(scratch, {
    bare: true,
    command: [peer.program, ...words],
    ...options,
    env: { ...peer.env, ...options.env },
  });
}

export interface Launched {
  readonly pid: number;
  readonly process: ChildProcess;
  end(): Promise<{ readonly code: number | null; readonly signal: string | null }>;
  stdout(): Buffer;
  stderr(): string;
}

export interface LaunchOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Put before the program. */
  readonly launcher?: readonly string[];
}

/** As a process among others of this machine. */
export function launch(
  { scratch }: Stage,
  peer: Pick<Peer, 'program' | 'env'>,
  words: readonly string[],
  { env = {}, cwd = scratch.dir, launcher = [] }: LaunchOptions = {},
): Launched {
  const [file = '', ...rest] = [...launcher, peer.program, ...words];
  const path = process.env.PATH ?? '/usr/bin:/bin';
  const child = spawn(file, rest, { cwd, env: { PATH: path, SCRATCH: scratch.dir, ...peer.env, ...env } });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdin.end();
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  scratch.beforeClear(() => child.kill('SIGKILL'));
  const stderr = (): string => Buffer.concat(err).toString();
  scratch.describe(() => `${[peer.program, ...words].join(' ').slice(0, 200)}: ${stderr()}`);
  return {
    pid: child.pid ?? 0,
    process: child,
    end: () => within('it ends', ended),
    stdout: () => Buffer.concat(out),
    stderr,
  };
}

function findInPath(name: string): string | undefined {
  const places = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
