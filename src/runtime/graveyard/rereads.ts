/**
 * Files that did not parse: half written perhaps, so each is looked at again after 20 ms, 40 ms and so on.
 */
const FIRST_REREAD_MS = 20;
const MAX_REREADS = 7;
/**
 * A pod has fewer that are half written at once; of a directory full of garbage the rest waits for its next event or
 * rescan.
 */
const MAX_AT_ONCE = 64;

export class Rereads {
  readonly #look: (name: string) => void;
  readonly #byName = new Map<string, { count: number; timer: NodeJS.Timeout | undefined }>();

  constructor(look: (name: string) => void) {
    this.#look = look;
  }

  /** Has it looked at again soon. Says whether it has been often enough: from now on only rescans look. */
  again(name: string): boolean {
    const reread = this.#byName.get(name) ?? { count: 0, timer: undefined };
    if (!this.#byName.has(name) && this.#byName.size >= MAX_AT_ONCE) return false;
    this.#byName.set(name, reread);
    if (reread.count >= MAX_REREADS) return true;
    reread.timer ??= setTimeout(
      () => {
        reread.timer = undefined;
        this.#look(name);
      },
      FIRST_REREAD_MS * 2 ** reread.count++,
    ).unref();
    return false;
  }

  forget(name: string): void {
    clearTimeout(this.#byName.get(name)?.timer);
    this.#byName.delete(name);
  }

  get isWaiting(): boolean {
    return [...this.#byName.values()].some(({ timer }) => timer !== undefined);
  }

  stop(): void {
    for (const { timer } of this.#byName.values()) clearTimeout(timer);
  }
}
