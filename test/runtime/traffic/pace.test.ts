/** The pace of new connections. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Pace } from '../../../src/runtime/traffic/pace.ts';
import '../../helpers/seeded.ts';

const KUBELET = { address: '10.244.1.1', localPort: 8080 };

/** Connections of one client, at these times. */
function paceOf(times: readonly number[]): Pace {
  const pace = new Pace();
  for (const atMs of times) pace.take(KUBELET, atMs);
  return pace;
}

const every = (ms: number, count: number): readonly number[] => Array.from({ length: count }, (_, index) => index * ms);

test('connections from one address to one port at equal intervals are steady', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 500, max: 10_000 }),
      fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 5, maxLength: 40 }),
      (everyMs, late) => {
        const times = late.map((ms, index) => 7_000 + index * everyMs + ms);
        const told = paceOf(times).steady(times.length);
        assert.deepEqual([told?.from, told?.port], ['10.244.1.1', 8080]);
        assert.ok(Math.abs((told?.everyMs ?? 0) - everyMs) <= 25, `${told?.everyMs} for ${everyMs}`);
      },
    ),
  );
});

test('another address, another port or another pause is no steady pace', () => {
  const times = every(1_000, 10);
  for (const other of [
    { ...KUBELET, address: '10.244.1.2' },
    { ...KUBELET, localPort: 9090 },
  ]) {
    const pace = paceOf(times);
    pace.take(other, 10_000);
    assert.equal(pace.steady(11), undefined);
  }
  assert.equal(paceOf([...times, 9_100]).steady(11), undefined);
  assert.equal(paceOf([...times, 13_000]).steady(11), undefined);
  assert.notEqual(paceOf([...times, 10_000]).steady(11), undefined);
});

test('fewer than five connections, or some that were not seen, make no pace', () => {
  assert.equal(paceOf(every(1_000, 4)).steady(4), undefined);
  assert.notEqual(paceOf(every(1_000, 5)).steady(5), undefined);
  assert.equal(paceOf(every(1_000, 10)).steady(11), undefined);
});
