/** examples/istio-job does what its README says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runExample } from './judged.ts';

test('a proxy that cannot be wrapped is asked to leave when the work has ended, well or not; without sexton it stays', async (t) => {
  const shown = await runExample(t, 'istio-job');
  assert.match(shown, /^without sexton +exit code 0 +runs on +never ends$/m);
  assert.match(shown, /^with sexton +exit code 0 +gone, 0 +complete$/m);
  assert.match(shown, /^with sexton, the work fails +exit code 3 +gone, 0 +failed, tried again$/m);
});
