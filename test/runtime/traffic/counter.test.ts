/** The counter of accepted connections. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, passiveOpensIn } from '../../../src/runtime/traffic/counter.ts';

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
