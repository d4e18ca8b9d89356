/**
 * Remembers which connections are known, so that the new ones can be told, and says which of them count.
 */
import type { AdaptiveDrain } from '../../core/config.ts';
import type { Connection } from './informant.ts';
import { Networks, ownNetworks } from './networks.ts';

export interface Found {
  /** New connections that count. */
  readonly fresh: readonly Connection[];
  /** How many new ones do not. */
  readonly ignored: number;
  /** How many of those came to where connections count, from others than ourselves: only their address speaks against. */
  readonly byAddress: number;
  /** How long ago a known connection that counts received data, milliseconds; infinite: none has. */
  readonly usedAgoMs: number;
}

export class Connections {
  readonly #ports: ReadonlySet<number>;
  readonly #ownPorts: ReadonlySet<number>;
  readonly #ownClients: ReadonlySet<number>;
  readonly #countsNeighbours: boolean;
  readonly #ignored: Networks;
  readonly #own = new Networks(ownNetworks());
  #known = new Set<string>();
  #open = new Set<string>();

  /**
   * `ownPorts`: where sexton itself answers, so that connections need no drain. `ownClients`: the local ports of
   * connections that this process makes.
   */
  constructor(drain: AdaptiveDrain, ownPorts: readonly number[], ownClients: ReadonlySet<number>) {
    this.#ports = new Set(drain.ports);
    this.#ownPorts = new Set(ownPorts);
    this.#ownClients = ownClients;
    this.#countsNeighbours = drain.neighbours;
    this.#ignored = new Networks(drain.ignore);
  }

  /** How many that count are open. */
  get open(): number {
    return this.#open.size;
  }

  /** `isAll`: these are all that are open. */
  take(connections: readonly Connection[], isAll: boolean): Found {
    const before = this.#known;
    if (isAll) [this.#known, this.#open] = [new Set(), new Set()];
    const fresh: Connection[] = [];
    let [ignored, byAddress, usedAgoMs] = [0, 0, Number.POSITIVE_INFINITY];
    for (const connection of connections) {
      const { cookie, isClosed, localPort, remotePort, ageMs } = connection;
      const counts = this.#counts(connection);
      const isNew = !before.has(cookie) && !this.#known.has(cookie);
      this.#remember(connection, counts);
      if (isNew && counts) fresh.push(connection);
      if (isNew && !counts) ignored += 1;
      if (isNew && !counts && this.#isWanted(localPort) && !this.#ownClients.has(remotePort)) byAddress += 1;
      if (!isNew && counts && !isClosed) usedAgoMs = Math.min(usedAgoMs, ageMs);
    }
    return { fresh, ignored, byAddress, usedAgoMs };
  }

  #remember({ cookie, isClosed, state }: Connection, counts: boolean): void {
    this.#open.delete(cookie);
    if (isClosed) this.#known.delete(cookie);
    else this.#known.add(cookie);
    if (!isClosed && counts && OPEN.has(state)) this.#open.add(cookie);
  }

  #counts({ localPort, remotePort, address }: Connection): boolean {
    if (!this.#isWanted(localPort) || this.#ignored.has(address)) return false;
    return !this.#own.has(address) || (this.#countsNeighbours && !this.#ownClients.has(remotePort));
  }

  #isWanted(port: number): boolean {
    return (this.#ports.size === 0 || this.#ports.has(port)) && !this.#ownPorts.has(port);
  }
}

/**
 * ESTABLISHED, FIN_WAIT1 and CLOSE_WAIT still carry something: what the client has closed on its side, and what is to
 * be delivered after our close.
 */
const OPEN: ReadonlySet<number> = new Set([1, 4, 8]);
