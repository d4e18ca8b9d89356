/**
 * Writes lines to a descriptor that other processes write to as well, on a thread of libuv's pool.
 *
 * Each line is a write(2) of its own. Up to 4,096 bytes of a pipe stay together (pipe(7)), so the application's output
 * never comes into the middle of a line. The writer keeps what a stalled reader does not take, up to a bound. It drops
 * lines beyond that bound, and lines that the descriptor refuses.
 */
import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs';

const MAX_PENDING_BYTES = 256 * 1024;
/** The pipe is full, and another process has made it non-blocking. */
const AGAIN_AFTER_MS = 100;

export class LineWriter {
  readonly #fd: number;
  readonly #lines: Buffer[] = [];
  #pendingBytes = 0;
  #onDrained: () => void = () => {};

  constructor(fd: number) {
    this.#fd = fd;
  }

  get isWriting(): boolean {
    return this.#lines.length > 0;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#pendingBytes + bytes.length > MAX_PENDING_BYTES) return;
    this.#pendingBytes += bytes.length;
    if (this.#lines.push(bytes) === 1) this.#push(bytes);
  }

  /** Writes one line before it returns: for a process that is about to end. A full pipe costs the line. */
  writeNow(line: string): void {
    try {
      if (!fstatSync(this.#fd).isFIFO()) return void writeSync(this.#fd, line);
      // An open file description of its own can be non-blocking while the application's stays as it is.
      const own = openSync(`/proc/self/fd/${this.#fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
      try {
        writeSync(own, line);
      } finally {
        closeSync(own);
      }
    } catch {
      // Without a reader, or with one that has stalled, the line is lost and the process ends all the same.
    }
  }

  /** Resolves when all is written, or after `mostMs`. */
  async drained(mostMs: number): Promise<void> {
    if (!this.isWriting) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mostMs);
      this.#onDrained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #push(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.#push(bytes), AGAIN_AFTER_MS);
      if (error === null && written < bytes.length) return this.#push(bytes.subarray(written));
      this.#pendingBytes -= this.#lines.shift()?.length ?? 0;
      const [next] = this.#lines;
      if (next === undefined) this.#onDrained();
      else this.#push(next);
    });
  }
}
