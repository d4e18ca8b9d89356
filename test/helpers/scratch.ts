/** A directory of a test's own. A process that still names it when the test is over is ended and fails the test. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { processesNaming, send } from './process.ts';
import { SETTLE_MS, waitFor } from './wait.ts';

export interface Scratch {
  readonly dir: string;
  readonly graveyard: string;
  /** The log that all members of the test append to. */
  readonly log: string;
  /** How long the end of the test waits for processes that are about to exit. */
  readonly settleMs: number;
  path(name: string): string;
  /** Adds what a failing test shows besides its error. */
  describe(part: () => string): void;
  /** Runs before the search for leftovers, to stop whatever starts processes again. */
  beforeClear(step: () => void): void;
  /** Ends what is no process of this machine's own, and says what had to be ended. */
  clearAlso(step: () => Promise<string | undefined>): void;
  story(): string;
}

export async function tempGraveyard(t: Pick<TestContext, 'after'>, settleMs = SETTLE_MS): Promise<Scratch> {
  // Short: a socket's path has 107 bytes.
  const dir = await mkdtemp(join(tmpdir(), 'sx-'));
  const graveyard = join(dir, 'graveyard');
  // mkdir obeys the umask, chmod does not; containers of other users write here.
  await mkdir(graveyard);
  await chmod(dir, 0o777);
  await chmod(graveyard, 0o1777);
  const parts: (() => string)[] = [];
  const steps: (() => void)[] = [];
  const others: (() => Promise<string | undefined>)[] = [];
  t.after(async () => {
    for (const step of steps) step();
    const left = await Promise.all(others.map((step) => step()));
    await clear(
      dir,
      settleMs,
      left.filter((it) => it !== undefined),
    );
  });
  return {
    dir,
    graveyard,
    log: join(dir, 'events'),
    settleMs,
    path: (name) => join(dir, name),
    describe: (part) => parts.push(part),
    beforeClear: (step) => steps.push(step),
    clearAlso: (step) => others.push(step),
    story: () => parts.map((part) => part()).join('\n'),
  };
}

async function clear(dir: string, settleMs: number, others: readonly string[]): Promise<void> {
  // A process that is just being torn down by the kernel is not a leak.
  const gone = await waitFor('no process is left', () => processesNaming(dir).length === 0, settleMs).catch(
    () => false,
  );
  const left = gone ? [] : processesNaming(dir);
  for (const { pid } of left) send(pid, 'SIGKILL');
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  const all = [...others, ...left.map((it) => `${it.pid} ${it.commandLine}`)];
  if (all.length > 0) throw new Error(`left behind: ${all.join('; ')}`);
}
