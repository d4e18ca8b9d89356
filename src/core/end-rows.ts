/**
 * The rows `end` of the orders: ends of the command that need no decision. The host then closes the open texts and, where
 * a row has an exit code, leaves. Where a rule, a quit call or another life follows from an end, it has no row.
 */
import type { MemberConfig } from './config.ts';
import {
  containerCodeOf,
  deathReasonOf,
  makesQuitCalls,
  restartsPodOn,
  type Stopping,
  stopReasonOf,
  wantsAnotherLife,
} from './ends.ts';
import { type ChildExit, SIGNAL_EXIT, statusOf } from './exit.ts';
import type { DeathReason } from './format/tombstone.ts';
import { ladderOf } from './ladder.ts';
import { isUndisturbed, type MainsRow } from './mains-row.ts';
import { floorWaitMs } from './pod/deadline.ts';
import { isFinalEnd } from './restart.ts';
import { SIGTERM, signalName } from './signals.ts';
import type { Event } from './state/events.ts';
import { MAINS_FINISHED, type State, type Stop } from './state/state.ts';

/**
 * The events before the end, one letter each. `f`: the host forwards the stop request at once. `s`: the request is
 * held. `t`: the host sends the stop signal because the mains have ended.
 */
export type Prelude = '' | 'f' | 'st' | 't';

/** The ends `from` to `to`: 0 to 255 are exit codes, `SIGNAL_EXIT` + n is the end by signal n. */
export interface EndRow {
  readonly when: 'end';
  readonly prelude: Prelude;
  /** From the first event of the prelude to the start of a supervisor, if the command lives on; 0: no prelude. */
  readonly patienceMs: number;
  readonly from: number;
  readonly to: number;
  /** No other life follows. */
  readonly final: boolean;
  /** The exit code of the container; `same`: the command's; undefined: the supervisor has something left to do. */
  readonly code: number | 'same' | undefined;
  /** The name of the signal that has ended it; empty: it has exited. */
  readonly signal: string;
  readonly reason: DeathReason;
  /** Empty: there is no prelude. */
  readonly stopReason: string;
}

/** The events of one end that leaves no root. `how`: as in `EndRow`. */
export function endOf(
  { id, pid }: { readonly id: number; readonly pid: number },
  { at, how }: { readonly at: Event['at']; readonly how: number },
  isWritten = false,
): readonly Event[] {
  return [
    { type: 'exited', at, id, pid, ...exitOf(how), core: false, oom: false },
    { type: 'rootsGone', at, id, isWritten },
  ];
}

function exitOf(how: number): ChildExit {
  return how > SIGNAL_EXIT ? { code: undefined, signal: how - SIGNAL_EXIT } : { code: how, signal: undefined };
}

/** Facts that limit which ends the host may record by itself. */
export interface Closing {
  /** The next tick; undefined: none is due. */
  readonly untilMs: number | undefined;
  /** An end requires something that the host cannot do. */
  readonly needsSupervisor: boolean;
  /** The signal that the first stop request is passed on as; undefined: it waits for a supervisor. */
  readonly firstAs: number | undefined;
  readonly mains: MainsRow | undefined;
}

export function endRows(config: MemberConfig, state: State, closing: Closing): readonly EndRow[] {
  if (!isUndisturbed(state)) return [];
  const own = [EXIT_0, FAILURES].flatMap((range) => rowOf(config, state, NO_STOP, range) ?? []);
  if (closing.needsSupervisor) return own.map((row) => ({ ...row, code: undefined }));
  const stopped = stopsOf(config, state, closing).flatMap((stop) => {
    const bySignal = { from: SIGNAL_EXIT + stop.as, to: SIGNAL_EXIT + stop.as };
    return [EXIT_0, FAILURES, bySignal].flatMap((range) => rowOf(config, state, stop, range) ?? []);
  });
  return [...own, ...stopped];
}

type Range = Pick<EndRow, 'from' | 'to'>;
const EXIT_0: Range = { from: 0, to: 0 };
const FAILURES: Range = { from: 1, to: 255 };

