/** What the watch of a drain reads: the counter, the tables of sockets, networks, and what all that may cost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Allowance } from '../../../src/runtime/traffic/allowance.ts';
import { passiveOpensIn } from '../../../src/runtime/traffic/counter.ts';
import { Networks } from '../../../src/runtime/traffic/networks.ts';
import { type Line, Scanner } from '../../../src/runtime/traffic/table.ts';
import '../../helpers/seeded.ts';

const V4 = [
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     ',
  '   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0000000000000000 100 0 0 10 0                       ',
  '  13: 02004D0A:1F90 01004D0A:D430 06 00000000:00000000 03:0000176E 00000000     0        0 0 3 0000000000000000                                      ',
];
const V6 = [
  '  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
  '   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 13 1 0',
  '   1: 0000000000000000FFFF000002004D0A:1F90 0000000000000000FFFF000001004D0A:D2FC 01 00000000:00000000 03:0000176E 00000000     0        0 0 3 0',
  '   2: 000077FD000000000000000002000000:1F90 B80D0120000000000000000001000000:D2FE 08 00000000:00000000 03:0000176E 00000000     0        0 0 3 0',
];
const TABLE = [...V4, ...V6].map((line) => `${line}\n`).join('');

/** As text: `4 10.77.0.2:8080 10.77.0.1:54320 6`. */
function textOf({ isV4, state, local, localPort, remote, remotePort }: Line): string {
  const words = ({ 0: a = 0, 1: b = 0, 2: c = 0, 3: d = 0 }: Uint32Array): string =>
    (isV4 ? [d] : [a, b, c, d]).map((word) => word.toString(16).padStart(8, '0')).join('');
  return `${isV4 ? 4 : 6} ${words(local)}:${localPort} ${words(remote)}:${remotePort} ${state}`;
}

const LINES = [
  '4 00000000:8080 00000000:0 10',
  '4 0a4d0002:8080 0a4d0001:54320 6',
  `6 ${'0'.repeat(32)}:8080 ${'0'.repeat(32)}:0 10`,
  '4 0a4d0002:8080 0a4d0001:54012 1',
  '6 fd770000000000000000000000000002:8080 20010db8000000000000000000000001:54014 8',
];

describe('the tables of sockets', () => {
  it('are read whole, whatever pieces they come in', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }), (sizes) => {
        const seen: string[] = [];
        const scanner = new Scanner((line) => seen.push(textOf(line)));
        const chunk = Buffer.alloc(65_536);
        let kept = 0;
        for (let at = 0, piece = 0; at < TABLE.length; piece += 1) {
          const size = sizes[piece % sizes.length] ?? 1;
          const bytes = chunk.write(TABLE.slice(at, at + size), kept, 'latin1');
          at += bytes;
          kept = scanner.scan(chunk, kept + bytes);
        }
        assert.deepEqual(seen, LINES);
      }),
      { numRuns: 200 },
    );
  });

  it('may hold anything: what is no line of a socket is passed over', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const chunk = Buffer.alloc(65_536);
        chunk.set(bytes);
        const kept = new Scanner(() => {}).scan(chunk, bytes.length);
        assert.ok(kept >= 0 && kept <= bytes.length);
      }),
    );
  });
});

describe('the counter', () => {
  it('is found by its name', () => {
    const head = 'Ip: Forwarding\nIp: 2\n';
    const names = 'Tcp: RtoAlgorithm RtoMin ActiveOpens PassiveOpens CurrEstab';
    assert.equal(passiveOpensIn(`${head}${names}\nTcp: 1 200 3 18446744 5\nUdp: a\nUdp: 1\n`), 18_446_744);
    assert.equal(passiveOpensIn(`${head}Tcp: RtoAlgorithm\nTcp: 1\n`), undefined);
    assert.equal(passiveOpensIn(`${head}${names}\nTcp: 1 200\n`), undefined);
    assert.equal(passiveOpensIn(''), undefined);
  });
});

describe('networks', () => {
  const clients: Readonly<Record<string, Pick<Line, 'isV4' | 'remote'>>> = {
    '10.1.2.3': { isV4: true, remote: Uint32Array.of(0, 0, 0, 0x0a01_0203) },
    '10.1.2.3 in IPv6': { isV4: true, remote: Uint32Array.of(0, 0, 0xffff, 0x0a01_0203) },
    '255.255.255.255': { isV4: true, remote: Uint32Array.of(0, 0, 0, 0xffff_ffff) },
    'fd00::1': { isV4: false, remote: Uint32Array.of(0xfd00_0000, 0, 0, 1) },
    '2001:db8:1:2:3:4:5:6': { isV4: false, remote: Uint32Array.of(0x2001_0db8, 0x0001_0002, 0x0003_0004, 0x0005_0006) },
    '::a01:203': { isV4: false, remote: Uint32Array.of(0, 0, 0, 0x0a01_0203) },
  };
  const holds: Readonly<Record<string, readonly string[]>> = {
    '10.1.2.3': ['10.1.2.3', '10.1.2.3 in IPv6'],
    '10.1.2.4': [],
    '10.1.2.0/29': ['10.1.2.3', '10.1.2.3 in IPv6'],
    '10.1.2.4/30': [],
    '0.0.0.0/0': ['10.1.2.3', '10.1.2.3 in IPv6', '255.255.255.255'],
    '255.255.255.255/32': ['255.255.255.255'],
    '::ffff:10.1.2.3': ['10.1.2.3', '10.1.2.3 in IPv6'],
    '::ffff:10.0.0.0/104': ['10.1.2.3', '10.1.2.3 in IPv6'],
    'fd00::/8': ['fd00::1'],
    'fd00::1': ['fd00::1'],
    'fd00::1:0/112': [],
    '2001:db8:1:2:3:4:5:6': ['2001:db8:1:2:3:4:5:6'],
    '2001:db8:1:2::/64': ['2001:db8:1:2:3:4:5:6'],
    '2001:db8:1:3::/64': [],
    '2001:db8:1:2:3:4:0.5.0.6': ['2001:db8:1:2:3:4:5:6'],
    '::/0': ['fd00::1', '2001:db8:1:2:3:4:5:6', '::a01:203'],
  };
  for (const [network, names] of Object.entries(holds)) {
    it(`${network} holds ${names.length === 0 ? 'none of them' : names.join(', ')}`, () => {
      const it = new Networks([network]);
      const found = Object.entries(clients).flatMap(([name, client]) => (it.has(client) ? [name] : []));
      assert.deepEqual(found, names);
    });
  }
});

describe('what looks may cost', () => {
  it('is a share of the time, with some in hand at the beginning, and never more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 300_000 }),
        fc.integer({ min: 0, max: 200_000 }),
        (longestMs, lines) => {
          const allowance = new Allowance(longestMs, 0);
          const cost = 0.5 + lines * 0.002;
          let spent = 0;
          for (let nowMs = 0; nowMs <= longestMs; nowMs += 100) {
            if (!allowance.has(1, lines, nowMs)) continue;
            allowance.spend(cost, lines);
            spent += cost;
          }
          assert.ok(spent <= 200 + longestMs * 0.005 + 1, `${spent} of ${longestMs}`);
        },
      ),
    );
  });

  it('is learned from looks at many lines', () => {
    const allowance = new Allowance(15_000, 0);
    assert.ok(allowance.has(1, 20_000, 0));
    allowance.spend(50, 20_000);
    assert.ok(!allowance.has(1, 20_000, 5_000));
    assert.ok(allowance.has(1, 20_000, 11_500));
    assert.ok(!allowance.has(2, 20_000, 11_500), 'and one in hand');
  });
});
