/** A graveyard on a file system that answers late: `fixtures/slowfs.c`, by FUSE. The first use builds it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { FIXTURES, ROOT } from '../helpers/paths.ts';
import { send } from '../helpers/process.ts';
import { waitFor, within } from '../helpers/wait.ts';

export interface SlowVolume {
  readonly dir: string;
  /** Sets how long each operation takes from now on. */
  delay(ms: number): Promise<void>;
  /** Answers no operation until `go`. */
  hang(): Promise<void>;
  go(): Promise<void>;
}

/** Why this machine cannot have one; undefined: it can. */
export function whyNoSlowVolume(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    return 'needs /dev/fuse';
  }
}

export async function withSlowVolume<T>(use: (volume: SlowVolume) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'sx-slow-'));
  const child = spawn(build(), [dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<void> => {
    const { done } = await within('slowfs answers', lines.next());
    if (done) throw new Error('slowfs has ended');
  };
  const say = (line: string): Promise<void> => {
    child.stdin.write(`${line}\n`);
    return answer();
  };
  try {
    await answer();
    return await use({
      dir,
      delay: (ms) => say(`delay ${ms}`),
      hang: () => say('hang'),
      go: () => say('go'),
    });
  } finally {
    await end(child);
    // The lazy unmount is over once no process has a file of it open.
    await waitFor('the volume is unmounted', () => isRemoved(dir));
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin?.end('delay 0\n');
  // When its descriptor closes, the kernel fails the operations that still wait.
  await within('slowfs ends', ended).catch(() => child.pid !== undefined && send(child.pid, 'SIGKILL'));
}

function isRemoved(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch {
    return false;
  }
}

function build(): string {
  const source = join(ROOT, 'test', 'scale', 'fixtures', 'slowfs.c');
  const target = join(FIXTURES, 'slowfs');
  mkdirSync(FIXTURES, { recursive: true });
  const modifiedMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (modifiedMs(target) > modifiedMs(source)) return target;
  const partial = `${target}.${process.pid}`;
  execFileSync('cc', ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-pthread', source, '-o', partial]);
  renameSync(partial, target);
  return target;
}
