/**
 * Writes lines to a descriptor that others write to as well, on a thread of libuv's pool.
 *
 * Each line is a write(2) of its own: up to 4,096 bytes of a pipe stay together (pipe(7)), so the application's output
 * does not come into the middle of a line. What a stalled reader does not take is kept up to a bound; lines beyond it
 * are lost, and so are those that the descriptor refuses.
 */
import { write } from 'node:fs';

const MAX_PENDING_BYTES = 256 * 1024;
/** Where somebody has made the pipe non-blocking and it is full. */
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

  /** What is left of the first line. */
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
