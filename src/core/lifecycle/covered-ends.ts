/**
 * The last word: the tombstone of a command that ends by itself, and what is logged and left as evidence then, laid out
 * before it has ended. What is not known before, the time and the code, is found by laying it out for several: where
 * they differ there is a place. One of the reflexes (`reflexes.ts`).
 */
import type { MemberConfig } from '../config.ts';
import { formatEvidence } from '../format/evidence.ts';
import { formatTombstone, RESERVE_BYTES } from '../format/tombstone.ts';
import type { Reduction } from '../state/draft.ts';
import type { Effect, Event } from '../state/events.ts';
import type { State } from '../state/state.ts';
import { type Instant, rfc3339, rfc3339Milliseconds } from '../time.ts';
import { reduce } from './lifecycle.ts';
import { evidenceOf, tombstoneOf } from './record.ts';
import { isCalm } from './reflexes.ts';

/** Ends by the exit codes `from` to `to`. */
export interface CoveredEnd {
  readonly from: number;
  readonly to: number;
  /** No other life will follow. */
  readonly final: boolean;
  /** What the container exits with; `same`: the code of the command; undefined: something is left to be done. */
  readonly code: number | 'same' | undefined;
  /** The text of the tombstone without the blanks at its end, with the characters of `PLACES`. */
  readonly text: string;
  /** What is written before the container exits, with such places, too; empty: nothing, or `code` is undefined. */
  readonly log: string;
  readonly evidence: string;
}

/**
 * No tombstone has these characters, nor the log. `time`: RFC 3339 with nanoseconds. `clock`: CLOCK_MONOTONIC, whole
 * milliseconds. `moment`: RFC 3339 with milliseconds. `hour`: of that what is behind the date.
 */
export const PLACES = {
  time: '\u0001',
  clock: '\u0002',
  code: '\u0003',
  moment: '\u0004',
  hour: '\u0005',
} as const;

/** What the host knows when it says the last word. */
export interface Ended {
  readonly at: Instant;
  readonly code: number;
}

/** The events that one end without leftovers is; `at` has whole milliseconds. */
export function eventsOf(id: number, pid: number, { at, code }: Ended, isWritten = false): readonly Event[] {
  return [
    { type: 'exited', at, id, pid, code, signal: undefined, core: false, oom: false },
    { type: 'groupGone', at, id, strays: 0, isWritten },
  ];
}

/** The tombstone as the host writes it. */
export function fill(text: string, ended: Ended): string {
  const filled = fillPlaces(text, ended);
  return `${filled}${' '.repeat(Math.max(0, RESERVE_BYTES - Buffer.byteLength(filled) - 1))}\n`;
}

/** Log and evidence as the host writes them. */
export function fillPlaces(text: string, { at, code }: Ended): string {
  const moment = rfc3339Milliseconds(at.wall);
  return text
    .replaceAll(PLACES.time, rfc3339(at.wall))
    .replaceAll(PLACES.clock, String(at.mono))
    .replaceAll(PLACES.code, String(code))
    .replaceAll(PLACES.moment, moment)
    .replaceAll(PLACES.hour, moment.slice(HOUR_AT));
}

/** Where the time of day begins: `2026-11-22T17:40:00.130Z`. */
const HOUR_AT = 11;

export type Line = Effect & { readonly type: 'log' };

/** When and with what the covered ends are to be used. */
export interface Use {
  /** Until just before this, when the next tick is due; undefined: no tick is. */
  readonly untilMs: number | undefined;
  /** Something is to be done at an end that the host cannot do. */
  readonly needsSupervisor: boolean;
  /** What is written to the log for this, as if said at that time (RFC 3339 with milliseconds). */
  readonly lineOf: (line: Line, time: string) => string;
}

/** The ends of the command that need no decision any more, from now on. */
export function coveredEnds(config: MemberConfig, state: State, use: Use): readonly CoveredEnd[] {
  return [0, 1].map((code) => coveredEnd(config, state, use, code)).filter((end) => end !== undefined);
}

/** That of them which this exit code is one of. */
export function coveredEnd(config: MemberConfig, state: State, use: Use, code: number): CoveredEnd | undefined {
  const { untilMs } = use;
  if (!isCalm(state)) return undefined;
  const firstMs = Math.floor(state.now.mono) + 1;
  const lastMs = untilMs === undefined ? firstMs + LONG_MS : Math.ceil(untilMs) - 1;
  if (lastMs < firstMs) return undefined;
  const [first, last] = [
    { mono: firstMs, wall: WALLS[0] },
    { mono: lastMs, wall: WALLS[1] },
  ];
  const outcomeAt = (ended: Ended): Outcome | undefined => outcomeOf(config, state, ended, use);
  if (code === 0) {
    const ends = [
      { at: first, code: 0 },
      { at: last, code: 0 },
    ];
    return coverAll([0, 0], ends.map(outcomeAt));
  }
  if (namesCodes(config)) return undefined;
  // Longest, shortest and between: with more digits less of the history may fit.
  const ends = [
    { at: first, code: 193 },
    { at: last, code: 77 },
    { at: last, code: 5 },
  ];
  return coverAll([1, 255], ends.map(outcomeAt));
}

