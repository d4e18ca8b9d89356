/**
 * The simulated volume as the runtime of one supervisor reaches it. A connection ends some time after its holder, however
 * that went.
 */
import type { Connection, VolumeAccess } from '../../src/runtime/graveyard/volume.ts';
import type { Actor, Agenda } from './agenda.ts';
import type { Dice } from './dice.ts';
import type { Holder, Volume } from './volume.ts';

export interface AccessWorld {
  readonly agenda: Agenda;
  readonly volume: Volume;
  readonly dice: Dice;
  /** Calls back when that holder has gone, however it went. */
  readonly onEnd: (holder: Holder, then: () => void) => void;
}

const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const CONNECTING_MS = 6;
const CLOSING_MS = 34;

export class SimAccess implements VolumeAccess {
  readonly #world: AccessWorld;
  readonly #actor: Actor;

  constructor(world: AccessWorld, by: Actor) {
    this.#world = world;
    this.#actor = by;
  }

  async connect(name: string): Promise<Connection | undefined> {
    const { volume } = this.#world;
    await this.#takes(CONNECTING_MS);
    const holder = volume.isThere ? volume.sockets.get(name) : undefined;
    if (holder === undefined) return undefined;
    if (!holder.isRunning) throw REFUSED;
    const connection = new SimConnection();
    this.#world.onEnd(holder, () =>
      this.#world.agenda.in(this.#world.dice.short(CLOSING_MS), this.#actor, () => connection.onClose?.()),
    );
    return connection as unknown as Connection;
  }

  #takes(mostMs: number): Promise<void> {
    const { agenda, dice } = this.#world;
    return new Promise((resolve) => agenda.in(dice.short(mostMs), this.#actor, resolve));
  }
}

/** Nothing is ever sent. */
class SimConnection {
  readonly bytesRead = 0;
  onClose: (() => void) | undefined;

  on(): void {}

  once(_event: 'close', onClose: () => void): void {
    this.onClose = onClose;
  }

  destroy(): void {
    this.onClose = undefined;
  }
}
