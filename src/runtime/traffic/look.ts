/**
 * One look at the tables of sockets after the other: which connections are new since the last one, and whether they
 * count.
 *
 * A connection is known by its four numbers, seen from the side that has accepted it. One from a neighbour in the same
 * namespace is in the tables twice, and stays for a minute on the side that has closed it first (TIME_WAIT), so that
 * may be the client's.
 */
import type { Made } from '../probes/made.ts';
import { Allowance } from './allowance.ts';
import { countSockets } from './counter.ts';
import { Networks, ownNetworks } from './networks.ts';
import { Pace } from './pace.ts';
import {
  CLOSE_WAIT,
  type Client,
  ESTABLISHED,
  FIN_WAIT_1,
  LISTEN,
  type Line,
  readTable,
  SYN_RECEIVED,
  TIME_WAIT,
} from './table.ts';

export interface LookOptions {
  /** Empty: all that are listened on. */
  readonly ports: readonly number[];
  readonly ignore: readonly string[];
  readonly neighbours: boolean;
  /** Ports that are sexton's own: connections to them need no drain. */
  readonly own?: readonly number[];
  /** How long there will be looks. */
  readonly maxMs: number;
  /** Local ports of connections that we make ourselves. */
  readonly made: Made;
  /** CLOCK_MONOTONIC milliseconds. */
  readonly now: () => number;
}

/** What was seen, from the sight before it on. */
export interface Sight {
  /** New connections that count. */
  fresh: number;
  /** New ones that do not. */
  ignored: number;
  /** Those in the tables that count and are not over. */
  open: number;
  lines: number;
}

export class Looks {
  /** The pace of the connections that count. */
  readonly pace = new Pace();
  readonly #ports: ReadonlySet<number>;
  readonly #ownPorts: ReadonlySet<number>;
  readonly #own = new Networks(ownNetworks());
  readonly #ignored: Networks;
  readonly #countsNeighbours: boolean;
  readonly #listening = new Set<number>();
  readonly #allowance: Allowance;
  readonly #now: () => number;
  /** Local ports of connections that we have made ourselves and that were not seen yet. */
  readonly #made: Set<number>;
  readonly #allMade: ReadonlySet<number>;
  /** Of those that were taken for seen: word of them may come late. */
  readonly #taken = new Set<number>();
  /** Of neighbours, any of which may turn out to be ourselves. */
  readonly #neighbours = new Set<number>();
  #known = new Set<number>();
  #byAddress = 0;

  constructor({ ports, ignore, neighbours, own = [], maxMs, made, now }: LookOptions) {
    this.#made = made.unseen;
    this.#allMade = made.all;
    this.#countsNeighbours = neighbours;
    this.#now = now;
    this.#allowance = new Allowance(maxMs, now());
    this.#ports = new Set(ports);
    this.#ownPorts = new Set(own);
    this.#ignored = new Networks(ignore);
  }

  /** undefined: with this one, so many would cost too much. */
  async look(inHand = 1): Promise<Sight | undefined> {
    const lines = countSockets();
    if (lines === undefined || !this.#allowance.has(inHand, lines, this.#now())) return undefined;
    const before = process.cpuUsage();
    // The turn in which we hear of our own connections.
    await new Promise((resolve) => setImmediate(resolve));
    const sight = await this.#lookNow();
    const { user, system } = process.cpuUsage(before);
    this.#allowance.spend((user + system) / 1_000, sight.lines);
    return sight;
  }

  async #lookNow(): Promise<Sight> {
    const found = new Set<number>();
    const sight = { fresh: 0, ignored: 0, open: 0, lines: 0 };
    await readTable((line) => {
      sight.lines += 1;
      if (line.state === LISTEN) this.#listening.add(line.localPort);
      const key = this.#take(line, sight, found);
      if (key !== undefined) found.add(key);
    });
    this.#known = found;
    return sight;
  }

  /** One that has gone; it may stay in the tables for a while. */
  takeDeparted(line: Line, sight: Sight): void {
    const key = this.#take(line, sight, this.#known);
    if (key !== undefined) this.#known.add(key);
  }

