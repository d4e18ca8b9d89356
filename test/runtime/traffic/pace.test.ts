/** Connections that come as probes do, and others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Pace } from '../../../src/runtime/traffic/pace.ts';
import type { Client } from '../../../src/runtime/traffic/table.ts';
import '../../helpers/seeded.ts';

const KUBELET = clientOf([0, 0, 0xffff, 0x0af4_0101], true);

function clientOf(words: readonly number[], isV4: boolean, localPort = 8080): Client {
  return { isV4, remote: new Uint32Array(words), remotePort: 40_000, localPort };
}

/** Connections of one client, at these times. */
function paceOf(times: readonly number[], client = KUBELET): Pace {
  const pace = new Pace();
  for (const atMs of times) pace.take(client, atMs);
  return pace;
}

const every = (ms: number, count: number): readonly number[] => Array.from({ length: count }, (_, index) => index * ms);

describe('the pace of connections', () => {
  it('is steady where each comes about as long after the one before, from one address to one port', () => {
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

  it('is not where another address, another port or another pause is among them', () => {
    const times = every(1_000, 10);
    const others = [clientOf([0, 0, 0xffff, 0x0af4_0102], true), clientOf([...KUBELET.remote], true, 9090)];
    for (const other of others) {
      const pace = paceOf(times);
      pace.take(other, 10_000);
      assert.equal(pace.steady(11), undefined);
    }
    assert.equal(paceOf([...times, 9_100]).steady(11), undefined);
    assert.equal(paceOf([...times, 13_000]).steady(11), undefined);
    assert.notEqual(paceOf([...times, 10_000]).steady(11), undefined);
  });

  it('is not known of so few, nor where some of those that count were not seen', () => {
    assert.equal(paceOf(every(1_000, 4)).steady(4), undefined);
    assert.notEqual(paceOf(every(1_000, 5)).steady(5), undefined);
    assert.equal(paceOf(every(1_000, 10)).steady(11), undefined);
  });

  it('names addresses of IPv6 as ignore= takes them', () => {
    const pace = paceOf(every(1_000, 9), clientOf([0xfd77_0000, 0, 0, 0x0001_00ff], false));
    assert.equal(pace.steady(9)?.from, 'fd77:0:0:0:0:0:1:ff');
  });

  it('begins again', () => {
    const pace = paceOf([1, 2, 500]);
    pace.restart();
    for (const atMs of every(1_000, 6)) pace.take(KUBELET, atMs);
    assert.notEqual(pace.steady(6), undefined);
  });
});
