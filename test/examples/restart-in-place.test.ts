/**
 * The example does what its README says.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENGINE } from '../helpers/engine.ts';
import { runExample } from './judged.ts';

/** Far more than the balancer needs to hear of a change: for slow machines. */
const DRAIN_SECONDS = '12';
const skip = ENGINE === 'podman' ? 'not in podman: the example is for machines without an engine' : false;

test('a replica that is restarted in place fails no request, and some when all its containers are killed', {
  skip,
}, async (t) => {
  const stdout = await runExample(t, 'restart-in-place', DRAIN_SECONDS);
  assert.match(stdout, /^all containers killed at once, one of two replicas +[1-9][0-9]* /m);
  assert.match(stdout, /^sexton restart, one of two replicas +0 +[1-9][0-9]* /m);
  assert.match(stdout, /^sexton restart, the only replica +[1-9][0-9]* +[1-9][0-9]* /m);
  assert.match(stdout, /^pod example: restart in place: graceful, /m);
});
