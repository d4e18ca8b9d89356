/** The short form; the long one is `node test/report/hostile.ts 5000`. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stopOfEvidence } from '../../src/report/evidence.ts';
import { hostileEvidence, tryFiles } from './hostile.ts';
import { checkSpans } from './oracle.ts';

const FILES = 400;

it(`${FILES} hostile tombstones, pods and logs become no markup, no escape sequence and no crash`, (t) => {
  const tried = tryFiles(FILES, 1);
  t.diagnostic(JSON.stringify(tried));
  // With fewer, hardly any report would have been drawn.
  assert.ok(tried.told > FILES / 4);
});

it('the bars of hostile evidence never overlap, and add up to the time of its stop', () => {
  const members = Array.from({ length: 2_000 }, (_, seed) => {
    const member = stopOfEvidence(hostileEvidence(seed), { pod: 'p', workload: 'p' });
    if (member !== undefined) checkSpans(member, `seed ${seed}`);
    return member;
  });
  assert.ok(members.filter((member) => member !== undefined).length > 500);
});
