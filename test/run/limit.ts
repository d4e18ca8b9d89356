/**
 * Ends test files that do not end by themselves, and reports what they were doing. The time limit of node:test applies
 * to each test in a file. It does not end a process that something keeps alive, such as a watcher that was not closed.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processIds, readOf, send } from './processes.ts';

/** Such a process writes down what it does when it gets this signal, also in an endless loop. */
const SIGNAL = 'SIGSTKFLT';
const LOOK_MS = 5_000;
const MAX_REPORTING_MS = 10_000;

/** What is read of a diagnostic report of Node. */
interface Report {
  readonly javascriptStack?: { readonly message?: string; readonly stack?: readonly string[] };
  readonly libuv: readonly { readonly type: string; readonly is_active: boolean; readonly is_referenced: boolean }[];
}

/** Watches the test files that run as children of this process, each from when it is first seen. */
export class FileLimit {
  readonly #limitMs: number;
  readonly #say: (text: string) => void;
  readonly #dir = mkdtempSync(join(tmpdir(), 'sexton-test-reports-'));
  readonly #since = new Map<number, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(limitMs: number, say: (text: string) => void) {
    this.#limitMs = limitMs;
    this.#say = say;
    this.#timer = setInterval(() => void this.#look(), Math.min(LOOK_MS, limitMs));
  }

  get execArgv(): string[] {
    return [
      '--report-on-signal',
      `--report-signal=${SIGNAL}`,
      `--report-directory=${this.#dir}`,
      '--report-exclude-env',
    ];
  }

  close(): void {
    clearInterval(this.#timer);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #look(): Promise<void> {
    const running = testFiles();
    for (const pid of this.#since.keys()) if (!running.has(pid)) this.#since.delete(pid);
    const late: Promise<void>[] = [];
    for (const [pid, file] of running) {
      const sinceMs = this.#since.get(pid) ?? performance.now();
      this.#since.set(pid, sinceMs);
      if (performance.now() - sinceMs < this.#limitMs) continue;
      this.#since.set(pid, Number.POSITIVE_INFINITY);
      late.push(this.#end(pid, file));
    }
    await Promise.all(late);
  }

  async #end(pid: number, file: string): Promise<void> {
    send(pid, SIGNAL);
    const until = performance.now() + MAX_REPORTING_MS;
    let report = this.#reportOf(pid);
    while (report === undefined && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      report = this.#reportOf(pid);
    }
    this.#say(`${file} has not ended in ${this.#limitMs / 1000} s and is killed. ${report ?? 'It said nothing.'}\n`);
    send(pid, 'SIGKILL');
  }

  #reportOf(pid: number): string | undefined {
    const name = readdirSync(this.#dir).find((it) => it.split('.').includes(String(pid)));
    if (name === undefined) return undefined;
    try {
      const { javascriptStack = {}, libuv } = JSON.parse(readFileSync(join(this.#dir, name), 'utf8')) as Report;
      const handles = libuv.filter((it) => it.is_active && it.is_referenced).map((it) => `\n    ${JSON.stringify(it)}`);
      const stack = javascriptStack.stack?.map((line) => `\n    ${line}`) ?? [];
      return `It was at:${stack.join('')}\n  kept alive by:${handles.join('')}`;
    } catch {
      return undefined; // it is still being written
    }
  }
}

/** The children of this process that run a test file, by their id. */
function testFiles(): Map<number, string> {
  const found = new Map<number, string>();
  for (const pid of processIds()) {
    if (parentOf(pid) !== process.pid) continue;
    const file = readOf(pid, 'cmdline')
      .split('\0')
      .find((word) => word.endsWith('.test.ts'));
    if (file !== undefined) found.set(pid, file);
  }
  return found;
}

/** The fourth field; the second is the name in parentheses, which may have any character. */
function parentOf(pid: number): number {
  const stat = readOf(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}
