/**
 * Connections that the host holds for us, in the form of those of `node:net`. A message to us may carry a descriptor
 * whose close sleeps, as unix(7) allows. Node would close it, and hang.
 */
import { EventEmitter } from 'node:events';
import type { Clock } from '../clock.ts';
import { MAX_CONNECTIONS } from './frames.ts';
import type { Connection, ContactNews, HostCommand } from './host.ts';

/** One connection of the host, for all who have asked for this socket. */
interface Line {
  readonly opened: PromiseWithResolvers<void>;
  readonly contacts: Set<Contact>;
  isOpen: boolean;
}

export class Contacts {
  readonly #timers: Clock['timers'];
  readonly #order: (command: HostCommand) => void;
  readonly #lines = new Map<string, Line>();

  constructor({ timers }: Clock, order: (command: HostCommand) => void) {
    this.#timers = timers;
    this.#order = order;
  }

  /** Rejects with the error of connect(2). */
  async connect(path: string): Promise<Connection> {
    const line = this.#lines.get(path) ?? this.#add(path);
    const contact = new Contact(() => {
      if (line.contacts.delete(contact) && line.contacts.size === 0) this.#remove(path, line);
    });
    line.contacts.add(contact);
    await line.opened.promise;
    return contact;
  }

  isHeld(path: string): boolean {
    return this.#lines.get(path)?.isOpen === true;
  }

  hear({ path, errno }: ContactNews): void {
    const line = this.#lines.get(path);
    if (line === undefined) return;
    if (errno === undefined) {
      line.isOpen = true;
      return line.opened.resolve();
    }
    // The end of an earlier connection to this socket, which we had given up.
    if (errno === 'EPIPE' && !line.isOpen) return;
    this.#remove(path, line);
    line.opened.reject(errorOf(errno));
    // In a later turn, when the listener of a connection that ends at once is there.
    this.#timers.setImmediate(() => {
      for (const contact of line.contacts) contact.emit('close');
    });
  }

  #add(path: string): Line {
    if (this.#lines.size === MAX_CONNECTIONS) throw errorOf('EMFILE');
    const line = { opened: Promise.withResolvers<void>(), contacts: new Set<Contact>(), isOpen: false };
    this.#lines.set(path, line);
    this.#orderAll();
    return line;
  }

  #remove(path: string, line: Line): void {
    if (this.#lines.get(path) !== line) return;
    this.#lines.delete(path);
    this.#orderAll();
  }

  #orderAll(): void {
    this.#order({ type: 'connections', paths: [...this.#lines.keys()] });
  }
}

class Contact extends EventEmitter implements Connection {
  /** The host reads nothing for us. */
  readonly bytesRead = 0;
  readonly #hangUp: () => void;

  constructor(hangUp: () => void) {
    super();
    this.#hangUp = hangUp;
  }

  destroy(): void {
    this.#hangUp();
  }
}

function errorOf(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`cannot connect: ${code}`), { code });
}
