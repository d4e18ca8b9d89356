/** Sets of addresses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Networks } from '../../../src/runtime/traffic/networks.ts';

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
    assert.deepEqual(
      CLIENTS.filter((client) => networks.has(client)),
      clients,
    );
  });
}
