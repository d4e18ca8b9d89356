/**
 * The example does what its README says, and says so where it cannot.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINE } from '../helpers/engine.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { runExample } from './judged.ts';

/** Who stops by TERM has this long for it: far, for slow machines. */
const GRACE_SECONDS = '15';
const skip = ENGINE === 'podman' ? 'not in podman: the example is for machines without an engine' : false;

test('as PID 1 a program without a handler, or behind a shell, waits for KILL; under sexton it does not', {
  skip,
}, async (t) => {
  const stdout = await runExample(t, 'signal-demo', GRACE_SECONDS);
  assert.match(stdout, /^a program without a handler +[0-9]+ +137 +has none$/m);
  assert.match(stdout, /^a shell around a careful program +[0-9]+ +137 +no$/m);
  assert.match(stdout, /^the same under sexton +[0-9]+ +143 +yes$/m);
});

test('where no PID namespace can be made the example says what it needs', { skip }, () => {
  const example = join(ROOT, 'examples', 'signal-demo', 'run.ts');
  const { status, stdout, stderr } = spawnSync(NODE, [example], { env: { PATH: '/nonexistent' }, encoding: 'utf8' });
  assert.equal(status, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^cannot make a PID namespace: the demo needs Linux, unshare and setpriv/);
});
