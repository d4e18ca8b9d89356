/** The programs in C beside the tests of init. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Bench } from './scripted.ts';

/** The path of the program. */
export function compiled(bench: Bench, source: string): string {
  const path = bench.path(source.replace('.c', ''));
  const { status, stderr } = spawnSync('cc', ['-O1', '-pthread', '-o', path, join(import.meta.dirname, source)], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return path;
}

/** Holds a process with ptrace(2) until the returned one ends, which is at the end of the test at the latest. */
export async function hold(bench: Bench, t: TestContext, source: string, pid: number): Promise<ChildProcess> {
  const holder = spawn(compiled(bench, source), [String(pid)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => holder.kill('SIGKILL'));
  const [said] = await once(holder.stdout, 'data');
  assert.equal(String(said), 'held\n');
  return holder;
}
