/** The limit is far: it tells a hang from a slow machine and is never what a test is about. */
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export const FAR_MS = 90_000;

/** A process that exits may need this long to be gone. Only a test that leaves something waits for it. */
export const SETTLE_MS = 10_000;

/** Asks `probe` until it answers with something; `undefined` and `false` mean "not yet". */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs: number = FAR_MS,
): Promise<T> {
  const limit = performance.now() + limitMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > limit) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await sleep(4);
  }
}

export async function waitForFile(path: string): Promise<void> {
  await waitFor(`${path} is there`, () =>
    access(path).then(
      () => true as const,
      () => false,
    ),
  );
}

/** The promise, or an error that says what did not come. */
export async function within<T>(what: string, promise: Promise<T>, limitMs: number = FAR_MS): Promise<T> {
  const late = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: late.signal }).then(
    () => Promise.reject(new Error(`waited ${limitMs} ms in vain: ${what}`)),
    () => promise,
  );
  try {
    return await Promise.race([promise, limit]);
  } finally {
    late.abort();
  }
}
