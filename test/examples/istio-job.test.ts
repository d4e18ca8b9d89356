/** examples/istio-job does what its README says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runExample } from './judged.ts';

test('the work waits for a proxy that cannot be wrapped, and asks it to leave when it has ended, well or not; without sexton it stays', async (t) => {
  const shown = await runExample(t, 'istio-job');
  assert.match(shown, /^without sexton +exit code 9 +runs on +never ends$/m);
  assert.match(shown, /^with sexton +exit code 0 +gone, 0 +complete$/m);
  assert.match(shown, /^with sexton, the work fails +exit code 3 +gone, 0 +failed, tried again$/m);
});
