/**
 * The example does what its README says.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENGINE } from '../helpers/engine.ts';
import { runExample } from './judged.ts';

/** A leader that stands still for most of this time loses its lease: far, for slow machines. */
const LEASE_SECONDS = '12';
const skip = ENGINE === 'podman' ? 'not in podman: the example is for machines without an engine' : false;

test('a lease that a pre-stop hook releases is taken at once, another only after its expiry, and never by two', {
  skip,
}, async (t) => {
  const stdout = await runExample(t, 'controller-demo', LEASE_SECONDS);
  assert.match(stdout, /^as they are +[0-9]+ ms +expiry +no +143$/m);
  assert.match(stdout, /^with sexton and a hook +[0-9]+ ms +release +no +143$/m);
});
