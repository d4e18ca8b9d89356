/** The operation `orders` as fields, for tests that speak the protocol. Each one replaces all of the one before it. */
import { constants } from 'node:os';
import type { EndRow } from '../../src/core/end-rows.ts';
import type { MainsRow } from '../../src/core/mains-row.ts';

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
  readonly leavesWithZero?: boolean;
  readonly mains?: MainsRow;
  readonly ends?: readonly EndRow[];
}

export function orders(rows: OrderRows): readonly (string | number)[] {
  const { id = 1, stops = [SIGTERM, SIGINT], each, first, unheard, lost, grace, mainsGrace, deadline, leave } = rows;
  const { mains, ends = [], leavesWithZero = false } = rows;
  const all = [
    ...(each === undefined ? [] : [['each', ...pairs(each)]]),
    ...(first === undefined ? [] : [['first', ...pairs(first)]]),
    ...(unheard === undefined ? [] : [['unheard', ...unheard]]),
    ...(lost === undefined ? [] : [['lost', ...lost]]),
    ...(grace === undefined ? [] : [['grace', grace]]),
    ...(mainsGrace === undefined ? [] : [['mains-grace', mainsGrace]]),
    ...(deadline === undefined ? [] : [['deadline', deadline]]),
    ...(leave === undefined ? [] : [['leave', leave, leavesWithZero ? 1 : 0]]),
    ...(mains === undefined ? [] : [mainsFields(mains)]),
    ...ends.map(endFields),
  ];
  return ['orders', id, stops.length, ...stops, all.length, ...all.flat()];
}

function pairs(table: Pairs): readonly number[] {
  const entries = Object.entries(table);
  return [entries.length, ...entries.flatMap(([from, to]) => [Number(from), to])];
}

function mainsFields({ needed, countsLost, holds, lingerMs, signal, mains }: MainsRow): readonly (string | number)[] {
  const named = mains.flatMap(({ hostId, path }) => [hostId, path]);
  return ['mains', needed, countsLost ? 1 : 0, holds ? 1 : 0, lingerMs, signal, mains.length, ...named];
}

function endFields(row: EndRow): readonly (string | number)[] {
  const { prelude, patienceMs, from, to, final, code, signal, reason, stopReason } = row;
  const leaves = code === 'same' ? 256 : (code ?? 257);
  return ['end', prelude, patienceMs, from, to, final ? 1 : 0, leaves, signal, reason, stopReason];
}
