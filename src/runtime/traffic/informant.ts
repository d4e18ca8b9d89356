/**
 * A program in the file of sexton-init that knows from the kernel what Node cannot ask it. Asked by a line, it answers
 * with lines, of which the last one is `.` or `. N` when that was all, `!` when it was not, and `! E`, an errno, when
 * it cannot tell and ends.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface Answer {
  /** With its last line. */
  readonly text: Buffer;
  readonly isWhole: boolean;
}

export class Informant {
  readonly #process: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #chunks: readonly Buffer[] = [];
  #tail = '';
  #onAnswer: ((answer: Answer | undefined) => void) | undefined;
  #isOver: boolean;

  /** `init`: a path of sexton-init, which knows by `name` that it is to be this; undefined: there is none. */
  constructor(init: string | undefined, name: string, args: readonly string[] = []) {
    this.#isOver = init === undefined;
    if (init === undefined) return;
    const program = spawn(init, args, { argv0: name, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#process = program;
    for (const part of [program, program.stdin, program.stdout]) part.on('error', () => this.#end());
    program.once('close', () => this.#end());
    program.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  get works(): boolean {
    return !this.#isOver;
  }

  /** undefined: it cannot tell, now or any more. One question at a time. */
  async ask(question: string): Promise<Answer | undefined> {
    if (this.#isOver) return undefined;
    let withTimeout = false;
    const timer = setTimeout(() => {
      withTimeout = true;
      // After a pause of this process an answer may be there that was not read yet.
      setImmediate(() => setImmediate(() => withTimeout && this.close()));
    }, MAX_MS);
    const answer = await new Promise<Answer | undefined>((resolve) => {
      this.#onAnswer = resolve;
      this.#chunks = [];
      this.#tail = '';
      this.tell(question);
    });
    clearTimeout(timer);
    withTimeout = false;
    return answer;
  }

  /** What has no answer. */
  tell(line: string): void {
    if (!this.#isOver) this.#process?.stdin.write(`${line}\n`);
  }

  close(): void {
    this.#end();
    this.#process?.kill('SIGKILL');
  }

  #take(chunk: Buffer): void {
    this.#chunks = [...this.#chunks, chunk];
    // The last line may come in two pieces.
    const end = chunk.toString('latin1', Math.max(0, chunk.length - TAIL_BYTES));
    this.#tail = `${this.#tail}${end}`.slice(-TAIL_BYTES);
    const [, word, number] = LAST_LINE.exec(this.#tail) ?? [];
    if (word === undefined) return;
    if (word === '!' && number !== undefined) return this.#end();
    this.#answer({ text: Buffer.concat(this.#chunks), isWhole: word === '.' });
  }

  #end(): void {
    this.#isOver = true;
    this.#answer(undefined);
  }

  #answer(answer: Answer | undefined): void {
    this.#onAnswer?.(answer);
    this.#onAnswer = undefined;
  }
}

/** It has little to do; one that was stopped (SIGSTOP) must not hold up the drain. */
const MAX_MS = 5_000;
/** More than the last line has. */
const TAIL_BYTES = 16;
const LAST_LINE = /(?:^|\n)([.!])(?: ([0-9A-F]+))?\n$/;
