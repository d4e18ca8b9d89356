/**
 * Orders: the only list of what the host does by itself, while the supervisor sleeps, starts, hangs or cannot be
 * started. Each commit that changes them replaces all of them. A command gets its stop signal before any KILL. The host
 * waits for fixed times only, because it cannot run probes. `sexton explain` prints the rows.
 */
import type { MemberConfig } from './config.ts';
import { type Closing, type EndRow, endRows } from './end-rows.ts';
import { SIGNAL_EXIT } from './exit.ts';
import { seconds } from './format/evidence.ts';
import { forwardTable, isNeverPassedOn, isStopRequest, ladderOf, stopTable } from './ladder.ts';
import { longestDrainMs } from './lifecycle/stop/drain.ts';
import { type MainsRow, mainsRow } from './mains-row.ts';
import { floorTurnMs, floorWaitMs, graceOf } from './pod/deadline.ts';
import { blockersOf } from './pod/order.ts';
import { MAX, SIGTERM, signalName } from './signals.ts';
import { MAINS_FINISHED, type State, type Stop } from './state/state.ts';

export type Passed = Readonly<Record<number, number>>;

export type Order =
  /** Pass on each of these signals as another one. Signals without a row are reported. */
  | { readonly when: 'each'; readonly table: Passed }
  /** Pass on the first of these signals, unless a stop request waits. It takes precedence over `each`. */
  | { readonly when: 'first'; readonly table: Passed }
  /** Send the stop signal when no supervisor has acknowledged a stop request for so long. */
  | { readonly when: 'unheard'; readonly ms: number; readonly signal: number | undefined }
  /** Send the stop signal at that time, CLOCK_MONOTONIC, unless a supervisor acts. */
  | { readonly when: 'lost'; readonly atMs: number; readonly signal: number | undefined }
  /** KILL when no supervisor has acknowledged a stop request for so long. */
  | { readonly when: 'grace'; readonly ms: number }
  /** KILL so long after the host has stopped the child with its mains. */
  | { readonly when: 'mains-grace'; readonly ms: number }
  /** KILL at that time. */
  | { readonly when: 'deadline'; readonly atMs: number }
  /**
   * The platform KILLs the container at `atMs`. If the child has ended and no supervisor acts, leave a quarter of the
   * declared grace period earlier, with the child's exit code. `isZero`: with 0, unless KILL has ended the child.
   */
  | { readonly when: 'leave'; readonly atMs: number; readonly isZero: boolean }
  /** Send the stop signal when these mains have ended. */
  | MainsRow
  /** Close the open texts when the child has ended like this; leave if there is an exit code. */
  | EndRow;

export interface Orders {
  /** The child of the tables. */
  readonly id: number;
  /** The signals that are stop requests. */
  readonly stopSignals: readonly number[];
  readonly rows: readonly Order[];
}

/** Facts about the host that are not in the state. */
export interface HostFacts {
  /** The socket of a member if the host holds a connection to it. */
  readonly socketOf: (name: string) => string | undefined;
  /** The host has the open texts of this state; undefined: it has none. */
  readonly texts?: Pick<Closing, 'untilMs' | 'needsSupervisor'> | undefined;
}

const NOTHING_HELD: HostFacts = { socketOf: () => undefined };

export function ordersOf(config: MemberConfig, state: State, { socketOf, texts } = NOTHING_HELD): Orders {
  const { child, births } = state;
  const id = 'id' in child ? child.id : Math.max(1, births);
  const first = isFreeToStop(config, state) ? stopTable(config) : undefined;
  const mains = mainsRow(config, state, socketOf);
  const rows: Order[] = [
    { when: 'each', table: forwardTable(config) },
    ...(first === undefined ? [] : [{ when: 'first', table: first } as const]),
    ...stopRows(config, state),
    ...(mains === undefined ? [] : [mains]),
    ...killRows(config, state),
    ...(texts === undefined ? [] : endRows(config, state, { ...texts, mains, firstAs: first?.[SIGTERM] })),
  ];
  const stopSignals = config.stopSignals.filter((signal) => isStopRequest(config, signal));
  return { id, stopSignals, rows };
}

/**
 * A main without a drain, a pre-stop hook or a member that started after it has nothing to wait for. Its stop then needs
 * no supervisor, as with a plain init.
 */
