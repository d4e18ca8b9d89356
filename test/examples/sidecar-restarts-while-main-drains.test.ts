/**
 * The headline example does what its README says: it judges itself by its exit code, and clears everything away.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINE, titled } from '../helpers/engine.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { processesNaming } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

const EXAMPLE = join(ROOT, 'examples', 'sidecar-restarts-while-main-drains', 'run.ts');
/** In half of it the proxy has to be back: far, for slow machines. */
const DRAIN_SECONDS = '20';
const skip = ENGINE === 'podman' ? 'the example is for machines without an engine' : false;

test(titled('N31 a proxy that dies while its main drains comes back; as a native sidecar it does not'), {
  skip,
}, async (t) => {
  const temporary = (await tempGraveyard(t)).path('tmp');
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const { status, stdout, stderr } = spawnSync(NODE, [EXAMPLE, DRAIN_SECONDS], { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^with sexton .* away for [0-9]+ ms; the last request succeeded$/m);
  assert.match(stdout, /^as a native sidecar .* away for good; the last request failed$/m);
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(processesNaming(temporary), []);
});
