/** Directories that are there as long as the process of a test file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

/**
 * Removed when all is over, not with the test: hooks run in the order in which they were added, and what still writes
 * into the directory makes its removal fail, with which the hooks that would have ended the writer are never run.
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
