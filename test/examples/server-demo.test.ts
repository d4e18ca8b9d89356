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

const EXAMPLE = join(ROOT, 'examples', 'server-demo', 'run.ts');
/** Three more than the balancer needs to hear of it: for slow machines. */
const DRAIN_SECONDS = '4';
const skip = ENGINE === 'podman' ? 'the example is for machines without an engine' : false;

test('a rolling restart fails no request with probe and drain, and some without either', { skip }, async (t) => {
  const temporary = (await tempGraveyard(t)).path('tmp');
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const { status, stdout, stderr } = spawnSync(NODE, [EXAMPLE, DRAIN_SECONDS], { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^as it is +[1-9][0-9]* /m);
  assert.match(stdout, /^with a readiness probe +[1-9][0-9]* /m);
  assert.match(stdout, /^with sexton: probe and drain +0 +[1-9][0-9]* /m);
  assert.equal(stderr, '');
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(processesNaming(temporary), []);
});
