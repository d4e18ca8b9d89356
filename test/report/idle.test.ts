/** What reports and traces say of an application that was busy in a drain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopOfEvidence } from '../../src/report/evidence.ts';
import { traceOf } from '../../src/report/otlp.ts';
import { sentenceOf } from '../../src/report/words.ts';
import { podOfEvidence } from './documents.ts';
import { EVIDENCE } from './pods.ts';

const BUSY = { ...EVIDENCE, Busy: { BusyFrom: '9', BusyTo: '7', BusyMs: 2_900 } };

test('a report says how much was still running when the drain ended', () => {
  const pod = podOfEvidence([BUSY], 'shop/web-0');
  assert.match(sentenceOf(pod), /the drain of main took 3\.0 s, 312 new connections, 7 still running/);
  const idle = { ...BUSY, Busy: { ...BUSY.Busy, BusyTo: 'idle' } };
  assert.doesNotMatch(sentenceOf(podOfEvidence([idle], 'shop/web-0')), /running|busy/);
  const unknown = { ...BUSY, Busy: { ...BUSY.Busy, BusyTo: 'status 500' } };
  assert.match(sentenceOf(podOfEvidence([unknown], 'shop/web-0')), /, still busy \(status 500\)/);
});

test('a trace says from what to what the application was busy, and how long', () => {
  const member = stopOfEvidence(BUSY, { pod: 'p', workload: 'p' });
  assert.ok(member !== undefined);
  const options = { pod: 'p', life: '1', root: undefined, summary: '', service: 's', version: '0' };
  const text = JSON.stringify(traceOf(member, options));
  for (const part of [
    '"sexton.drain.busy_from","value":{"stringValue":"9"}',
    '"sexton.drain.busy_ms","value":{"intValue":"2900"}',
  ])
    assert.ok(text.includes(part), text);
});
