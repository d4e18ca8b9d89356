/**
 * examples/web-server does what its README says: it judges itself by its exit code, and clears everything away.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NODE, ROOT } from '../helpers/paths.ts';
import { processesNaming } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

const PROGRAMS = ['/usr/sbin/nginx', '/usr/sbin/haproxy'];
const skip = PROGRAMS.every((it) => existsSync(it)) ? false : 'apt-get install nginx-light haproxy';

test('two nginx behind haproxy are restarted under load: no request fails with sexton, some do without', {
  skip,
}, async (t) => {
  const temporary = (await tempGraveyard(t)).path('tmp');
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const example = join(ROOT, 'examples', 'web-server', 'run.ts');
  const { status, stdout, stderr } = spawnSync(NODE, [example, '1'], { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^with sexton +0 of \d+ requests failed$/m);
  assert.match(stdout, /^without sexton +[1-9]\d* of \d+ requests failed$/m);
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(processesNaming(temporary), []);
});
