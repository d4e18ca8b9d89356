/** Runs an example as plain processes of this machine. Its exit code says whether it worked; it must leave nothing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { NODE, ROOT } from '../helpers/paths.ts';
import { processesNaming } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';

/** Returns what it printed. */
export async function runExample(t: TestContext, name: string, ...args: string[]): Promise<string> {
  const temporary = (await tempGraveyard(t)).path('tmp');
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const example = join(ROOT, 'examples', name, 'run.ts');
  const { status, stdout, stderr } = spawnSync(NODE, [example, ...args], { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  assert.deepEqual(readdirSync(temporary), []);
  await waitFor('what got KILL is gone', () => processesNaming(temporary).length === 0);
  return stdout;
}