  /** Takes so many of our own connections for seen, or as many as there were; how many. */
  takeOwn(most: number): number {
    for (const port of this.#made) {
      if (!this.#neighbours.delete(port)) continue;
      this.#made.delete(port);
      this.#byAddress -= 1;
    }
    const ports = [...this.#made].slice(0, most);
    for (const port of ports) {
      this.#made.delete(port);
      this.#taken.add(port);
    }
    return ports.length;
  }

  forgetOwn(): void {
    for (const ports of [this.#made, this.#taken, this.#neighbours]) ports.clear();
  }

  /** Where connections count, as far as was seen. */
  ports(): readonly number[] {
    return [...this.#listening].filter((port) => this.#isWanted(port));
  }

  counts(client: Client): boolean {
    if (!this.#isWanted(client.localPort) || this.#ignored.has(client)) return false;
    return !this.#own.has(client) || (this.#countsNeighbours && !this.#allMade.has(client.remotePort));
  }

  /** So many came to where connections count, from others than ourselves, and were ignored for their address. */
  get byAddress(): number {
    return this.#byAddress;
  }

  /** Counts it, unless it is known; what it is known by, if it is a connection that was accepted here. */
  #take(line: Line, sight: Sight, found: ReadonlySet<number>): number | undefined {
    const side = this.#sideOf(line);
    if (side === undefined) return undefined;
    const client = side === 'server' ? line : turned(line);
    const counts = this.counts(client) && (this.#countsNeighbours || !isSame(line.local, line.remote));
    if (counts && side === 'server' && OPEN.has(line.state)) sight.open += 1;
    const key = keyOf(line, side);
    if (found.has(key) || this.#known.has(key)) return key;
    if (!counts) this.#ignore(client, sight);
    else {
      sight.fresh += 1;
      this.pace.take(client, this.#now());
    }
    return key;
  }

  #ignore({ remotePort, localPort }: Client, sight: Sight): void {
    if (this.#taken.delete(remotePort)) return;
    sight.ignored += 1;
    if (this.#made.delete(remotePort)) return;
    // It may be seen before we hear that it was made.
    this.#neighbours.add(remotePort);
    if (this.#isWanted(localPort)) this.#byAddress += 1;
  }

  /** Whose end of an accepted connection it is; undefined: it is none. */
  #sideOf(line: Line): 'server' | 'client' | undefined {
    // A handshake that is not over is not counted yet.
    if (line.state === LISTEN || line.state === SYN_RECEIVED) return undefined;
    if (this.#listening.has(line.localPort)) return 'server';
    // Before TIME_WAIT the client's side does not prove that the server has accepted it, and the server's side tells.
    if (line.state !== TIME_WAIT || !this.#listening.has(line.remotePort)) return undefined;
    return this.#isNeighbour(line) ? 'client' : undefined;
  }

  #isWanted(port: number): boolean {
    return (this.#ports.size === 0 || this.#ports.has(port)) && !this.#ownPorts.has(port);
  }

  #isNeighbour(line: Line): boolean {
    return isSame(line.local, line.remote) || this.#own.has(line);
  }
}

/** The same connection, seen from the other end. */
function turned({ isV4, local, localPort, remotePort }: Line): Client {
  return { isV4, remote: local, remotePort: localPort, localPort: remotePort };
}

/**
 * What may still carry something: also what the client has closed on its side, and what is to be delivered after our
 * close.
 */
const OPEN: ReadonlySet<number> = new Set([ESTABLISHED, CLOSE_WAIT, FIN_WAIT_1]);

function isSame(one: Uint32Array, other: Uint32Array): boolean {
  return one[3] === other[3] && one[2] === other[2] && one[1] === other[1] && one[0] === other[0];
}

/** 53 bits of a hash: of 100,000 connections two are the same once in a million looks. */
function keyOf(line: Line, side: 'server' | 'client'): number {
  const isServer = side === 'server';
  const [server, client] = isServer ? [line.local, line.remote] : [line.remote, line.local];
  const [serverPort, clientPort] = isServer ? [line.localPort, line.remotePort] : [line.remotePort, line.localPort];
  let [one, two] = [0x9e37_79b9, 0x85eb_ca6b];
  const add = (word: number): void => {
    one = Math.imul(one ^ word, 0xcc9e_2d51);
    one ^= one >>> 15;
    two = Math.imul(two ^ word, 0x1b87_3593);
    two ^= two >>> 13;
  };
  add((serverPort << 16) | clientPort);
  for (let index = line.isV4 ? 3 : 0; index < 4; index += 1) {
    add(server[index] ?? 0);
    add(client[index] ?? 0);
  }
  return (one >>> 0) * 0x20_0000 + (two >>> 11);
}
