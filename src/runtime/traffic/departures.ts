/**
 * The connections that have gone. Most are too short to be seen in the tables of sockets, and the kernel tells of each
 * when it goes; sexton-init hears it (`src/informants/departures.c`). Where that is not so nothing is known of them.
 */
import { Informant } from './informant.ts';
import { type Line, Scanner } from './table.ts';

export class Departures {
  readonly #informant: Informant;
  #isPaused = true;

  /** `init`: a path of sexton-init; undefined: there is none. */
  constructor(init: string | undefined) {
    this.#informant = new Informant(init, 'sexton-departures');
  }

  get works(): boolean {
    return this.#informant.works;
  }

  /** Calls `onLine` for each that has gone since the last question. False: not all are told. One question at a time. */
  async ask(onLine: (line: Line) => void): Promise<boolean> {
    this.#isPaused = false;
    const { text, isWhole } = (await this.#informant.ask('?')) ?? {};
    if (text !== undefined) new Scanner(onLine).scan(text, text.length);
    return isWhole === true;
  }

  /** Lets go until the next question, whose answer is not whole then. */
  pause(): void {
    if (!this.#isPaused) this.#informant.tell('-');
    this.#isPaused = true;
  }

  close(): void {
    this.#informant.close();
  }
}
