/** The short form of the oracle; the long one is `node test/report/oracle.ts 10000`. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { judgePods } from './oracle.ts';

const PODS = 300;

it(`the reports of ${PODS} simulated pods agree with what the simulator knows`, (t) => {
  const judged = judgePods(PODS, 1);
  t.diagnostic(JSON.stringify(judged));
  // Fewer would prove nothing.
  assert.ok(judged.members > 600 && judged.stopped > 300 && judged.forced > 50 && judged.pods > 50);
});
