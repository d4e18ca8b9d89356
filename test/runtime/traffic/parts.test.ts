import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { Counter, passiveOpensIn } from '../../../src/runtime/traffic/counter.ts';
import { Networks } from '../../../src/runtime/traffic/networks.ts';
import { Pace } from '../../../src/runtime/traffic/pace.ts';
import { Tally } from '../../../src/runtime/traffic/tally.ts';
import { ADAPTIVE_DRAIN } from '../../core/helpers.ts';
import '../../helpers/seeded.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { waitFor } from '../../helpers/wait.ts';

test('the counter is found by its name in the file', () => {
  const head = 'Ip: Forwarding\nIp: 2\n';
  const names = 'Tcp: RtoAlgorithm RtoMin ActiveOpens PassiveOpens CurrEstab';
  assert.equal(passiveOpensIn(`${head}${names}\nTcp: 1 200 3 18446744 5\nUdp: a\nUdp: 1\n`), 18_446_744);
  assert.equal(passiveOpensIn(`${head}Tcp: RtoAlgorithm\nTcp: 1\n`), undefined);
  assert.equal(passiveOpensIn(`${head}${names}\nTcp: 1 200\n`), undefined);
  assert.equal(passiveOpensIn(''), undefined);
});

test('a closed counter reads no other file that has its descriptor by now', () => {
  const counter = new Counter();
  assert.ok(counter.read() >= 0);
  counter.close();
  counter.close();
  assert.throws(() => counter.read(), /closed/);
});

test('nothing is known to be open once sexton-sockets has ended', async () => {
  const init = join(temporaryDirectory(), 'sockets');
  // It answers the questions of the start, and no other.
  writeFileSync(init, '#!/bin/sh\nread question\necho .\nread question\necho .\n', { mode: 0o755 });
  const drain = { ...ADAPTIVE_DRAIN, inflight: true };
  const tally = new Tally({ drain, connections: 0, ignored: 0, init, now: () => performance.now() });
  await tally.start();
  assert.equal(tally.seen.open, 0);
  await waitFor('it looks without an answer', async () => (await tally.look(true)) && tally.seen.blind !== undefined);
  assert.equal(tally.seen.open, undefined);
  tally.close();
});

const CLIENTS = ['10.1.2.3', '255.255.255.255', 'fd00:0:0:0:0:0:0:1', '2001:db8:1:2:3:4:5:6', '0:0:0:0:0:0:a01:203'];
const HOLDS: Readonly<Record<string, readonly string[]>> = {
  '10.1.2.3': ['10.1.2.3'],
  '10.1.2.4': [],
  '10.1.2.0/29': ['10.1.2.3'],
  '10.1.2.4/30': [],
  '0.0.0.0/0': ['10.1.2.3', '255.255.255.255'],
  '255.255.255.255/32': ['255.255.255.255'],
  '::ffff:10.1.2.3': ['10.1.2.3'],
  '::ffff:10.0.0.0/104': ['10.1.2.3'],
  'fd00::/8': ['fd00:0:0:0:0:0:0:1'],
  'fd00::1': ['fd00:0:0:0:0:0:0:1'],
  'fd00::1:0/112': [],
  '2001:db8:1:2:3:4:5:6': ['2001:db8:1:2:3:4:5:6'],
  '2001:db8:1:2::/64': ['2001:db8:1:2:3:4:5:6'],
  '2001:db8:1:3::/64': [],
  '2001:db8:1:2:8000::/65': [],
  '2001:db8:1:2:3:4:0.5.0.6': ['2001:db8:1:2:3:4:5:6'],
  '::/0': ['fd00:0:0:0:0:0:0:1', '2001:db8:1:2:3:4:5:6', '0:0:0:0:0:0:a01:203'],
};

for (const [network, clients] of Object.entries(HOLDS)) {
  test(`${network} holds ${clients.length === 0 ? 'no other address' : clients.join(', ')}`, () => {
    const networks = new Networks([network]);
    const held = CLIENTS.filter((client) => networks.has(client));
    assert.deepEqual(held, clients);
  });
}

const KUBELET = { address: '10.244.1.1', localPort: 8080 };

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
