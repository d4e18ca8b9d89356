/** The short forms; the long ones are `node test/report/hostile.ts 5000` and `node test/report/oracle.ts 10000`. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { stopOfEvidence } from '../../src/report/evidence.ts';
import { checkText, hostileEvidence, tryFiles } from './hostile.ts';
import { checkSpans, comparePods } from './oracle.ts';
import { MAIN, PROXY } from './pods.ts';

const FILES = 400;
const PODS = 300;

it(`${FILES} hostile tombstones, pods and logs become no markup, no escape sequence and no crash`, (t) => {
  const tried = tryFiles(FILES, 1);
  t.diagnostic(JSON.stringify(tried));
  // With fewer, hardly any report would have been drawn.
  assert.ok(tried.told > FILES / 4);
});

it('a phase with the name of what all objects have is drawn as none', () => {
  for (const Phase of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    for (const tombstone of [MAIN, PROXY]) {
      const History = (tombstone.History ?? []).map((entry) => (entry.Event === 'phase' ? { ...entry, Phase } : entry));
      assert.ok(checkText(formatTombstone({ ...tombstone, History })));
    }
});

it('the bars of hostile evidence never overlap, and add up to the time of its stop', () => {
  const members = Array.from({ length: 2_000 }, (_, seed) => {
    const member = stopOfEvidence(hostileEvidence(seed), { pod: 'p', workload: 'p' });
    if (member !== undefined) checkSpans(member, `seed ${seed}`);
    return member;
  });
  assert.ok(members.filter((member) => member !== undefined).length > 500);
});

it(`the reports of ${PODS} simulated pods agree with what the simulator knows`, async (t) => {
  const compared = await comparePods(PODS, 1);
  t.diagnostic(JSON.stringify(compared));
  // Fewer would prove nothing.
  assert.ok(compared.members > 600 && compared.stopped > 300 && compared.forced > 50 && compared.pods > 50);
});
