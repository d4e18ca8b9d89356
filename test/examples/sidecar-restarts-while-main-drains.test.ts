/**
 * The headline example does what its README says: it judges itself by its exit code, and clears everything away.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENGINE, titled } from '../helpers/engine.ts';
import { runExample } from './judged.ts';

/** In half of it the proxy has to be back: far, for slow machines. */
const DRAIN_SECONDS = '20';
const skip = ENGINE === 'podman' ? 'not in podman: the example is for machines without an engine' : false;

test(titled('N31 a proxy that dies while its main drains comes back; as a native sidecar it does not'), {
  skip,
}, async (t) => {
  const shown = await runExample(t, 'sidecar-restarts-while-main-drains', DRAIN_SECONDS);
  assert.match(shown, /^with sexton .* away for [0-9]+ ms; the last request succeeded$/m);
  assert.match(shown.replace(/\n +/g, ' '), /; proxy: exit 1 after [0-9.]+ s, restarted, away for [0-9]+ ms;/);
  assert.match(shown, /^as a native sidecar .* away for good; the last request failed$/m);
});