function isFreeToStop(config: MemberConfig, state: State): boolean {
  const { child, stop, climb, peers } = state;
  if (config.role !== 'main' || longestDrainMs(config) > 0 || config.preStop !== undefined) return false;
  if (child.is !== 'alive' || stop !== undefined || climb !== undefined || peers === undefined) return false;
  return blockersOf(config, state).names.length === 0;
}

/** How long a running supervisor may take to acknowledge a stop request, also on a busy node. */
const PATIENCE_MS = 5_000;
/** Assumed without a declared grace period: twice the 10 s of `docker stop`. */
const ASSUMED_MS = 20_000;

/** The stop signal in the place of a supervisor; none where the ladder has begun. */
function stopRows(config: MemberConfig, { stop, climb, deadline }: State): readonly Order[] {
  if (climb !== undefined) return [];
  const [{ signal: first }] = ladderOf(config, stop?.signal ?? SIGTERM);
  const patienceMs = Math.max(PATIENCE_MS, ownWaitMs(config));
  const mostMs = Math.min(
    mostOf(config, config.gracePeriodMs ?? ASSUMED_MS),
    patienceMs,
    floorWaitMs(config) ?? patienceMs,
  );
  // Also counts for a further request, whose own grace period may be shorter than that of the stop under way.
  const ms = Math.max(1, Math.floor(mostMs));
  if (stop === undefined) {
    const signal = config.ladder === undefined && first === SIGTERM ? undefined : first;
    return [{ when: 'unheard', ms, signal }];
  }
  const budgetMs = deadline?.kills === true ? deadline.atMs - stop.atMs : ASSUMED_MS;
  const ownMs = stop.atMs + Math.min(mostOf(config, budgetMs), ownWaitMs(config, stop));
  const atMs = Math.max(1, Math.floor(Math.min(ownMs, floorTurnMs(config, stop) ?? ownMs)));
  return [
    { when: 'unheard', ms, signal: first },
    { when: 'lost', atMs, signal: first },
  ];
}

/** A sidecar gives its mains time to end before it. */
function mostOf({ role }: MemberConfig, budgetMs: number): number {
  return budgetMs * (role === 'sidecar' ? 0.75 : 0.5);
}

/** How long the member wants to wait, as far as that is known without looking at anything. */
function ownWaitMs({ role, hold, drain, idleWhen, lingerMs }: MemberConfig, stop?: Stop): number {
  if (stop?.reason === MAINS_FINISHED) return lingerMs;
  if (role === 'sidecar' && hold.kind !== 'never') return hold.kind === 'for' ? hold.ms : Number.POSITIVE_INFINITY;
  if (drain === undefined) return 0;
  if (drain.kind === 'fixed') return drain.ms;
  // The host cannot ask: as long as it is unknown whether the application is idle, it is busy.
  return idleWhen === undefined ? drain.minMs : drain.maxMs;
}

/** The platform never KILLs in a stop that sexton decided on, so the host lets a supervisor that is late KILL first. */
const BEHIND_MS = 1_000;

/** The ends of budgets. The supervisor KILLs a little before them. */
function killRows(config: MemberConfig, { deadline, climb, stop }: State): readonly Order[] {
  const { gracePeriodMs: graceMs, role, exitCode } = config;
  const rows: Order[] = [];
  if (graceMs !== undefined) rows.push({ when: 'grace', ms: graceMs });
  // The platform KILLs the container in the end if it asked for the stop. Without a grace period init leaves it to that.
  if (role === 'sidecar' && (graceMs !== undefined || stop?.origin !== 'platform'))
    rows.push({ when: 'mains-grace', ms: graceOf(config) + BEHIND_MS });
  const ownMs = climb?.killed === false && climb.killAtMs !== undefined ? climb.killAtMs + BEHIND_MS : undefined;
  const declaredMs = deadline?.kills === true ? deadline.atMs : undefined;
  const killMs = Math.min(declaredMs ?? Number.POSITIVE_INFINITY, ownMs ?? Number.POSITIVE_INFINITY);
  if (killMs < Number.POSITIVE_INFINITY) rows.push({ when: 'deadline', atMs: killMs });
  // The platform KILLs no container that it has not asked to stop.
  if (declaredMs !== undefined && stop !== undefined && stop.requests > 0)
    rows.push({
      when: 'leave',
      atMs: declaredMs,
      isZero: exitCode.kind === 'zero-when-stopped' && stop?.alone !== true,
    });
  return rows;
}

