import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

/** Removed when the process exits. A hook would run before those that end a program which still writes, and fail. */
export function temporaryDirectory(): string {
  if (made.size === 0)
    process.once('exit', () => {
      for (const dir of made) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    });
  const dir = mkdtempSync(join(tmpdir(), 'sexton-test-'));
  made.add(dir);
  return dir;
}
