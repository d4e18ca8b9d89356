/** Sets of addresses: this network namespace's own, and those that `ignore` names. */
import { BlockList, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';

export class Networks {
  /** A BlockList takes IPv4 for a part of IPv6, so `::/0` would hold IPv4 too. */
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();
  /** A BlockList is slow, and many connections come from few addresses. */
  readonly #answers = new Map<string, boolean>();

  /** The configuration has checked that they are valid. */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', bits] = network.split('/');
      const plain = address.replace(/^::ffff:(?=[0-9.]+$)/i, '');
      const mappedBits = plain === address ? 0 : 96;
      if (isIPv4(plain)) this.#v4.addSubnet(plain, Number(bits ?? mappedBits + 32) - mappedBits);
      else this.#v6.addSubnet(plain, Number(bits ?? 128), 'ipv6');
    }
  }

  has(address: string): boolean {
    const known = this.#answers.get(address);
    if (known !== undefined) return known;
    this.#answers.set(address, isIPv4(address) ? this.#v4.check(address) : this.#v6.check(address, 'ipv6'));
    return this.has(address);
  }
}

/**
 * All addresses of this namespace: a connection from one of them comes from a process in it. Only the loopback's where
 * netlink is refused, or no descriptor is free: getifaddrs(3).
 */
export function ownNetworks(): readonly string[] {
  return ['127.0.0.0/8', '::1', ...ownAddresses().map((address) => address.replace(/%.*/, ''))];
}

function ownAddresses(): readonly string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
  } catch {
    return [];
  }
}
