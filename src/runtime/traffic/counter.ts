/**
 * Counts the connections that this network namespace, the pod's, has accepted. `PassiveOpens` counts each connection
 * whose handshake a listener has completed, even if it closes before the next reading. It covers IPv4 and IPv6 alike
 * (RFC 1213, tcpPassiveOpens; tcp_create_openreq_child in Linux). Any process may read the file.
 */
import { closeSync, openSync, readSync } from 'node:fs';

export class Counter {
  #fd: number | undefined = openSync('/proc/self/net/snmp', 'r');
  readonly #buffer = Buffer.allocUnsafe(8_192);

  /** Throws when the file is closed, cannot be read, or does not say it. */
  read(): number {
    if (this.#fd === undefined) throw new Error('the counter is closed');
    const bytes = readSync(this.#fd, this.#buffer, 0, this.#buffer.length, 0);
    const count = passiveOpensIn(this.#buffer.toString('latin1', 0, bytes));
    if (count === undefined) throw new Error('/proc/self/net/snmp does not count them');
    return count;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** The file has a line with the names of the numbers, then one with the numbers. */
export function passiveOpensIn(text: string): number | undefined {
  const [, names = '', numbers = ''] = /^Tcp: (.*)\nTcp: (.*)$/m.exec(text) ?? [];
  const number = numbers.split(' ')[names.split(' ').indexOf('PassiveOpens')];
  return number !== undefined && /^[0-9]+$/.test(number) ? Number(number) : undefined;
}
