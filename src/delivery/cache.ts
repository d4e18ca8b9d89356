/**
 * Makes `app/run.cache`: V8's compiled form of the bundle, by the delivered Node, under the flags that init gives it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PortableNode } from './portable-node.ts';

/** As `src/init/start/node.c` starts it, and the seed by which two builds give the same bytes. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--v8-pool-size=1', '--random-seed=1'];

export function makeCache({ command }: Pick<PortableNode, 'command'>, run: string): Buffer {
  const work = mkdtempSync(join(tmpdir(), 'sexton-cache-'));
  try {
    writeFileSync(join(work, 'run.cjs'), run);
    const [loader, ...rest] = command;
    execFileSync(loader, [...rest, ...NODE_FLAGS, join(import.meta.dirname, 'make-cache.ts'), work], { env: {} });
    return readFileSync(join(work, 'run.cache'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
