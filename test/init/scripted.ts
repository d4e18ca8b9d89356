/**
 * sexton-init under test: a directory with the binary, Node, and in place of the supervisor a relay, so that the test
 * itself speaks the protocol. Each start of a supervisor arrives here as a `Supervisor`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { NODE } from '../helpers/paths.ts';
import { childrenOf, programOf, send } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { BUILDS, type Build } from './builds.ts';
import { Supervisor } from './connection.ts';

export function eachBuild(
  title: string,
  body: (t: TestContext, build: Build) => Promise<void>,
  builds: readonly Build[] = BUILDS,
): void {
  for (const build of builds) test(`${title} (${build.name})`, (t) => body(t, build));
}

/** The same, with a directory for init. */
export function onBench(
  title: string,
  body: (bench: Bench, t: TestContext) => Promise<void>,
  builds: readonly Build[] = BUILDS,
): void {
  eachBuild(title, async (t, build) => body(await layBench(t, build), t), builds);
}

export interface StartOptions {
  /** Put before the program, such as `env --block-signal=USR2`; it has to exec. */
  readonly launcher?: readonly string[];
  /** Beside a log level with which there is a supervisor from the start; undefined: not set. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

export interface Bench {
  readonly dir: string;
  readonly sexton: string;
  path(name: string): string;
  start(words: readonly string[], options?: StartOptions): Init;
  /** Starts something else, which starts init by itself. */
  launch(command: readonly string[], options?: StartOptions): Init;
  /** Replaces Node with a program that waits until it is released; the application has started long before. */
  holdSupervisor(): () => void;
  /** From now on each start of Node leaves a file `node-started`. */
  noteSupervisors(): void;
}

export interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Init {
  readonly pid: number;
  readonly process: ChildProcess;
  readonly ended: Promise<End>;
  /** All that the application has written to stdout, and what came on stderr. */
  stdout(): string;
  stderr(): string;
  /** The next supervisor that init starts, once it has got its `hello`. */
  supervisor(): Promise<Supervisor>;
  /** Waits until stdout contains this. */
  says(text: string): Promise<void>;
  write(text: string): void;
}

/** A launcher that makes init PID 1. A signal to it comes from outside, as a platform's does. */
export const PID_NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;

export function canUnshare(): boolean {
  const [file, ...args] = PID_NAMESPACE;
  return spawnSync(file, [...args, 'true']).status === 0;
}

/** `script` makes a pseudoterminal whose other side is our pipe, and runs a shell on it. */
export function onTerminal(bench: Bench, command: string, options: StartOptions = {}): Init {
  return bench.launch(['script', '-qefc', command, '/dev/null'], options);
}

/** What the test's application is called with: a shell that does what its stdin says. */
export const AGENT = ['sh', '-c', 'echo up; while read -r line; do eval "$line"; done'] as const;

export async function layBench(t: TestContext, build: Build): Promise<Bench> {
  const scratch = await tempGraveyard(t);
  const sexton = scratch.path('sexton');
  mkdirSync(scratch.path('app'));
  mkdirSync(scratch.path('bin'));
  copyFileSync(build.path, sexton);
  symlinkSync(NODE, scratch.path('bin/node'));
  writeFileSync(scratch.path('app/main.cjs'), RELAY);

  const waiting: Supervisor[] = [];
  const server = createServer((socket) => waiting.push(new Supervisor(socket)));
  await new Promise<void>((resolve) => server.listen(scratch.path('control'), resolve));
  scratch.beforeClear(() => {
    server.close();
    for (const supervisor of waiting) {
      // Where a shell started init, ending the shell does not end it: a hangup is for the supervisor to decide.
      if (supervisor.taken && programOf(supervisor.about.ppid) === sexton) send(supervisor.about.ppid, 'SIGKILL');
      supervisor.end();
    }
  });

  return {
    dir: scratch.dir,
    sexton,
    path: (name) => scratch.path(name),
    start: (words, options = {}) => launch([...(options.launcher ?? []), sexton, ...words], options),
    launch,
    holdSupervisor: () => holdSupervisor(scratch.path('bin/node'), scratch.path('gate')),
    noteSupervisors: () => replaceNode(scratch.path('bin/node'), `: >'${scratch.path('node-started')}'`),
  };

  function launch(command: readonly string[], options: StartOptions = {}): Init {
    const init = startInit(scratch.dir, command, options, waiting);
    scratch.describe(() => `stderr of init: ${init.stderr()}`);
    scratch.beforeClear(() => {
      init.process.stdin?.destroy();
      init.process.kill('SIGKILL');
    });
    t.after(() => {
      if (/AddressSanitizer|runtime error/.test(init.stderr())) throw new Error(init.stderr());
    });
    return init;
  }
}

function holdSupervisor(node: string, gate: string): () => void {
  replaceNode(node, `while [ ! -e '${gate}' ]; do sleep 0.02; done`);
  return () => writeFileSync(gate, '');
}

