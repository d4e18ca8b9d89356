/** The connections that a simulated init holds to other members, as `src/init/supervisor/contacts.c` does. */
import type { AccessWorld } from './access.ts';
import type { Holder } from './volume.ts';

interface SimContact {
  /** By this supervisor. */
  isListed: boolean;
  /** Listed by one before it. */
  isLeft: boolean;
  isHeld: boolean;
}

export class SimContacts {
  /** One has ended since the last `watch`, or since the supervisor was started. */
  hasFired = false;
  readonly #parts: () => AccessWorld;
  readonly #tell: (path: string, errno: string | undefined) => void;
  readonly #onEnd: () => void;
  readonly #isMain: (path: string) => boolean;
  readonly #contacts = new Map<string, SimContact>();

  /** `tell`: the supervisor. `isMain`: init waits for the end of the one at this path. */
  constructor(
    parts: () => AccessWorld,
    tell: (path: string, errno: string | undefined) => void,
    onEnd: () => void,
    isMain: (path: string) => boolean,
  ) {
    this.#parts = parts;
    this.#tell = tell;
    this.#onEnd = onEnd;
    this.#isMain = isMain;
  }

  order(paths: readonly string[]): void {
    for (const [path, contact] of this.#contacts) {
      const wasListed = contact.isListed;
      contact.isListed = (wasListed || contact.isHeld) && paths.includes(path);
      if (contact.isListed) contact.isLeft = false;
      if (contact.isListed && !wasListed) this.#tell(path, undefined);
    }
    this.drop();
    for (const path of paths) if (this.#contacts.get(path)?.isListed !== true) this.#add(path);
  }

  holds(path: string): boolean {
    return this.#contacts.get(path)?.isHeld === true;
  }

  /** The supervisor knows of each end, and there was none of late. */
  get isCalm(): boolean {
    return !this.hasFired && [...this.#contacts.values()].every(({ isListed, isHeld }) => isHeld || !isListed);
  }

  /** The supervisor is gone; the next one finds the connections. */
  leave(): void {
    this.hasFired = false;
    for (const contact of this.#contacts.values()) {
      contact.isLeft = (contact.isLeft || contact.isListed) && contact.isHeld;
      contact.isListed = false;
    }
    this.drop();
  }

  /** Those of supervisors before this one. */
  forgetLeft(): void {
    for (const contact of this.#contacts.values()) contact.isLeft = false;
    this.drop();
  }

  /** Those that are of no more use. */
  drop(): void {
    for (const [path, { isListed, isLeft }] of this.#contacts)
      if (!isListed && !isLeft && !this.#isMain(path)) this.#contacts.delete(path);
  }

  #add(path: string): void {
    const { volume, onEnd } = this.#parts();
    const holder: Holder | undefined = volume.isThere ? volume.sockets.get(memberAt(path)) : undefined;
    const isHeld = holder?.isRunning === true;
    const contact = { isListed: true, isLeft: false, isHeld };
    this.#contacts.set(path, contact);
    this.#tell(path, isHeld ? undefined : holder === undefined ? 'ENOENT' : 'ECONNREFUSED');
    if (holder !== undefined && isHeld) onEnd(holder, () => this.#lose(path, contact));
  }

  #lose(path: string, contact: SimContact): void {
    if (this.#contacts.get(path) !== contact) return;
    contact.isHeld = contact.isLeft = false;
    this.hasFired = true;
    if (contact.isListed) this.#tell(path, 'EPIPE');
    this.#onEnd();
  }
}

export function memberAt(path: string): string {
  return path.replace(/^.*\/\.(.*)\.sock$/, '$1');
}
