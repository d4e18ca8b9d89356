/**
 * The connections that have gone. Most are too short to be seen in the tables of sockets, and the kernel tells of each when it goes;
 * sexton-init hears it (`src/init/departures.c`), as Node cannot. Where that is not so nothing is known of them.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { type Line, Scanner } from './table.ts';

export class Departures {
  readonly #teller: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #chunks: readonly Buffer[] = [];
  #tail = '';
  #onAnswer: ((answer: Buffer | undefined) => void) | undefined;
  #isOver: boolean;
  #isPaused = true;

  /** `init`: a path of sexton-init; undefined: there is none. */
  constructor(init: string | undefined) {
    this.#isOver = init === undefined;
    if (init === undefined) return;
    const teller = spawn(init, [], { argv0: NAME, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#teller = teller;
    for (const part of [teller, teller.stdin, teller.stdout]) part.on('error', () => this.#end());
    teller.once('close', () => this.#end());
    teller.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  get works(): boolean {
    return !this.#isOver;
  }

  /** Calls `onLine` for each that has gone since the last question. False: not all are told. One question at a time. */
  async ask(onLine: (line: Line) => void): Promise<boolean> {
    if (this.#isOver) return false;
    this.#isPaused = false;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      // After a pause of this process an answer may be there that was not read yet.
      setImmediate(() => setImmediate(() => isLate && this.close()));
    }, MOST_MS);
    const answer = await new Promise<Buffer | undefined>((resolve) => {
      this.#onAnswer = resolve;
      this.#chunks = [];
      this.#tail = '';
      this.#teller?.stdin.write('?\n');
    });
    clearTimeout(timer);
    isLate = false;
    if (answer === undefined) return false;
    new Scanner(onLine).scan(answer, answer.length);
    return LAST_WORD.exec(lastWordsOf(answer))?.[1] === '.';
  }

  /** Lets go until the next question, whose answer is not whole then. */
  pause(): void {
    if (!this.#isOver && !this.#isPaused) this.#teller?.stdin.write('-\n');
    this.#isPaused = true;
  }

  close(): void {
    this.#end();
    this.#teller?.kill('SIGKILL');
  }

  #take(chunk: Buffer): void {
    this.#chunks = [...this.#chunks, chunk];
    // The last word may come in two pieces.
    this.#tail = `${this.#tail}${lastWordsOf(chunk)}`.slice(-TAIL_BYTES);
    const [, word, errno] = LAST_WORD.exec(this.#tail) ?? [];
    if (word === undefined) return;
    // The kernel does not tell here.
    if (errno !== undefined) return this.#end();
    this.#answer(Buffer.concat(this.#chunks));
  }

  #end(): void {
    this.#isOver = true;
    this.#answer(undefined);
  }

  #answer(answer: Buffer | undefined): void {
    this.#onAnswer?.(answer);
    this.#onAnswer = undefined;
  }
}

/** By which init knows that it is to be this and not PID 1. */
const NAME = 'sexton-departures';
/** It has little to do; whoever has stopped it shall not stop the drain. */
const MOST_MS = 5_000;
/** More than the last word has. */
const TAIL_BYTES = 8;
const LAST_WORD = /(?:^|\n)([.!])(?: ([0-9A-F]{2}))?\n$/;

function lastWordsOf(answer: Buffer): string {
  return answer.toString('latin1', Math.max(0, answer.length - TAIL_BYTES));
}
