/** Directories that are there as long as the process of a test file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

/**
 * The directory is removed when the process exits, not in a hook of the test. Hooks run in the order in which they were
 * added. The removal fails while a program still writes, and then the hooks that end the program do not run.
 */
export function temporaryDirectory(): string {
  if (made.size === 0)
    process.once('exit', () => {
      for (const dir of made) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    });
  const dir = mkdtempSync(join(tmpdir(), 'sexton-test-'));
  made.add(dir);
  return dir;
}
