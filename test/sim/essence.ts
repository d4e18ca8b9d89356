/** What makes two states equal for an exhaustive search: all that decides what comes next, with times from now. */
import type { State } from '../../src/core/state/state.ts';

/** An end that is due, without its absolute times. */
export function due([inMs, event]: readonly [number, object]): readonly unknown[] {
  return [inMs, Object.values(event).filter((value) => typeof value !== 'number')];
}

/** A time that is past for good counts as 0. */
export function essence(state: State, nowMs: number): unknown {
  const from = (atMs: number | undefined): number | undefined => (atMs === undefined ? undefined : atMs - nowMs);
  const ahead = (atMs: number): number => Math.max(0, atMs - nowMs);
  const { child, stop, climb, deadline, failing, hooks, vitals, tasks, chronicle } = state;
  return [
    state.phase,
    child.is === 'backoff'
      ? [ahead(child.untilMs), child.exit]
      : child.is === 'gone'
        ? [child.code, child.final]
        : child.is,
    stop && [stop.origin, stop.reason, stop.requests, stop.waitsFor, ahead(stop.earliestMs), ahead(stop.atMs + 1_000)],
    stop && [stop.alone, stop.asked && ahead(stop.asked.atMs + 1_000)],
    climb && [climb.why, climb.killed, from(climb.killAtMs)],
    deadline && [from(deadline.atMs), from(deadline.sinceMs)],
    failing && from(failing.killAtMs),
    hooks.preStop && from(hooks.preStop.sinceMs),
    Object.entries(vitals).map(([kind, { verdict, run, lastOk, nextAtMs }]) => [
      kind,
      verdict,
      run,
      lastOk,
      ahead(nextAtMs),
    ]),
    tasks.map(({ key, sinceMs, untilMs, toldMs }) => [key, from(sinceMs), from(untilMs), from(toldMs)]),
    state.backoffMs,
    chronicle.healthy !== undefined,
  ];
}
