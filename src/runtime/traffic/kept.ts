/**
 * Whether requests still come over connections that are kept. No counter shows them, and nothing in /proc does; the kernel's socket
 * diagnostics do, and sexton-init asks it (`src/init/sockets.c`), as Node cannot. Where that is refused nothing is known of them.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Client } from './table.ts';

export interface Used extends Client {
  /** Since something came, milliseconds. */
  readonly agoMs: number;
}

export class KeptConnections {
  readonly #teller: ChildProcessByStdio<Writable, Readable, null>;
  #text = '';
  #onAnswer: ((answer: readonly Used[] | undefined) => void) | undefined;
  #isOver = false;

  /** `init`: a path of sexton-init. At most 64 ports. */
  constructor(init: string, ports: readonly number[]) {
    this.#teller = spawn(init, ports.map(String), { argv0: NAME, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#teller.on('error', () => this.#end());
    this.#teller.once('close', () => this.#end());
    this.#teller.stdin.on('error', () => this.#end());
    this.#teller.stdout.setEncoding('latin1').on('data', (chunk: string) => this.#take(chunk));
  }

  /** Those on which something came within the last `windowMs`, at most MOST_TOLD; undefined: that cannot be told here. One question at a time. */
  ask(windowMs: number): Promise<readonly Used[] | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
      this.#text = '';
      this.#teller.stdin.write(`${Math.min(Math.ceil(windowMs), LONGEST_MS)}\n`);
    });
  }

  close(): void {
    this.#end();
    this.#teller.kill('SIGKILL');
  }

  #take(chunk: string): void {
    this.#text += chunk;
    const end = /^[.!] [0-9]+\n/m.exec(this.#text);
    if (end === null) return;
    if (end[0].startsWith('!')) return this.#end();
    const answer = this.#text.slice(0, end.index).split('\n').filter(Boolean).map(parse);
    this.#answer(answer);
  }

  #end(): void {
    this.#isOver = true;
    this.#answer(undefined);
  }

  #answer(answer: readonly Used[] | undefined): void {
    this.#onAnswer?.(answer);
    this.#onAnswer = undefined;
  }
}

/** Of those that are told: there may be more. */
export const MOST_TOLD = 256;
/** By which init knows that it is to be this and not PID 1. */
const NAME = 'sexton-sockets';
const LONGEST_MS = 2 ** 31 - 1;

function parse(line: string): Used {
  const [address = '', , localPort, agoMs] = line.split(' ');
  const digits = address.replace(/^0{20}f{4}(?=.{8}$)/, '');
  const isV4 = digits.length === 8;
  const words = digits.padStart(32, '0').match(/.{8}/g) ?? [];
  const remote = Uint32Array.from(words, (word) => Number.parseInt(word, 16));
  return { isV4, remote, localPort: Number(localPort), agoMs: Number(agoMs) };
}
