/**
 * How many connections this network namespace has accepted, and how many sockets it has. Both are small files of /proc
 * that anybody may read, and that follow the namespace of the reader: the pod's, as containers of a pod share it.
 *
 * `PassiveOpens` counts each connection whose handshake was completed by a listener, of IPv4 and of IPv6 alike (RFC 1213, tcpPassiveOpens;
 * tcp_create_openreq_child in Linux), also when it was closed before the next reading.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

export class Counter {
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(MAX_BYTES);

  /** Throws when there is no such file. It stays open: to read it again from its beginning makes it anew. */
  constructor(path = SNMP) {
    this.#fd = openSync(path, 'r');
  }

  /** Throws when it cannot be read, or does not say it. */
  read(): number {
    const bytes = readSync(this.#fd, this.#buffer, 0, MAX_BYTES, 0);
    const count = passiveOpensIn(this.#buffer.toString('latin1', 0, bytes));
    if (count === undefined) throw new Error('/proc/self/net/snmp does not count them');
    return count;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const SNMP = '/proc/self/net/snmp';
const MAX_BYTES = 8_192;

/** The file has a line with the names of the numbers, then one with the numbers. */
export function passiveOpensIn(text: string): number | undefined {
  const [, names = '', numbers = ''] = /^Tcp: (.*)\nTcp: (.*)$/m.exec(text) ?? [];
  const at = names.split(' ').indexOf('PassiveOpens');
  const number = numbers.split(' ')[at];
  return number !== undefined && /^[0-9]+$/.test(number) ? Number(number) : undefined;
}

/** About so many lines the tables of TCP sockets have now; undefined: that is not told here. */
export function countSockets(): number | undefined {
  try {
    const v4 = readFileSync('/proc/self/net/sockstat', 'latin1');
    const [, used = '0', waiting = '0'] = /^TCP: inuse ([0-9]+) .*?tw ([0-9]+)/m.exec(v4) ?? [];
    return Number(used) + Number(waiting) + countSockets6();
  } catch {
    return undefined;
  }
}

/** A kernel without IPv6 has no such file. */
function countSockets6(): number {
  try {
    return Number(/^TCP6: inuse ([0-9]+)/m.exec(readFileSync('/proc/self/net/sockstat6', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