/** By a script that runs this first. */
function replaceNode(node: string, first: string): void {
  rmSync(node);
  writeFileSync(node, `#!/bin/sh\n${first}\nexec '${NODE}' "$@"\n`, { mode: 0o755 });
}

function startInit(dir: string, words: readonly string[], options: StartOptions, waiting: Supervisor[]): Init {
  const [program = '', ...rest] = words;
  const env = { PATH: process.env.PATH ?? '', SX_DIR: dir, SEXTON_LOG_LEVEL: 'info', ...options.env };
  const child = spawn(program, rest, { env, cwd: options.cwd ?? dir, stdio: 'pipe' });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<End>((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
  return {
    pid: child.pid ?? 0,
    process: child,
    get ended() {
      return within('init ends', ended);
    },
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    supervisor: async () => {
      const next = await waitFor('a supervisor connects', () => waiting.find((it) => !it.taken));
      await next.take();
      return next;
    },
    says: async (text) => {
      await waitFor(`stdout contains ${JSON.stringify(text)}`, () => output.stdout.includes(text));
    },
    write: (text) => {
      child.stdin.write(text);
    },
  };
}

/** The words for a command that is a script. */
export function shell(script: string): readonly string[] {
  return ['--', 'sh', '-c', script];
}

/** Words that only a supervisor can judge, so that init starts nothing. */
export const REFUSED = ['--frobnicate'] as const;

export interface Scene {
  readonly bench: Bench;
  readonly init: Init;
  readonly supervisor: Supervisor;
  /** The child that the supervisor knows of. */
  readonly pid: number;
}

/** Starts a command that says `up`, and a supervisor that knows of it. */
export async function begin(
  bench: Bench,
  words: readonly string[] = ['--', ...AGENT],
  options: StartOptions = {},
): Promise<Scene> {
  const scene = await attend(bench, words, options);
  const [, pid] = await scene.supervisor.expect('spawned');
  await scene.init.says('up');
  return { ...scene, pid: Number(pid) };
}

/** Whom signals reach, in `spawn`: the process group, or the first process. */
export const TO_GROUP = 1;
export const TO_FIRST = 2;

export async function attend(bench: Bench, words: readonly string[] = REFUSED, options: StartOptions = {}) {
  const init = bench.start(words, options);
  return { bench, init, supervisor: await init.supervisor() };
}

/** Takes Node away, so that init goes on alone once this supervisor is dead. */
export async function loseSupervisor({ bench, init, supervisor }: Omit<Scene, 'pid'>): Promise<void> {
  renameSync(bench.path('bin/node'), bench.path('bin/away'));
  await supervisor.kill();
  await waitFor('init goes on alone', () => init.stderr().includes('goes on without it'));
}

/** Lets the supervisor sleep, and waits until init has reaped it. Init refuses while a process waits to be reaped. */
export async function fallAsleep({ init, supervisor }: Pick<Scene, 'init' | 'supervisor'>): Promise<void> {
  const asking = setInterval(() => supervisor.commit('sleep', ''), 1_000);
  supervisor.commit('sleep', '');
  await supervisor.closed().finally(() => clearInterval(asking));
  await waitFor('init has reaped the supervisor', () => childrenOf(init.pid).length === 1);
}

export async function connected(path: string): Promise<Socket> {
  const socket = await waitFor(`there is a listener at ${path}`, () => {
    const attempt = connect(path);
    return new Promise<Socket | false>((resolve) => {
      attempt.once('connect', () => resolve(attempt));
      attempt.once('error', () => resolve(false));
    });
  });
  return socket.on('error', () => {});
}

/** Waits until the relay has written this many bytes to init's socket, or until it can write no more. */
export async function hasPassed(
  bench: Bench,
  supervisor: Supervisor,
  bytes: number,
  isOver: () => boolean = () => false,
): Promise<void> {
  const path = bench.path(`passed-${supervisor.about.pid}`);
  await waitFor(
    `${bytes} bytes are passed on`,
    () => isOver() || (existsSync(path) && Number(readFileSync(path, 'latin1')) >= bytes),
  );
}

/** Passes bytes between init and the test. Without a connection to init, it prints how it was started and exits. */
const RELAY = `
const net = require('node:net');
const fs = require('node:fs');
const about = JSON.stringify({ pid: process.pid, ppid: process.ppid, argv: process.argv, env: process.env });
if (!process.env.SEXTON_INIT_FD) {
  fs.writeSync(1, about);
  process.exit(42);
}
const init = new net.Socket({ fd: Number(process.env.SEXTON_INIT_FD) });
const control = net.connect(require('node:path').join(__dirname, '../control'));
control.write(about + '\\n');
init.pipe(control);
let passed = 0;
control.on('data', (bytes) =>
  bytes.equals(Buffer.from('abort')) ? process.abort() : init.write(bytes, () => fs.writeFileSync(require('node:path').join(__dirname, '../passed-' + process.pid), String((passed += bytes.length)))),
);
for (const end of [init, control]) end.on('error', () => {}).on('close', () => process.exit(0));
`;
