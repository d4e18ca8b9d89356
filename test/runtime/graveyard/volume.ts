/** Directories, mounts and processes for the tests of the graveyard; all of them end with the test. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

export const isRoot = process.getuid?.() === 0;
export const needsRoot = isRoot ? false : 'needs root';
export const needsMount = canMount() ? false : 'needs the right to mount';

/** A volume of its own, unmounted when the test ends, together with the directory it is mounted on. */
export function tmpfs(t: TestContext, options: string, dir: string = mountPoint()): string {
  return mounted(t, ['-t', 'tmpfs', '-o', options, 'tmpfs'], dir);
}

export function mountPoint(): string {
  return mkdtempSync(join(tmpdir(), 'sexton-mount-'));
}

/** The same directory mounted at a second place, read-only there. */
export function readOnlyView(t: TestContext, dir: string): string {
  const view = mounted(t, ['--bind', dir], mountPoint());
  execFileSync('mount', ['-o', 'remount,bind,ro', view]);
  return view;
}

/** A TypeScript program in a process of its own, with the uid given. It is killed when the test ends. */
export class Helper {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(t: TestContext, source: string, options: { uid?: number; prefix?: string[]; cwd?: string } = {}) {
    const become = options.uid === undefined ? '' : `process.setgid(${options.uid}); process.setuid(${options.uid});\n`;
    const [file = '', ...args] = [...(options.prefix ?? []), process.execPath, '--input-type=module-typescript', '-e'];
    this.process = spawn(file, [...args, `${become}${source}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: options.cwd ?? process.cwd(),
    });
    this.#lines = createInterface({ input: this.process.stdout ?? process.stdin })[Symbol.asyncIterator]();
    t.after(() => this.kill());
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    assert.ok(!done, 'the helper ended without a line');
    return value;
  }

  send(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }
}

function mounted(t: TestContext, what: readonly string[], dir: string): string {
  execFileSync('mount', [...what, dir]);
  t.after(() => {
    // Lazily, since a watcher that is stopped by a later hook may still look at it. Never removed recursively.
    execFileSync('umount', ['-l', dir]);
    rmdirSync(dir);
  });
  return dir;
}

function canMount(): boolean {
  if (!isRoot) return false;
  const dir = mkdtempSync(join(tmpdir(), 'sexton-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', dir], { stdio: 'ignore' });
    execFileSync('umount', [dir], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
