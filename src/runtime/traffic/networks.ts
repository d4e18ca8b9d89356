/**
 * Whose connections do not count: neighbours in this network namespace, and what `ignore` names.
 */
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Line } from './table.ts';

/** As in a line of the table: of IPv4 only the last word is used. */
interface Network {
  readonly isV4: boolean;
  readonly words: Uint32Array;
  readonly masks: Uint32Array;
}

export class Networks {
  readonly #networks: readonly Network[];

  constructor(networks: readonly string[]) {
    this.#networks = networks.map(parseNetwork);
  }

  has({ isV4, remote }: Pick<Line, 'isV4' | 'remote'>): boolean {
    return this.#networks.some((network) => network.isV4 === isV4 && contains(network, remote));
  }
}

/** All addresses that are this namespace's own: a connection from one of them comes from a process in it. */
export function ownNetworks(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
  return ['127.0.0.0/8', '::1', ...addresses.map((address) => address.replace(/%.*/, ''))];
}

function contains({ isV4, words, masks }: Network, address: Uint32Array): boolean {
  for (let index = isV4 ? 3 : 0; index < 4; index += 1) {
    if ((((address[index] ?? 0) ^ (words[index] ?? 0)) & (masks[index] ?? 0)) !== 0) return false;
  }
  return true;
}

/** Valid by now: the configuration was checked. */
function parseNetwork(text: string): Network {
  const [address = '', bits] = text.split('/');
  const plain = address.replace(/^::ffff:(?=[0-9.]+$)/i, '');
  const isV4 = isIPv4(plain);
  const words = isV4 ? Uint32Array.of(0, 0, 0, wordOfV4(plain)) : wordsOfV6(plain);
  const length = bits === undefined ? (isV4 ? 32 : 128) : Number(bits) - (isV4 && plain !== address ? 96 : 0);
  const masks = Uint32Array.from([0, 1, 2, 3], (index) => maskOf(length - (isV4 ? 0 : 32 * index)));
  return { isV4, words, masks };
}

function maskOf(bits: number): number {
  return bits >= 32 ? 0xffff_ffff : bits <= 0 ? 0 : (0xffff_ffff << (32 - bits)) >>> 0;
}

function wordOfV4(text: string): number {
  return text.split('.').reduce((word, part) => ((word << 8) | Number(part)) >>> 0, 0);
}

function wordsOfV6(text: string): Uint32Array {
  const dotted = /[0-9.]+\.[0-9.]+$/.exec(text)?.[0];
  const word = dotted === undefined ? 0 : wordOfV4(dotted);
  const plain =
    dotted === undefined ? text : text.replace(dotted, `${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`);
  const [head = '', tail] = plain.split('::');
  const [first, last] = [partsOf(head), partsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  const parts = [...first, ...new Array<number>(zeros).fill(0), ...last];
  return Uint32Array.from([0, 2, 4, 6], (index) => (((parts[index] ?? 0) << 16) | (parts[index + 1] ?? 0)) >>> 0);
}

function partsOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((part) => Number.parseInt(part, 16));
}
