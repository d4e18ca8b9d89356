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

test('a rolling restart fails no request with probe and drain, and some without either', { skip }, async (t) => {
  const stdout = await runExample(t, 'server-demo', DRAIN_SECONDS);
  assert.match(stdout, /^as it is +[1-9][0-9]* /m);
  assert.match(stdout, /^with a readiness probe +[1-9][0-9]* /m);
  assert.match(stdout, /^with sexton: probe and drain +0 +[1-9][0-9]* /m);
});
