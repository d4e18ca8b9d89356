/**
 * Prepared ends: the records of ends of the command that need no decision, laid out in advance. The host can then write
 * tombstone, log and evidence while no supervisor runs. The texts come from `reduce` at sample times; `placeholders.ts`
 * turns times and codes into places. They are one of the reflexes (`reflexes.ts`).
 */
import type { MemberConfig } from '../../config.ts';
import { SIGNAL_EXIT } from '../../exit.ts';
import { padded, tombstoneText } from '../../format/tombstone.ts';
import { stopTable } from '../../ladder.ts';
import { ordersOf } from '../../orders.ts';
import { SIGTERM } from '../../signals.ts';
import type { Reduction } from '../../state/draft.ts';
import type { Effect, Event } from '../../state/events.ts';
import type { State } from '../../state/state.ts';
import { rfc3339Milliseconds } from '../../time.ts';
import { reduce } from '../lifecycle.ts';
import { terminationMessageOf, tombstoneOf } from '../stop/record.ts';
import { type Course, fillPlaces, type Sample, templatesOf } from './placeholders.ts';
import { type EndWith, isIdle } from './reflexes.ts';

/**
 * The events before the end, one letter each. `f`: the host forwards the stop request at once. `s`: the request is
 * held. `t`: the host sends the stop signal because the mains have ended.
 */
export type Prelude = '' | 'f' | 'st' | 't';

/** The ends `from` to `to`: 0 to 255 are exit codes, `SIGNAL_EXIT` + n is the end by signal n. */
export interface PreparedEnd {
  readonly prelude: Prelude;
  readonly from: number;
  readonly to: number;
  /** No other life follows. */
  readonly final: boolean;
  /** The exit code of the container; `same`: the command's; undefined: the supervisor has something left to do. */
  readonly code: number | 'same' | undefined;
  /** The tombstone without the blanks at its end, with places. */
  readonly text: string;
  /** The log lines before the exit, with places, too; empty: none, or `code` is undefined. */
  readonly log: string;
  readonly evidence: string;
}

/** The stop that the host carries out from request to exit while no supervisor runs. */
export interface PreparedStop {
  /** The stop request that it covers. */
  readonly signal: number;
  /** The time from the first event of a prelude to the start of a supervisor, if the command lives on. */
  readonly patienceMs: number;
  readonly ends: readonly PreparedEnd[];
}

/** The events of one end that leaves no root. `how`: as in `PreparedEnd`. `at` has whole milliseconds. */
export function endOf({ id, pid }: Alive, { at, how }: Ended, isWritten = false): readonly Event[] {
  const isSignal = how > SIGNAL_EXIT;
  const [code, signal] = isSignal ? [undefined, how - SIGNAL_EXIT] : [how, undefined];
  return [
    { type: 'exited', at, id, pid, code, signal, core: false, oom: false },
    { type: 'rootsGone', at, id, isWritten },
  ];
}

export interface Alive {
  readonly id: number;
  readonly pid: number;
}

export interface Ended {
  readonly at: Event['at'];
  readonly how: number;
}

/** The tombstone as the host writes it. */
export function fill(text: string, course: Course): string {
  return padded(fillPlaces(text, course));
}

export type Line = Effect & { readonly type: 'log' };

/** The conditions under which the host uses the prepared ends. */
export interface Use {
  /** The next tick, just before which they expire; undefined: none is due. */
  readonly untilMs: number | undefined;
  /** An end requires something that the host cannot do. */
  readonly needsSupervisor: boolean;
  /** The text of this log line, as if logged at that time (RFC 3339 with milliseconds). */
  readonly lineOf: (line: Line, time: string) => string;
}

/** The ends of the command that need no decision from now on. */
export function preparedEnds(config: MemberConfig, state: State, use: Use): readonly PreparedEnd[] {
  return [EXIT_0, FAILURES].flatMap((ends) => preparedEnd(config, state, use, ends) ?? []);
}

/** A range of ends and the samples that are laid out: the longest codes leave least room for the history. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly samples: readonly number[];
}

const EXIT_0: Range = { from: 0, to: 0, samples: [0, 0] };
const FAILURES: Range = { from: 1, to: 255, samples: [193, 77, 5] };
const ALL_CODES: Range = { from: 0, to: 255, samples: [193, 77, 5, 0] };

function preparedEnd(config: MemberConfig, state: State, use: Use, range: Range): PreparedEnd | undefined {
  const { untilMs } = use;
  if (!isIdle(state) || (range.to > 0 && namesCodes(config))) return undefined;
  const firstMs = Math.floor(state.now.mono) + 1;
  const lastMs = untilMs === undefined ? firstMs + LONG_MS : Math.ceil(untilMs) - 1;
  if (lastMs < firstMs) return undefined;
  const courses = range.samples.map((how, index) => ({
    moments: [{ mono: index === 1 ? firstMs : lastMs, wall: wallAt(index, 0) }],
    how,
  }));
  return layOut(config, state, use, { prelude: '', before: () => [], range, courses });
}

/** Longer than any life of a container. */
const LONG_MS = 1e12;

