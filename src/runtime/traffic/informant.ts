/**
 * Asks the kernel for the connections that this network namespace has accepted. Node has no netlink: `sexton-sockets`,
 * a program in the file of sexton-init, does it (`src/informants/sockets.c` has the notation).
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { getSystemErrorName } from 'node:util';

export interface Connection {
  /** The kernel's number of the socket. */
  readonly cookie: string;
  readonly localPort: number;
  readonly remotePort: number;
  readonly address: string;
  /** As in include/net/tcp_states.h; 0: it has closed. */
  readonly state: number;
  /** Milliseconds since an open one began or received data. */
  readonly ageMs: number;
}

export interface Answer {
  /** The open ones first, then those that have closed since the last question. */
  readonly connections: readonly Connection[];
  /** False: more have closed than these. */
  readonly isWhole: boolean;
}

export class Informant {
  readonly #process: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #text = '';
  #onAnswer: ((answer: Answer | undefined) => void) | undefined;
  #refusal: string | undefined;

  /** `init`: a path of sexton-init; undefined: there is none. */
  constructor(init: string | undefined) {
    if (init === undefined) {
      this.#refusal = 'sexton runs without its init';
      return;
    }
    const program = spawn(init, { argv0: 'sexton-sockets', env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
    program.on('error', () => this.#end(ENDED));
    // Then Node gives it no pipes, which its types do not say.
    if ((program.stdin as Writable | undefined) === undefined) {
      this.#refusal = 'sexton-sockets finds no free descriptor';
      return;
    }
    this.#process = program;
    // A question may fail before a refusal is read, which then is the reason. `close` comes after both.
    program.stdin.on('error', () => {});
    program.stdout.on('error', () => this.#end(ENDED));
    program.once('close', () => this.#end(ENDED));
    program.stdout.setEncoding('latin1').on('data', (chunk: string) => this.#take(chunk));
  }

  /** Why there is no answer, now or later. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /**
   * Lists the open connections that began or received data in the last `windowMs` (0: none, EVER: all), and the closed
   * ones. One question at a time; undefined: the kernel does not answer, now or later.
   */
  async ask(windowMs: number): Promise<Answer | undefined> {
    if (this.#refusal !== undefined) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const answer = await new Promise<Answer | undefined>((resolve) => {
      this.#onAnswer = resolve;
      // After a pause of this process an answer may be there that was not read yet.
      timer = setTimeout(() => setImmediate(() => this.#onAnswer === resolve && this.close()), MAX_MS);
      this.#process?.stdin.write(`${Math.ceil(windowMs)}\n`);
    });
    clearTimeout(timer);
    this.#onAnswer = undefined;
    return answer;
  }

  close(): void {
    this.#end('sexton-sockets does not answer');
    this.#process?.kill('SIGKILL');
  }

  #take(chunk: string): void {
    this.#text += chunk;
    const [last, word] = LAST_LINE.exec(this.#text.slice(-TAIL_CHARS)) ?? [];
    if (last === undefined) return;
    const lines = this.#text.slice(0, -last.length).split('\n');
    this.#text = '';
    const [, code] = word?.split(' ') ?? [];
    if (code !== undefined) return this.#end(`sock_diag fails with ${getSystemErrorName(-Number(code))}`);
    this.#onAnswer?.({ connections: lines.filter(Boolean).map(parse), isWhole: word === '.' });
  }

  #end(why: string): void {
    this.#refusal ??= why;
    this.#onAnswer?.(undefined);
  }
}

const ENDED = 'sexton-sockets has ended';
export const EVER = 2 ** 32 - 1;
/** The program has little to do; one that was stopped (SIGSTOP) must not hold up the drain. */
const MAX_MS = 5_000;
/** More than the last line has. */
const TAIL_CHARS = 16;
const LAST_LINE = /(?<=^|\n)([.!](?: [0-9]+)?)\n$/;

function parse(line: string): Connection {
  const [cookie = '', address = '', ...numbers] = line.slice(1).split(' ');
  const [localPort = 0, remotePort = 0, state = 0, ageMs = 0] = numbers.map(Number);
  return { cookie, address, localPort, remotePort, state, ageMs };
}
