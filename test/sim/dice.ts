/** Chance as data: the same seed gives the same throws on every machine. */

/** A stream of throws. Those of different names are independent, so that no part of a run changes another's. */
export class Dice {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number, stream = 0) {
    this.#a = seed | 0;
    this.#b = Math.imul(stream + 1, 0x9e3779b9) | 0;
    this.#c = (Math.floor(seed / 0x1_0000_0000) | 0) ^ 0x2545f491;
    for (let round = 0; round < 12; round += 1) this.#word();
  }

  /** From 0 to `below` - 1. */
  int(below: number): number {
    return Math.floor((this.#word() / 0x1_0000_0000) * below);
  }

  between(least: number, most: number): number {
    return least + this.int(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.#word() / 0x1_0000_0000 < probability;
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.int(values.length)] ?? values[0];
  }

  /** Small numbers come far more often than large ones. */
  short(most: number): number {
    const part = this.#word() / 0x1_0000_0000;
    return Math.floor(most * part * part * part);
  }

  /** sfc32. */
  #word(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