/** One wall clock for each sample, in the years 9999, 1970 and 2100, which no tombstone has. */
function wallAt(sample: number, msBeforeEnd: number): string {
  const base = WALLS[sample % WALLS.length] ?? WALLS[0];
  return String(base - BigInt(msBeforeEnd) * 1_000_003n);
}
const WALLS = [253402300799123456789n, 90061000000001n, 4102444800987000321n] as const;

/** Whether single codes matter, so that not all failures are alike. */
function namesCodes({ restartRules, restartPodOn, exitCode }: MemberConfig): boolean {
  return restartRules.length > 0 || restartPodOn.codes.length > 0 || exitCode.kind === 'map';
}

/** The stop of a member that needs no supervisor until its end; undefined: something has to be decided. */
export function preparedStop(
  config: MemberConfig,
  state: State,
  use: Use,
  endWith: EndWith | undefined,
): PreparedStop | undefined {
  const { child } = state;
  // A due tick may change what the request leads to. A lone stop is recognized only by looking at the others.
  const isPrepared = isIdle(state) && use.untilMs === undefined && !use.needsSupervisor;
  if (!isPrepared || child.is !== 'alive' || config.platformPreStopMs !== undefined) return undefined;
  const preludes = preludesOf(config, state, child, endWith).flatMap((plan) => {
    const patienceMs = patienceOf(config, state, plan);
    return patienceMs < LEAST_PATIENCE_MS ? [] : [{ ...plan, patienceMs }];
  });
  const patienceMs = Math.min(...preludes.map((plan) => plan.patienceMs));
  const ends = preludes.flatMap((plan) => endsAfter(config, state, use, { ...plan, patienceMs }));
  return ends.length === 0 ? undefined : { signal: SIGTERM, patienceMs, ends };
}

/** `before`: the events of the prelude at these moments. `as`: the stop signal that the command gets. */
interface Plan {
  readonly prelude: Prelude;
  readonly as: number;
  readonly before: (moments: Course['moments']) => readonly Event[];
}

function preludesOf(config: MemberConfig, state: State, child: Alive, endWith: EndWith | undefined): readonly Plan[] {
  const signal = SIGTERM;
  const as = stopTable(config)[signal];
  const common = { type: 'ordered', id: child.id, senderPid: 0, receiverPid: child.pid } as const;
  if (as !== undefined && ordersOf(config, state).rows.some(({ when }) => when === 'first')) {
    return [
      {
        prelude: 'f',
        as,
        before: ([at]) => asEvents([{ ...common, row: 'first', signal, as }, at]),
      },
    ];
  }
  if (endWith === undefined) return [];
  const sent = { ...common, row: 'mains', signal: 0, as: endWith.signal } as const;
  const asked = { type: 'signal', signal, senderPid: 0, fromTerminal: false } as const;
  const held: Plan = { prelude: 'st', as: sent.as, before: ([at, then]) => asEvents([asked, at], [sent, then]) };
  const ended: Plan = { prelude: 't', as: sent.as, before: ([at]) => asEvents([sent, at]) };
  return [...(endWith.holds ? [held] : []), ...(endWith.needed > 0 ? [ended] : [])];
}

type Timeless = Event extends infer Each ? (Each extends Event ? Omit<Each, 'at'> : never) : never;

function asEvents(...pairs: readonly (readonly [Timeless, Event['at'] | undefined])[]): readonly Event[] {
  return pairs.flatMap(([event, at]) => (at === undefined ? [] : [{ ...event, at } as Event]));
}

/** A main must soon publish its stop: others with `--hold 2s` wait for it, and the platform may leave less time. */
const PATIENCE_MS = { main: 1_000, sidecar: 5_000 } as const;
const LEAST_PATIENCE_MS = 100;

/** The time until something is due by the clock, at most half of the grace period. */
function patienceOf(config: MemberConfig, state: State, { prelude, before }: Plan): number {
  const sinceMs = Math.floor(state.now.mono) + 1;
  const moments = [...prelude].map((_, index) => ({ mono: sinceMs + index, wall: wallAt(0, prelude.length - index) }));
  let reduction: Reduction = { state, effects: [], wakeAtMs: undefined };
  const dueMs = before(moments).map((event) => {
    reduction = reduce(config, reduction.state, event);
    return (reduction.wakeAtMs ?? Number.POSITIVE_INFINITY) - sinceMs;
  });
  const graceMs = config.gracePeriodMs ?? Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(PATIENCE_MS[config.role], graceMs / 2, ...dueMs));
}

