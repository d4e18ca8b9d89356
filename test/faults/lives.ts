/** The lives of an application as its own log has them, each with its container. */
import type { LogEvent } from '../helpers/timeline.ts';
import type { MemberPlan } from './members.ts';
import { type ContainerLife, hitsOf, type RoundRecord } from './record.ts';

export interface ApplicationLife {
  readonly fromMs: number;
  /** What it said last. */
  readonly lastMs: number;
  readonly signals: readonly LogEvent[];
  /** As it said itself; undefined: it was killed before it could. */
  readonly said: number | undefined;
  /** The statuses that it may have had for the kernel. */
  readonly statuses: readonly number[];
  /** A strike explains that it did not end by itself. */
  readonly isStruck: boolean;
  readonly container: ContainerLife;
}

const SIGCONT = 18;
const SIGHUP = 1;
const SIGUSR2 = 12;
/** Signals that the strikes send themselves, and that follow each stop signal. */
const HARMLESS: ReadonlySet<number> = new Set([SIGCONT, SIGHUP, SIGUSR2]);

export function livesOf(record: RoundRecord, { name }: MemberPlan): ApplicationLife[] {
  const mine = record.events.filter((it) => it.name === name);
  const starts = mine.filter((it) => it.event === 'Starting');
  const containers = containersOf(record, name);
  return starts.map((start, index) => {
    const nextMs = starts[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    const own = mine.filter((it) => it.atMs >= start.atMs && it.atMs < nextMs && it.index >= start.index);
    const container = containers.find((it) => it.fromMs <= start.atMs && start.atMs <= it.untilMs);
    if (container === undefined) throw new Error(`${name} started at ${start.atMs} outside of all of its containers`);
    const exiting = own.find((it) => it.event === 'Exiting');
    const said = exiting === undefined ? undefined : Number(exiting.detail);
    const endMs = Math.min(nextMs, container.untilMs);
    const kills = hitsOf(record, ['kill-application', 'oom-application'], name).filter(
      (it) => it.fromMs <= endMs && it.untilMs >= start.atMs,
    );
    return {
      fromMs: start.atMs,
      lastMs: own.at(-1)?.atMs ?? start.atMs,
      signals: own.filter((it) => it.event === 'Signal'),
      said,
      // A strike may come between its last event and its end.
      statuses: [...(said === undefined ? [137] : [said]), ...(kills.length > 0 ? [137, 139] : [])],
      isStruck: kills.length > 0,
      container,
    };
  });
}

/** Those that ask it to stop: all but what strikes send and what only wakes it. */
export function stopSignalsOf({ signals }: ApplicationLife): LogEvent[] {
  return signals.filter((it) => !HARMLESS.has(Number(it.detail)));
}

export function containersOf({ lives }: RoundRecord, name: string): ContainerLife[] {
  return lives.filter((it) => it.member === name).toSorted((a, b) => a.fromMs - b.fromMs);
}