/** undefined: these ends are not all alike, or something has to be decided or done about them. */
function rowOf(
  config: MemberConfig,
  state: State,
  { prelude, patienceMs }: Pick<PlannedStop, 'prelude' | 'patienceMs'>,
  range: Range,
): EndRow | undefined {
  const { from, to } = range;
  if (to > from && namesCodes(config)) return undefined;
  const exit = exitOf(from);
  const status = statusOf(exit);
  if (prelude === '' && (restartsPodOn(config, state, status) || wantsAnotherLife(config, state, status)))
    return undefined;
  const stopping = STOPPING[prelude];
  const reason = deathReasonOf(stopping, { exit, sinceMs: 0, oom: false });
  const code = containerCodeOf(config, stopping, { status, reason });
  const final = isFinalEnd(config, code);
  if (makesQuitCalls(config, final)) return undefined;
  const isSame = code === from;
  const signal = exit.signal === undefined ? '' : signalName(exit.signal);
  const stopReason = stopping.stop?.reason ?? '';
  return {
    when: 'end',
    prelude,
    patienceMs,
    ...range,
    final,
    code: isSame ? 'same' : code,
    signal,
    reason,
    stopReason,
  };
}

/** The stop that follows from each prelude. */
const STOPPING: Readonly<Record<Prelude, Stopping>> = {
  '': { stop: undefined, climb: undefined },
  f: stopBy('platform', stopReasonOf(SIGTERM)),
  st: stopBy('platform', stopReasonOf(SIGTERM)),
  t: stopBy('self', MAINS_FINISHED),
};

function stopBy(origin: Stop['origin'], reason: string): Stopping {
  return { stop: { origin, reason, atMs: 0 }, climb: { why: 'stop', killed: false } };
}

/** Whether single codes matter, so that not all failures are alike. */
function namesCodes({ restartRules, restartPodOn, exitCode }: MemberConfig): boolean {
  return restartRules.length > 0 || restartPodOn.codes.length > 0 || exitCode.kind === 'map';
}

/** A stop that needs no supervisor. `as`: the signal that the command gets. */
interface PlannedStop {
  readonly prelude: Prelude;
  readonly as: number;
  readonly patienceMs: number;
}

const NO_STOP = { prelude: '', patienceMs: 0 } as const;

function stopsOf(config: MemberConfig, state: State, { untilMs, firstAs, mains }: Closing): readonly PlannedStop[] {
  // A due tick may change what the request leads to. A lone stop is recognized only by looking at the others.
  if (untilMs !== undefined || config.platformPreStopMs !== undefined) return [];
  const patienceMs = patienceOf(config, PATIENCE_MS[config.role]);
  const stops: PlannedStop[] = [];
  if (firstAs !== undefined) stops.push({ prelude: 'f', as: firstAs, patienceMs });
  if (mains?.holds === true)
    stops.push({ prelude: 'st', as: mains.signal, patienceMs: holdingPatienceOf(config, state) });
  if (mains !== undefined && mains.needed > 0) stops.push({ prelude: 't', as: mains.signal, patienceMs });
  return stops.filter((stop) => stop.patienceMs >= LEAST_PATIENCE_MS);
}

/** A main must soon publish its stop: others with `--hold 2s` wait for it, and the platform may leave less time. */
const PATIENCE_MS = { main: 1_000, sidecar: 5_000 } as const;
/** On a busy node the mains of a sidecar may need long, and a supervisor that only holds would take CPU from them. */
const HOLDING_PATIENCE_MS = 15_000;
const LEAST_PATIENCE_MS = 100;

/** Half of the grace period at most, and no longer than the first rung. */
function patienceOf(config: MemberConfig, mostMs: number): number {
  const [{ forMs = Number.POSITIVE_INFINITY }] = ladderOf(config, SIGTERM);
  const graceMs = config.gracePeriodMs ?? Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(mostMs, graceMs / 2, forMs));
}

/**
 * A hold also ends at the grace floor, and by the deadline of another member that is being stopped. Without a grace
 * period of its own, the member soon has to look for such a deadline.
 */
function holdingPatienceOf(config: MemberConfig, { peers }: State): number {
  const isHurried = Object.values(peers ?? {}).some(
    ({ tombstone: { Deadline, Died } }) => Deadline !== undefined && Died === undefined,
  );
  if (isHurried) return 0;
  const mostMs = config.gracePeriodMs === undefined ? PATIENCE_MS.sidecar : HOLDING_PATIENCE_MS;
  return patienceOf(config, Math.min(mostMs, floorWaitMs(config) ?? mostMs));
}