function endsAfter(
  config: MemberConfig,
  state: State,
  use: Use,
  plan: Plan & { readonly patienceMs: number },
): readonly PreparedEnd[] {
  const bySignal = SIGNAL_EXIT + plan.as;
  const all = endAfter(config, state, use, plan, ALL_CODES);
  const codes =
    all === undefined ? [EXIT_0, FAILURES].map((range) => endAfter(config, state, use, plan, range)) : [all];
  const killed = endAfter(config, state, use, plan, { from: bySignal, to: bySignal, samples: [bySignal, bySignal] });
  // Init can do nothing alone without an exit code of the container.
  return [...codes, killed].flatMap((end) => (end?.code === undefined ? [] : [end]));
}

function endAfter(
  config: MemberConfig,
  state: State,
  use: Use,
  { prelude, before, patienceMs }: Plan & { readonly patienceMs: number },
  range: Range,
): PreparedEnd | undefined {
  if (range.to > range.from && namesCodes(config)) return undefined;
  const firstMs = Math.floor(state.now.mono) + 1;
  const courses = range.samples.map((how, index) => {
    const offsets = [0];
    for (const gap of (GAPS[index % GAPS.length] ?? GAPS[0]).slice(-prelude.length))
      offsets.push((offsets.at(-1) ?? 0) + Math.round(gap * patienceMs));
    const sinceMs = index === 1 ? firstMs : firstMs + LONG_MS;
    const lastMs = offsets.at(-1) ?? 0;
    return { how, moments: offsets.map((ms) => ({ mono: sinceMs + ms, wall: wallAt(index, lastMs - ms) })) };
  });
  return layOut(config, state, use, { prelude, before, range, courses });
}

/** The gaps between events as parts of the patience: distinct, shortest, and in between. */
const GAPS = [
  [0.2711, 0.5837],
  [0.0101, 0],
  [0.0503, 0.3007],
] as const;

interface Layout {
  readonly prelude: Prelude;
  readonly before: Plan['before'];
  readonly range: Range;
  readonly courses: readonly (Pick<Course, 'moments'> & { readonly how: number })[];
}

interface Outcome extends Sample {
  readonly final: boolean;
  readonly exit: number;
}

/** One end for the whole range; undefined: the samples differ in more than times and codes, or need a decision. */
function layOut(config: MemberConfig, state: State, use: Use, layout: Layout): PreparedEnd | undefined {
  const { prelude, before, range, courses } = layout;
  const outcomes: Outcome[] = [];
  for (const course of courses) {
    const outcome = outcomeOf(config, state, use, { ...course, before });
    if (outcome === undefined) return undefined;
    outcomes.push(outcome);
  }
  const [first] = outcomes;
  if (first === undefined) return undefined;
  const isSame = range.to <= 255 && outcomes.every(({ exit, code }) => exit === code);
  if (!outcomes.every(({ final, exit }) => final === first.final && (isSame || exit === first.exit))) return undefined;
  const [text, log, evidence] = templatesOf(outcomes);
  if (text === undefined) return undefined;
  const end = { prelude, from: range.from, to: range.to, final: first.final, text };
  if (use.needsSupervisor || !isShort(log) || !isShort(evidence))
    return { ...end, code: undefined, log: '', evidence: '' };
  return { ...end, code: isSame ? 'same' : first.exit, log, evidence };
}

/** Filled in, it still fits a pipe at once: pipe(7), PIPE_BUF. */
function isShort(text: string | undefined): text is string {
  return text !== undefined && Buffer.byteLength(text) <= MAX_SAID_BYTES;
}

const MAX_SAID_BYTES = 2_560;

/** undefined: something has to be decided or done on the way. */
function outcomeOf(
  config: MemberConfig,
  state: State,
  { lineOf }: Use,
  { moments, how, before }: Pick<Course, 'moments'> & { readonly how: number; readonly before: Plan['before'] },
): Outcome | undefined {
  const { child } = state;
  const at = moments.at(-1);
  if (child.is !== 'alive' || at === undefined) return undefined;
  const deeds: Effect[] = [];
  let [after, log] = [state, ''];
  for (const event of [...before(moments), ...endOf(child, { at, how })]) {
    const reduction = reduce(config, after, event);
    const time = rfc3339Milliseconds(event.at.wall);
    for (const effect of reduction.effects) {
      if (effect.type === 'log') log += lineOf(effect, time);
      else deeds.push(effect);
    }
    after = reduction.state;
  }
  const [deed, ...more] = deeds;
  if (after.child.is !== 'gone' || deed?.type !== 'exit' || more.length > 0) return undefined;
  const { deadline } = after;
  const [since] = moments;
  const graceMs = deadline === undefined || since === undefined ? undefined : deadline.atMs - since.mono;
  return {
    moments,
    code: after.child.status,
    graceMs,
    texts: [tombstoneText(tombstoneOf(config, after)), log, terminationMessageOf(config, after)],
    final: after.child.final,
    exit: deed.code,
  };
}
