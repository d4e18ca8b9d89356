/** Remembers which connections are known, so that new ones stand out, and says which of them count. */
import type { AdaptiveDrain } from '../../core/config.ts';
import type { Connection } from './informant.ts';
import { Networks, ownNetworks } from './networks.ts';

export interface Found {
  readonly fresh: readonly Connection[];
  readonly ignored: number;
  /** How many of those do not count for their address alone, and are not our own. */
  readonly byAddress: number;
  /** How long ago a known connection that counts received data, milliseconds; infinite: none has. */
  readonly usedAgoMs: number;
}

export class Connections {
  readonly #drain: AdaptiveDrain;
  readonly #ownPorts: readonly number[];
  readonly #ownClients: ReadonlySet<number>;
  readonly #own = new Networks(ownNetworks());
  readonly #ignored: Networks;
  #known = new Set<string>();
  #open = new Set<string>();

  /** `ownPorts`: where sexton itself answers. `ownClients`: the local ports of connections that this process makes. */
  constructor(drain: AdaptiveDrain, ownPorts: readonly number[], ownClients: ReadonlySet<number>) {
    this.#drain = drain;
    this.#ownPorts = ownPorts;
    this.#ownClients = ownClients;
    this.#ignored = new Networks(drain.ignore);
  }

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
      const { cookie, state, ageMs } = connection;
      const isNew = !before.has(cookie) && !this.#known.has(cookie);
      const why = this.#whyIgnored(connection);
      this.#known[state === CLOSED ? 'delete' : 'add'](cookie);
      this.#open[why === undefined && OPEN.has(state) ? 'add' : 'delete'](cookie);
      if (isNew && why === undefined) fresh.push(connection);
      if (isNew && why !== undefined) ignored += 1;
      if (isNew && why === 'address') byAddress += 1;
      if (!isNew && why === undefined && state !== CLOSED) usedAgoMs = Math.min(usedAgoMs, ageMs);
    }
    return { fresh, ignored, byAddress, usedAgoMs };
  }

  /** undefined: it counts. */
  #whyIgnored({ localPort, remotePort, address }: Connection): 'port' | 'address' | 'own' | undefined {
    const { ports, neighbours } = this.#drain;
    if ((ports.length > 0 && !ports.includes(localPort)) || this.#ownPorts.includes(localPort)) return 'port';
    const isNeighbour = this.#own.has(address);
    if (isNeighbour && this.#ownClients.has(remotePort)) return 'own';
    return this.#ignored.has(address) || (isNeighbour && !neighbours) ? 'address' : undefined;
  }
}

const CLOSED = 0;
/** ESTABLISHED, FIN_WAIT1 and CLOSE_WAIT: a connection that may still carry something. */
const OPEN: ReadonlySet<number> = new Set([1, 4, 8]);
