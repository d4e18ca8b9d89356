import assert from 'node:assert/strict';
import { it } from 'node:test';
import { instantAt, rfc3339 } from '../../src/core/time.ts';

it('times are written in UTC with all nine digits of the nanoseconds', () => {
  assert.equal(rfc3339('0'), '1970-01-01T00:00:00.000000000Z');
  assert.equal(rfc3339('1767323045000000006'), '2026-01-02T03:04:05.000000006Z');
  assert.equal(rfc3339('1767323045999999999'), '2026-01-02T03:04:05.999999999Z');
});

it('another monotonic time is as far away on the wall clock', () => {
  const reference = { mono: 5_000, wall: '1767323045000000006' };
  assert.deepEqual(instantAt(reference, 5_000), reference);
  assert.deepEqual(instantAt(reference, 4_000.5), { mono: 4_000.5, wall: '1767323044000500006' });
});
