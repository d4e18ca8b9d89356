/** Holds a process with ptrace(2), by `corpse.c` or `newborn.c`. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { build } from '../helpers/program.ts';

/** Until the returned one ends, which is at the end of the test at the latest. */
export async function hold(t: TestContext, source: string, pid: number): Promise<ChildProcess> {
  const holder = spawn(build(source), [String(pid)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => holder.kill('SIGKILL'));
  const [said] = await once(holder.stdout, 'data');
  assert.equal(String(said), 'held\n');
  return holder;
}
