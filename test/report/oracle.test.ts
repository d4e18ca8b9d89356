/** The short form of the oracle; the long one is `node test/report/oracle.ts 10000`. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { comparePods } from './oracle.ts';

const PODS = 300;

it(`the reports of ${PODS} simulated pods agree with what the simulator knows`, (t) => {
  const compared = comparePods(PODS, 1);
  t.diagnostic(JSON.stringify(compared));
  // Fewer would prove nothing.
  assert.ok(compared.members > 600 && compared.stopped > 300 && compared.forced > 50 && compared.pods > 50);
});
