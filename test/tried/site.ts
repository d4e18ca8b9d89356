/** The surroundings of one trial: its directory, its address, and what runs outside of its container. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { statusOf } from '../helpers/container.ts';
import { send } from '../helpers/process.ts';
import { type Scratch, tempGraveyard } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';

const PROGRAMS = join(import.meta.dirname, 'programs');
/** Outside of the range from which the kernel takes ports for clients. */
export const PORT = 18_080;

const run = promisify(execFile);

export interface Site {
  readonly dir: string;
  /** An address of 127.0.0.0/8 for this trial alone. */
  readonly host: string;
  /** For programs that listen on every address: a number that no other trial is likely to have. */
  readonly freePort: number;
  readonly env: Readonly<Record<string, string>>;
  path(name: string): string;
  write(name: string, text: string): string;
  /** Copies one of `programs`, since other users may not read this repository, and answers with its path. */
  program(name: string): string;
  /** Writes an entrypoint, and answers with the command for it. */
  script(shell: string, lines: readonly string[]): readonly string[];
  has(name: string): boolean;
  /** '' when it is not there. */
  read(name: string): string;
  /** What the container has written. */
  output(): string;
  /** Runs a program outside of the container, and answers with what it wrote. */
  run(...argv: readonly string[]): Promise<string>;
  /** Starts a program outside of the container, which ends with the trial. Resolves with its exit code. */
  helper(...argv: readonly string[]): Promise<number>;
  isListening(port?: number): Promise<boolean>;
  /** Resolves when the first half of the answer is here. */
  request(port?: number): Promise<void>;
  /** Whether that answer has become whole. */
  answer(): Promise<boolean>;
}

export interface OpenSite {
  readonly site: Site;
  readonly scratch: Scratch;
  collect(text: string): void;
  close(): Promise<void>;
}

export const FIRST_HALF = 'first half\n';
export const SECOND_HALF = 'second half\n';

export async function openSite(): Promise<OpenSite> {
  const steps: (() => unknown)[] = [];
  const scratch = await tempGraveyard({ after: (step) => steps.push(step as () => unknown) });
  const { dir } = scratch;
  const helpers: ChildProcess[] = [];
  const env = {
    // Programs of Debian run on Debian's interpreters, also where another one is first.
    PATH: `/usr/sbin:/usr/bin:/sbin:/bin:${process.env.PATH ?? ''}`,
    SCRATCH: dir,
    HOME: dir,
    TMPDIR: dir,
    LC_ALL: 'C.UTF-8',
    PYTHONDONTWRITEBYTECODE: '1',
  };
  let output = '';
  let answer: Promise<boolean> = Promise.resolve(false);
  const site: Site = {
    dir,
    host: `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`,
    freePort: randomInt(20_000, 32_000),
    env,
    path: (name) => join(dir, name),
    write: (name, text) => {
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    },
    program: (name) => {
      copyFileSync(join(PROGRAMS, name), join(dir, name));
      return join(dir, name);
    },
    script: (shell, lines) => {
      const path = site.write('entrypoint', `#!${shell}\n${lines.join('\n')}\n`);
      chmodSync(path, 0o755);
      return [path];
    },
    has: (name) => existsSync(join(dir, name)),
    read: (name) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : ''),
    output: () => output,
    run: async (file = '', ...argv) => (await run(file, argv, { env, cwd: dir })).stdout,
    helper: (file = '', ...argv) => {
      const child = spawn(file, argv, { env, cwd: dir, stdio: 'ignore' });
      helpers.push(child);
      return new Promise((resolve) => {
        child.once('error', () => resolve(127));
        child.once('exit', (code, signal) => resolve(statusOf(code, signal)));
      });
    },
    isListening: (port = PORT) => isListening(site.host, port),
    request: async (port = PORT) => {
      const { whole } = await ask(site.host, port);
      answer = whole;
    },
    answer: () => answer,
  };
  return {
    site,
    scratch,
    collect: (text) => {
      output += text;
    },
    close: async () => {
      for (const { pid } of helpers) if (pid !== undefined) send(pid, 'SIGTERM');
      await waitFor('the helpers have ended', () =>
        helpers.every((it) => it.pid === undefined || it.exitCode !== null || it.signalCode !== null),
      );
      for (const step of steps) await step();
    },
  };
}

/** Resolves when the first half is here. */
function ask(host: string, port: number): Promise<{ readonly whole: Promise<boolean> }> {
  return new Promise((resolve, reject) => {
    const whole = Promise.withResolvers<boolean>();
    let body = '';
    const end = (): void => {
      whole.resolve(body === FIRST_HALF + SECOND_HALF);
      reject(new Error(`the answer ended before its first half: ${body}`));
    };
    const request = get({ host, port, path: '/slow', agent: false }, (response) => {
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
        if (body.startsWith(FIRST_HALF)) resolve({ whole: whole.promise });
      });
      response.once('close', end);
      response.once('error', () => {});
    });
    request.once('error', end);
  });
}

function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