/** As far away as no life of a container lasts. */
const LONG_MS = 1e12;
/** Two that no tombstone has, as times of the years 9999 and 1970. */
const WALLS = ['253402300799123456789', '1000000001'] as const;

/** Then not all failures are alike. */
function namesCodes({ restartRules, restartPodOn, exitCode }: MemberConfig): boolean {
  return restartRules.length > 0 || restartPodOn.codes.length > 0 || exitCode.kind === 'map';
}

interface Outcome {
  readonly ended: Ended;
  readonly text: string;
  readonly final: boolean;
  /** Of the container; undefined: something is owed beside it. */
  readonly code: number | undefined;
  readonly log: string;
  readonly evidence: string;
}

function coverAll(
  [from, to]: readonly [number, number],
  samples: readonly (Outcome | undefined)[],
): CoveredEnd | undefined {
  const outcomes = samples.filter((end) => end !== undefined);
  const [first] = outcomes;
  if (outcomes.length < samples.length || first === undefined) return undefined;
  const isSame = outcomes.every(({ ended, code }) => code === ended.code);
  const isAlike = outcomes.every(({ final, code }) => final === first.final && (isSame || code === first.code));
  const text = joined(outcomes, ({ text: it }) => it);
  if (text === undefined || !isAlike) return undefined;
  const covered = { from, to, final: first.final, text };
  const log = joined(outcomes, ({ log: it }) => it);
  const evidence = joined(outcomes, ({ evidence: it }) => it);
  if (first.code === undefined || !isShort(log) || !isShort(evidence))
    return { ...covered, code: undefined, log: '', evidence: '' };
  return { ...covered, code: isSame ? 'same' : first.code, log, evidence };
}

/** With room for what is filled in a pipe takes it whole: pipe(7), PIPE_BUF. */
function isShort(text: string | undefined): text is string {
  return text !== undefined && Buffer.byteLength(text) <= MAX_SAID_BYTES;
}

const MAX_SAID_BYTES = 2_048;

/** undefined: this end is not of the plain kind. */
function outcomeOf(config: MemberConfig, state: State, ended: Ended, use: Use): Outcome | undefined {
  const { child } = state;
  if (child.is !== 'alive') return undefined;
  const { state: after, effects } = reduceAll(config, state, eventsOf(child.id, child.pid, ended));
  const [deed, ...more] = effects.filter(({ type }) => type !== 'log');
  if (after.child.is !== 'gone' || deed?.type !== 'exit' || more.length > 0) return undefined;
  const time = rfc3339Milliseconds(ended.at.wall);
  return {
    ended,
    text: formatTombstone(tombstoneOf(config, after)).trimEnd(),
    final: after.child.final,
    code: use.needsSupervisor ? undefined : deed.code,
    log: effects.map((effect) => (effect.type === 'log' ? use.lineOf(effect, time) : '')).join(''),
    evidence: formatEvidence(evidenceOf(config, after)),
  };
}

/** One event after the other; what follows from all of them. */
export function reduceAll(config: MemberConfig, state: State, events: readonly Event[]): Reduction {
  let reduction: Reduction = { state, effects: [], wakeAtMs: undefined };
  for (const event of events) {
    const { effects } = reduction;
    reduction = reduce(config, reduction.state, event);
    reduction = { ...reduction, effects: [...effects, ...reduction.effects] };
  }
  return reduction;
}

/** One text for all of them; undefined: they differ by more than what there are places for. */
function joined(outcomes: readonly Outcome[], of: (outcome: Outcome) => string): string | undefined {
  const [first, second] = outcomes;
  if (first === undefined || second === undefined) return undefined;
  const [codeA, codeB] = [String(first.ended.code), String(second.ended.code)];
  const text = join(marked(of(first), first.ended), marked(of(second), second.ended), codeA, codeB);
  const isExact = text !== undefined && outcomes.every((outcome) => fillPlaces(text, outcome.ended) === of(outcome));
  return isExact ? text : undefined;
}

function marked(text: string, { at }: Ended): string {
  const moment = rfc3339Milliseconds(at.wall);
  return text
    .replaceAll(rfc3339(at.wall), PLACES.time)
    .replace(`"DiedMonotonic": ${at.mono}`, `"DiedMonotonic": ${PLACES.clock}`)
    .replaceAll(moment, PLACES.moment)
    .replaceAll(moment.slice(HOUR_AT), PLACES.hour);
}

/** One text with places where the two differ by their codes, whose first digits differ; undefined: by something else. */
function join(a: string, b: string, codeA: string, codeB: string): string | undefined {
  let text = '';
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const since = i;
    while (i < a.length && a[i] === b[j]) {
      i += 1;
      j += 1;
    }
    text += a.slice(since, i);
    if (i === a.length && j === b.length) return text;
    if (codeA === codeB || !a.startsWith(codeA, i) || !b.startsWith(codeB, j)) return undefined;
    text += PLACES.code;
    i += codeA.length;
    j += codeB.length;
  }
  return text;
}
