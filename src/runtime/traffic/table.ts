/**
 * The kernel's tables of TCP sockets, /proc/net/tcp and tcp6 (proc_pid_net(5)), read in pieces and scanned as bytes. A
 * namespace may have tens of thousands of them: no text is made of a line, and other things get their turn in between.
 *
 * Addresses stand there as words of 32 bits in the byte order of the machine, which is little-endian wherever sexton
 * runs.
 */
import { closeSync, openSync, readSync } from 'node:fs';

/** The far end of a connection that was accepted here, and the port at ours. */
export type Client = Readonly<Pick<Line, 'isV4' | 'remote' | 'remotePort' | 'localPort'>>;

/** The same object for each line: take what you need of it. Words are big-endian; of IPv4 only the last one is used. */
export interface Line {
  /** `::ffff:1.2.3.4` is IPv4. */
  isV4: boolean;
  state: number;
  localPort: number;
  remotePort: number;
  readonly local: Uint32Array;
  readonly remote: Uint32Array;
}

export const ESTABLISHED = 0x01;
export const SYN_RECEIVED = 0x03;
export const FIN_WAIT_1 = 0x04;
export const TIME_WAIT = 0x06;
export const CLOSE_WAIT = 0x08;
export const LISTEN = 0x0a;

/** Calls `onLine` for each socket, those of IPv6 first. Rejects when the tables cannot be read. */
export async function readTable(onLine: (line: Line) => void, paths: readonly string[] = TABLES): Promise<void> {
  for (const path of paths) await readFile(path, onLine);
}

/** A socket of IPv6 may serve IPv4 too, so the listeners of IPv6 are read first. */
const TABLES = ['/proc/self/net/tcp6', '/proc/self/net/tcp'];
const CHUNK_BYTES = 65_536;
/** The kernel gives 4 KiB at a time, whatever is asked for: about 1 ms in one turn. */
const READS_IN_A_TURN = 50;

async function readFile(path: string, onLine: (line: Line) => void): Promise<void> {
  const fd = openTable(path);
  if (fd === undefined) return;
  const scanner = new Scanner(onLine);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    let kept = 0;
    for (let reads = 1; ; reads += 1) {
      const bytes = readSync(fd, chunk, kept, CHUNK_BYTES - kept, null);
      if (bytes === 0) return;
      kept = scanner.scan(chunk, kept + bytes);
      if (reads % READS_IN_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    closeSync(fd);
  }
}

/** undefined: a kernel without IPv6. */
function openTable(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && path.endsWith('6')) return undefined;
    throw error;
  }
}

export class Scanner {
  readonly #onLine: (line: Line) => void;
  readonly #line: Line = {
    isV4: true,
    state: 0,
    localPort: 0,
    remotePort: 0,
    local: new Uint32Array(4),
    remote: new Uint32Array(4),
  };

  constructor(onLine: (line: Line) => void) {
    this.#onLine = onLine;
  }

  /** Takes the whole lines of the first `length` bytes, and moves the rest to the beginning: so many. */
  scan(chunk: Buffer, length: number): number {
    let at = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, at);
      if (end < 0 || end >= length) break;
      if (this.#take(chunk, at, end)) this.#onLine(this.#line);
      at = end + 1;
    }
    chunk.copyWithin(0, at, length);
    // What is longer than a chunk is no line of a socket.
    return length - at < CHUNK_BYTES ? length - at : 0;
  }

  /** `  12: 0100007F:1F90 0200007F:D431 06 ..`; false: it is not of that kind. */
  #take(chunk: Buffer, start: number, end: number): boolean {
    const line = this.#line;
    const colon = chunk.indexOf(COLON, start);
    const words = chunk[colon + 10] === COLON ? 1 : 4;
    const address = words * 8;
    const [local, remote] = [colon + 2, colon + 2 + address + 6];
    const state = remote + address + 6;
    if (colon < 0 || state + 2 > end || chunk[local + address] !== COLON || chunk[remote + address] !== COLON)
      return false;
    takeAddress(chunk, local, words, line.local);
    takeAddress(chunk, remote, words, line.remote);
    line.localPort = hex(chunk, local + address + 1, 4);
    line.remotePort = hex(chunk, remote + address + 1, 4);
    line.state = hex(chunk, state, 2);
    // Of a listener the remote address is all zeros, of whatever kind it is.
    line.isV4 = words === 1 || isMapped(line.remote);
    return true;
  }
}

const NEWLINE = 0x0a;
const COLON = 0x3a;

function isMapped(words: Uint32Array): boolean {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
}

function takeAddress(chunk: Buffer, at: number, words: number, into: Uint32Array): void {
  for (let index = 0; index < words; index += 1) into[4 - words + index] = swapped(hex(chunk, at + index * 8, 8));
}

function swapped(word: number): number {
  return ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}

function hex(chunk: Buffer, at: number, digits: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index += 1) value = (value << 4) | digitOf(chunk[index] ?? 0);
  return value >>> 0;
}

/** Of an ASCII character `0` to `9`, `A` to `F`. */
function digitOf(char: number): number {
  return char <= 0x39 ? char & 0x0f : (char & 0x07) + 9;
}
