/**
 * Connections that the host holds for us, in the form of those of `node:net`. A message to us may carry a descriptor
 * whose close sleeps, as unix(7) allows. Node would close it, and hang.
 */
import { EventEmitter } from 'node:events';
import type { Connection, ContactNews, HostCommand } from './host.ts';

/** The 128 members of a graveyard that we follow, those that the configuration names, and attempts. */
const MAX_CONTACTS = 256;

export class Contacts {
  readonly #order: (command: HostCommand) => void;
  readonly #open = new Map<number, { readonly opened: PromiseWithResolvers<Connection>; readonly contact: Contact }>();
  #last = 0;

  constructor(order: (command: HostCommand) => void) {
    this.#order = order;
  }

  /** Rejects with the error of connect(2). */
  connect(path: string): Promise<Connection> {
    if (this.#open.size === MAX_CONTACTS) return Promise.reject(errorOf('EMFILE'));
    const number = ++this.#last;
    const contact = new Contact(() => {
      if (this.#open.delete(number)) this.#order({ type: 'hangUp', number });
    });
    const opened = Promise.withResolvers<Connection>();
    this.#open.set(number, { opened, contact });
    this.#order({ type: 'connect', number, path });
    return opened.promise;
  }

  hear({ number, errno }: ContactNews): void {
    const open = this.#open.get(number);
    if (errno === undefined) return open?.opened.resolve(open.contact);
    this.#open.delete(number);
    open?.opened.reject(errorOf(errno));
    // In a later turn, when the listener of a connection that ends at once is there.
    setImmediate(() => open?.contact.emit('close'));
  }
}

class Contact extends EventEmitter implements Connection {
  /** The host reads nothing. */
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
