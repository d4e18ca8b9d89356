/**
 * The bytes of a stream, taken in pieces of any length.
 */

/** Thrown where bytes are not what they should be, or end too early. */
export class DamagedError extends Error {}

const EARLY = 'it ends too early';

export class Bytes {
  /** How many were taken or skipped. */
  position = 0;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** undefined: there are no more. `what`: of those that are too short from the start. */
  async take(count: number, what = EARLY): Promise<Buffer | undefined> {
    const parts = [this.#rest];
    let have = this.#rest.length;
    while (have < count) {
      const { value, done } = await this.#chunks.next();
      if (done === true) break;
      parts.push(value);
      have += value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(count);
    if (have > 0 && have < count) throw new DamagedError(this.position === 0 ? what : EARLY);
    this.position += Math.min(have, count);
    return have === 0 && count > 0 ? undefined : all.subarray(0, count);
  }

  async mustTake(count: number): Promise<Buffer> {
    const taken = await this.take(count);
    if (taken === undefined) throw new DamagedError(EARLY);
    return taken;
  }

  async skip(count: number): Promise<void> {
    let left = count;
    while (left > this.#rest.length) {
      left -= this.#rest.length;
      const { value, done } = await this.#chunks.next();
      if (done === true) throw new DamagedError(EARLY);
      this.#rest = value;
    }
    this.#rest = this.#rest.subarray(left);
    this.position += count;
  }
}