/** The rows in words, for `sexton explain` and the debug log. Times of the clock are given from `nowMs` on. */
export function wordsOf({ rows }: Orders, nowMs: number): readonly string[] {
  const signal = (number: number | undefined): string => (number === undefined ? 'it' : signalName(number).slice(3));
  const inTime = (atMs: number): string => `in ${seconds(Math.max(0, Math.round(atMs - nowMs)))}`;
  // As in `leaves_at` of src/init/orders/alone.c.
  const leadMs = (rows.find((row) => row.when === 'grace')?.ms ?? 0) / 4;
  return rows.map((row) => {
    switch (row.when) {
      case 'each':
        return `each ${namesIn(row.table)}: pass it on${translationsIn(row.table)}`;
      case 'first':
        return `the first of ${namesIn(row.table)}: pass it on${translationsIn(row.table)}`;
      case 'unheard':
        return `a stop request that no supervisor has acknowledged for ${seconds(row.ms)}: send ${signal(row.signal)}`;
      case 'lost':
        return `${inTime(row.atMs)}, unless a supervisor acts: send ${signal(row.signal)}`;
      case 'grace':
        return `a stop request that no supervisor has acknowledged for ${seconds(row.ms)}: KILL`;
      case 'mains-grace':
        return `${seconds(row.ms)} after the stop signal that follows the mains: KILL`;
      case 'deadline':
        return `${inTime(row.atMs)}: KILL`;
      case 'leave':
        return `${inTime(row.atMs - leadMs)}, if the command has ended and no supervisor acts: leave with ${row.isZero ? 'exit code 0' : 'its exit code'}`;
      case 'mains':
        return `${mainsInWords(row)}: send ${signal(row.signal)}`;
      case 'end':
        return `${endInWords(row)}: record it as ${row.reason}${leavingInWords(row)}`;
      default:
        return row satisfies never;
    }
  });
}

/** Most tables have all signals but a few. */
function namesIn(table: Passed): string {
  const numbers = Array.from({ length: MAX }, (_, index) => index + 1).filter((number) => !isNeverPassedOn(number));
  const missing = numbers.filter((number) => table[number] === undefined);
  const names = (of: readonly number[]): string => of.map((number) => signalName(number).slice(3)).join(', ');
  if (missing.length === 0) return 'signal';
  if (missing.length < numbers.length / 2) return `signal but ${names(missing)}`;
  return names(Object.keys(table).map(Number)) || 'none';
}

function translationsIn(table: Passed): string {
  const changed = Object.entries(table).filter(([from, to]) => Number(from) !== to);
  const pairs = changed.map(([from, to]) => `${signalName(Number(from)).slice(3)} as ${signalName(to).slice(3)}`);
  return pairs.length === 0 ? '' : `, ${pairs.join(', ')}`;
}

/** With `needed` 0 all of them have to end. */
function mainsInWords({ mains, needed, holds, lingerMs }: MainsRow): string {
  const who = mains.length === 1 ? 'the main ends' : `${needed === 1 ? 'one' : 'all'} of ${mains.length} mains end`;
  const late = lingerMs === 0 ? '' : `, ${seconds(lingerMs)} later`;
  const unless = needed > 0 ? '' : ', but only if no supervisor can be started';
  return `${who} for good${late}${unless}${holds ? '; a stop request waits for that' : ''}`;
}

const AFTER: Readonly<Record<EndRow['prelude'], string>> = {
  '': 'the command ends by itself',
  f: 'the command ends after a stop request that was passed on',
  st: 'the command ends after a stop request and its mains',
  t: 'the command ends after its mains',
};

function endInWords({ prelude, from, to }: EndRow): string {
  const codes = from === to ? `code ${from}` : `codes ${from} to ${to}`;
  const how = from > SIGNAL_EXIT ? `by ${signalName(from - SIGNAL_EXIT).slice(3)}` : `with ${codes}`;
  return `${AFTER[prelude]}, ${how}`;
}

function leavingInWords({ code }: EndRow): string {
  if (code === undefined) return '';
  return code === 'same' ? ', and leave with its exit code' : `, and leave with ${code}`;
}
