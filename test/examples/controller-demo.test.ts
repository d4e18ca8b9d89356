/**
 * The example does what its README says: it judges itself by its exit code, and clears everything away.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINE } from '../helpers/engine.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { processesNaming } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

const EXAMPLE = join(ROOT, 'examples', 'controller-demo', 'run.ts');

const LEASE_SECONDS = '4';
const skip = ENGINE === 'podman' ? 'the example is for machines without an engine' : false;

test('a lease that a pre-stop hook releases is taken at once, one that is not only after its expiry, and never by two', {
  skip,
}, async (t) => {
  const temporary = (await tempGraveyard(t)).path('tmp');
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const { status, stdout, stderr } = spawnSync(NODE, [EXAMPLE, LEASE_SECONDS], { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^as they are +[0-9]+ ms +expiry +no +143$/m);
  assert.match(stdout, /^with sexton and a hook +[0-9]+ ms +release +no +143$/m);
  assert.equal(stderr, '');
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(processesNaming(temporary), []);
});
