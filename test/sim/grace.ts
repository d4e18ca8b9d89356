/** Init's own stops, as in `src/init/orders/orders.c` and the end of `alone.c`. CLOCK_MONOTONIC; infinity is never. */
import type { Order, Orders } from '../../src/core/orders.ts';
import type { Queued } from './container.ts';

/** Since a sound supervisor was heard, and since any was there. */
const PATIENCE_MS = 5_000;
const GAP_MS = 500;
/** What the supervisor gets to record an end at the very end of the grace period. */
const LATE_MS = 2_000;
/** Before the platform's KILL, or this part of the grace period. */
const AHEAD_MS = 300;
const AHEAD_PART = 0.25;

export interface Stopping {
  readonly orders: Orders;
  readonly queue: readonly Queued[];
  /** The end of a stop whose reason is that the mains have ended; undefined: there is none. */
  readonly mainsEndMs?: number | undefined;
}

/** `goneAtMs`: since when no supervisor acts. `lostAtMs`: since when init has not heard from a sound one. */
export type Lost = Stopping & { readonly goneAtMs: number; readonly lostAtMs: number; readonly hasFailed: boolean };

/** undefined: there is no such row. */
export function rowOf<When extends Order['when']>(
  { rows }: Orders,
  when: When,
): (Order & { readonly when: When }) | undefined {
  return rows.find((row): row is Order & { readonly when: When } => row.when === when);
}

/** The oldest stop request that is not acknowledged. */
export function oldestStop({ orders: { stopSignals }, queue }: Stopping): Queued | undefined {
  return queue.find(({ event, isOnce }) => isOnce || (event.type === 'signal' && stopSignals.includes(event.signal)));
}

/** When the command that lives gets its stop signal, and which. */
export function stopOf(stopping: Lost): {
  readonly atMs: number;
  readonly signal: number | undefined;
  readonly row: 'unheard' | 'lost';
} {
  const { goneAtMs, lostAtMs } = stopping;
  const [unheard, lost] = [rowOf(stopping.orders, 'unheard'), rowOf(stopping.orders, 'lost')];
  const stop = oldestStop(stopping);
  if (stop?.isOnce) return { atMs: NEVER, signal: undefined, row: 'lost' };
  const asked = stop?.event.type === 'signal' ? stop.event.signal : undefined;
  const waitsUntilMs = (stop?.atMs ?? NEVER) + (unheard?.ms ?? NEVER);
  const patience = (sinceMs: number, mostMs: number): number =>
    sinceMs === NEVER ? NEVER : sinceMs + Math.min(mostMs, Math.max(0, endsAtMs(stopping) - sinceMs) / 2);
  if (lost !== undefined) {
    const plannedMs = Math.max(lost.atMs, patience(lostAtMs, PATIENCE_MS), patience(goneAtMs, GAP_MS));
    const atMs = Math.min(endsAtMs(stopping), plannedMs);
    if (atMs < waitsUntilMs) return { atMs, signal: lost.signal ?? asked, row: 'lost' };
  }
  return { atMs: waitsUntilMs, signal: unheard?.signal ?? asked, row: 'unheard' };
}

/** When the grace period of the stop is over. */
export function endsAtMs(stopping: Stopping): number {
  const deadlineMs = rowOf(stopping.orders, 'deadline')?.atMs ?? NEVER;
  return Math.min(deadlineMs, requestEndsAtMs(stopping), stopping.mainsEndMs ?? NEVER);
}

/** The first row that is due, in the order of the table. */
export function killRowOf(stopping: Stopping, nowMs: number): 'grace' | 'mains-grace' | 'deadline' {
  const times = {
    grace: requestEndsAtMs(stopping),
    'mains-grace': stopping.mainsEndMs ?? NEVER,
    deadline: rowOf(stopping.orders, 'deadline')?.atMs ?? NEVER,
  };
  const due = stopping.orders.rows.find(({ when }) => when in times && times[when as keyof typeof times] <= nowMs);
  return (due?.when ?? 'deadline') as keyof typeof times;
}

function requestEndsAtMs(stopping: Stopping): number {
  return (oldestStop(stopping)?.atMs ?? NEVER) + (rowOf(stopping.orders, 'grace')?.ms ?? NEVER);
}

/** When init leaves, once the command has ended at `endedAtMs`. */
export function leavesAtMs(stopping: Lost, endedAtMs: number, areRootsGone: boolean): number {
  const sinceMs = stopping.hasFailed ? stopping.lostAtMs : stopping.goneAtMs;
  const endsAtMs = Math.min(rowOf(stopping.orders, 'leave')?.atMs ?? NEVER, requestEndsAtMs(stopping));
  // Processes that the command has left behind may use all of the grace period.
  const partMs = areRootsGone ? Math.floor((rowOf(stopping.orders, 'grace')?.ms ?? 0) * AHEAD_PART) : 0;
  const aheadMs = Math.min(Math.max(AHEAD_MS, partMs), Math.max(0, endsAtMs - endedAtMs) / 2);
  return Math.max(endsAtMs - aheadMs, sinceMs + LATE_MS);
}

const NEVER = Number.POSITIVE_INFINITY;
