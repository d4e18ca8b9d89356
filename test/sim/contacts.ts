/**
 * Contacts: whether peers live, as the runtime finds out by a connection to the socket of each. All that it learns is
 * whether the peer accepted, refused or closed the connection.
 */
import type { Actor, Agenda } from './agenda.ts';
import type { Dice } from './dice.ts';
import type { Holder, Volume } from './volume.ts';

export interface ContactWorld {
  readonly agenda: Agenda;
  readonly volume: Volume;
  readonly dice: Dice;
  /** Calls back when that holder has gone, however it went. */
  readonly onEnd: (holder: Holder, then: () => void) => void;
}

export type ContactKind = 'none' | 'refused' | 'held' | 'lost';

interface Contact {
  kind: ContactKind;
  lostAtMs: number;
  heldSinceMs: number;
  holder: Holder | undefined;
  retry: number;
  isRetrying: boolean;
}

const RETRIES_MS = [400, 1_600] as const;
const HELD_LONG_MS = 2_000;

export class Contacts {
  readonly #world: ContactWorld;
  readonly #actor: Actor;
  readonly #onChange: () => void;
  readonly #contacts = new Map<string, Contact>();
  readonly #wasHeld: (name: string) => boolean;

  constructor(world: ContactWorld, by: Actor, onChange: () => void, wasHeld: (name: string) => boolean) {
    this.#wasHeld = wasHeld;
    this.#world = world;
    this.#actor = by;
    this.#onChange = onChange;
  }

  of(name: string): Pick<Contact, 'kind' | 'lostAtMs'> {
    return this.#contacts.get(name) ?? NOBODY;
  }

  get isRetrying(): boolean {
    return [...this.#contacts.values()].some(({ isRetrying }) => isRetrying);
  }

  /** These and no others. */
  follow(names: ReadonlySet<string>): void {
    for (const name of this.#contacts.keys()) if (!names.has(name)) this.#contacts.delete(name);
    for (const name of names) if (!this.#contacts.has(name)) this.restart(name);
  }

  /** Forgets a loss. */
  restart(name: string): void {
    const contact: Contact = { ...NOBODY, heldSinceMs: 0, holder: undefined, retry: 0, isRetrying: false };
    this.#contacts.set(name, contact);
    this.#soon(name, contact);
  }

  retry(name?: string): void {
    for (const [other, contact] of this.#contacts) if (name === undefined || name === other) this.#soon(other, contact);
  }

  #soon(name: string, contact: Contact): void {
    const { agenda, dice } = this.#world;
    agenda.in(dice.short(6), this.#actor, () => this.#attempt(name, contact));
  }

  #attempt(name: string, contact: Contact): void {
    if (this.#contacts.get(name) !== contact || contact.holder !== undefined) return;
    const { agenda, volume, dice, onEnd } = this.#world;
    const holder = volume.isThere ? volume.sockets.get(name) : undefined;
    if (holder?.isRunning !== true) {
      this.#miss(name, contact, holder !== undefined);
      return this.#later(name, contact);
    }
    contact.holder = holder;
    contact.heldSinceMs = agenda.nowMs;
    this.#become(contact, 'held');
    onEnd(holder, () =>
      agenda.in(dice.short(34), this.#actor, () => {
        if (contact.holder !== holder) return;
        contact.holder = undefined;
        contact.lostAtMs = agenda.monoMs;
        if (agenda.nowMs - contact.heldSinceMs >= HELD_LONG_MS) contact.retry = 0;
        this.#become(contact, 'lost');
        this.#later(name, contact);
      }),
    );
  }

  /** A peer that an earlier supervisor was connected to counts as lost. */
  #miss(name: string, contact: Contact, isRefused: boolean): void {
    if (contact.kind === 'lost') return;
    if (!isRefused || !this.#wasHeld(name)) return this.#become(contact, isRefused ? 'refused' : 'none');
    contact.lostAtMs = this.#world.agenda.monoMs;
    this.#become(contact, 'lost');
  }

  #later(name: string, contact: Contact): void {
    const delayMs = RETRIES_MS[contact.retry];
    if (contact.isRetrying || delayMs === undefined) return;
    contact.retry += 1;
    contact.isRetrying = true;
    this.#world.agenda.in(delayMs, this.#actor, () => {
      contact.isRetrying = false;
      this.#attempt(name, contact);
    });
  }

  #become(contact: Contact, kind: ContactKind): void {
    if (contact.kind === kind) return;
    contact.kind = kind;
    this.#onChange();
  }
}

const NOBODY = { kind: 'none', lostAtMs: 0 } as const;
