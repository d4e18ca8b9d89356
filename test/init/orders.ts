/** The operation `orders` as fields, for tests that speak the protocol. Each one replaces all of the one before it. */
import { constants } from 'node:os';

const { SIGTERM, SIGINT } = constants.signals;
type Pairs = Readonly<Record<number, number>>;

export interface OrderRows {
  readonly id?: number;
  readonly stops?: readonly number[];
  readonly each?: Pairs;
  readonly first?: Pairs;
  /** Milliseconds, and the signal; 0: the one that has come. */
  readonly unheard?: readonly [number, number];
  /** CLOCK_MONOTONIC milliseconds, and the signal. */
  readonly lost?: readonly [number, number];
  readonly grace?: number;
  readonly mainsGrace?: number;
  readonly deadline?: number;
  readonly leave?: number;
}

export function orders(rows: OrderRows): readonly (string | number)[] {
  const { id = 1, stops = [SIGTERM, SIGINT], each, first, unheard, lost, grace, mainsGrace, deadline, leave } = rows;
  const all = [
    ...(each === undefined ? [] : [['each', ...pairs(each)]]),
    ...(first === undefined ? [] : [['first', ...pairs(first)]]),
    ...(unheard === undefined ? [] : [['unheard', ...unheard]]),
    ...(lost === undefined ? [] : [['lost', ...lost]]),
    ...(grace === undefined ? [] : [['grace', grace]]),
    ...(mainsGrace === undefined ? [] : [['mains-grace', mainsGrace]]),
    ...(deadline === undefined ? [] : [['deadline', deadline]]),
    ...(leave === undefined ? [] : [['leave', leave]]),
  ];
  return ['orders', id, stops.length, ...stops, all.length, ...all.flat()];
}

function pairs(table: Pairs): readonly number[] {
  const entries = Object.entries(table);
  return [entries.length, ...entries.flatMap(([from, to]) => [Number(from), to])];
}
