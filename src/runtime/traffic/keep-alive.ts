/**
 * Whether requests still come over connections that are kept. No counter shows them, and nothing in /proc does; the
 * kernel's socket diagnostics do, and sexton-init asks it (`src/informants/sockets.c`). Where that is refused nothing is
 * known of them.
 */
import { Informant } from './informant.ts';
import type { Client } from './table.ts';

export interface Used extends Client {
  readonly remotePort: number;
  /** Since something came, milliseconds. */
  readonly agoMs: number;
}

export class KeepAliveConnections {
  readonly #informant: Informant;

  /** `init`: a path of sexton-init. At most 64 ports. */
  constructor(init: string, ports: readonly number[]) {
    this.#informant = new Informant(init, 'sexton-sockets', ports.map(String));
  }

  /**
   * Those on which something came within the last `windowMs`, at most MAX_TOLD; undefined: that cannot be told here.
   * One question at a time.
   */
  async ask(windowMs: number): Promise<readonly Used[] | undefined> {
    const answer = await this.#informant.ask(String(Math.min(Math.ceil(windowMs), LONGEST_MS)));
    const lines = answer?.text.toString('latin1').split('\n').filter(Boolean);
    return lines?.slice(0, -1).map(parse);
  }

  close(): void {
    this.#informant.close();
  }
}

/** Of those that are told: there may be more. */
export const MAX_TOLD = 256;
const LONGEST_MS = 2 ** 31 - 1;

function parse(line: string): Used {
  const [address = '', remotePort, localPort, agoMs] = line.split(' ');
  const digits = address.replace(/^0{20}f{4}(?=.{8}$)/, '');
  const isV4 = digits.length === 8;
  const words = digits.padStart(32, '0').match(/.{8}/g) ?? [];
  const remote = Uint32Array.from(words, (word) => Number.parseInt(word, 16));
  return { isV4, remote, remotePort: Number(remotePort), localPort: Number(localPort), agoMs: Number(agoMs) };
}
