/**
 * Reflexes: what the host may do by itself because it is decided beforehand. Nothing is decided here: the events that
 * may come are put into `reduce`, in the state that there is, and what comes out is left behind as data where it is of
 * the plain kind that the host can follow. All else waits for the supervisor. So a reflex only ever does earlier what
 * the rules would do, and it holds no longer than the state that it was made from.
 *
 * The last word: the tombstone of a command that ends by itself. What is not known before, the time and the code, is
 * found by laying it out for several: where they differ there is a place.
 */
import type { MemberConfig } from '../config.ts';
import { formatTombstone, hostOf, RESERVE_BYTES } from '../format/tombstone.ts';
import { rosterOf } from '../pod/finished.ts';
import { peerNamed, standingOf } from '../pod/standing.ts';
import type { Reduction } from '../state/draft.ts';
import type { Effect, Event } from '../state/events.ts';
import type { Peer } from '../state/peer.ts';
import { MAINS_FINISHED, type State } from '../state/state.ts';
import { type Instant, rfc3339 } from '../time.ts';
import { reduce } from './lifecycle.ts';
import { tombstoneOf } from './record.ts';

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
}

/** `hostId`: who has to say that it is gone. `path`: of its liveness socket. */
export interface NamedMain {
  readonly hostId: string;
  readonly path: string;
}

export interface EndWith {
  /** So many of them have to be gone for good. */
  readonly needed: number;
  readonly signal: number;
  /** By name. */
  readonly mains: readonly { readonly name: string; readonly hostId: string }[];
}

/** Of more mains none is heard. */
export const MAX_MAINS_HEARD = 16;
/** No tombstone has these characters. `time`: RFC 3339. `clock`: CLOCK_MONOTONIC, whole milliseconds. */
export const PLACES = { time: '\u0001', clock: '\u0002', code: '\u0003' } as const;

/** What the host knows when it says the last word. */
export interface Ended {
  readonly at: Instant;
  readonly code: number;
}

/** What a reflex was made from. */
export interface Known {
  readonly state: State;
  /** The next tick; undefined: none is due. */
  readonly wakeAtMs: number | undefined;
}

/** Whether what was made from the one holds in the other: only time has passed, and no more than was reckoned with. */
export function isStill(before: Known, after: Known): boolean {
  if (before.wakeAtMs !== after.wakeAtMs) return false;
  const keys = Object.keys(after.state) as (keyof State)[];
  return keys.every((key) => key === 'now' || before.state[key] === after.state[key]);
}

/** A reflex is for a command that nothing is being done about. */
export function isCalm({ child, stop, climb, isAwake }: State): boolean {
  return child.is === 'alive' && stop === undefined && climb === undefined && isAwake;
}

/** The events that one end without leftovers is; `at` has whole milliseconds. */
export function eventsOf(id: number, pid: number, { at, code }: Ended): readonly Event[] {
  return [
    { type: 'exited', at, id, pid, code, signal: undefined, core: false, oom: false },
    { type: 'groupGone', at, id, strays: 0 },
  ];
}

/** The text as the host writes it. */
export function fill(text: string, { at, code }: Ended): string {
  const filled = text
    .replaceAll(PLACES.time, rfc3339(at.wall))
    .replaceAll(PLACES.clock, String(at.mono))
    .replaceAll(PLACES.code, String(code));
  return `${filled}${' '.repeat(Math.max(0, RESERVE_BYTES - Buffer.byteLength(filled) - 1))}\n`;
}

/** When and with what the covered ends are to be used. */
export interface Use {
  /** Until just before this, when the next tick is due; undefined: no tick is. */
  readonly untilMs: number | undefined;
  /** Whether this effect is owed even if no supervisor is there; the exit itself is none of them. */
  readonly isOwed: (effect: Effect) => boolean;
}

/** The ends of the command that need no decision any more, from now on. */
export function coveredEnds(config: MemberConfig, state: State, { untilMs, isOwed }: Use): readonly CoveredEnd[] {
  if (!isCalm(state)) return [];
  const firstMs = Math.floor(state.now.mono) + 1;
  const lastMs = untilMs === undefined ? firstMs + LONG_MS : Math.ceil(untilMs) - 1;
  if (lastMs < firstMs) return [];
  const [first, last] = [
    { mono: firstMs, wall: WALLS[0] },
    { mono: lastMs, wall: WALLS[1] },
  ];
  const outcomeAt = (ended: Ended): Outcome | undefined => outcomeOf(config, state, ended, isOwed);
  const success = coverAll(
    [0, 0],
    [
      { at: first, code: 0 },
      { at: last, code: 0 },
    ].map(outcomeAt),
  );
  // Longest, shortest and between: with more digits less of the history may fit.
  const failure = namesCodes(config)
    ? undefined
    : coverAll(
        [1, 255],
        [
          { at: first, code: 193 },
          { at: last, code: 77 },
          { at: last, code: 5 },
        ].map(outcomeAt),
      );
  return [success, failure].filter((end) => end !== undefined);
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
}

function coverAll(
  [from, to]: readonly [number, number],
  samples: readonly (Outcome | undefined)[],
): CoveredEnd | undefined {
  const outcomes = samples.filter((end) => end !== undefined);
  const [first, second] = outcomes;
  if (outcomes.length < samples.length || first === undefined || second === undefined) return undefined;
  const text = join(marked(first), marked(second), String(first.ended.code), String(second.ended.code));
  const isSame = outcomes.every(({ ended, code }) => code === ended.code);
  const isAlike = outcomes.every(({ final, code }) => final === first.final && (isSame || code === first.code));
  if (text === undefined || !isAlike) return undefined;
  if (!outcomes.every((end) => fill(text, end.ended) === end.text)) return undefined;
  return { from, to, final: first.final, code: isSame ? 'same' : first.code, text };
}

/** undefined: this end is not of the plain kind. */
function outcomeOf(
  config: MemberConfig,
  state: State,
  ended: Ended,
  isOwed: (effect: Effect) => boolean,
): Outcome | undefined {
  const { child } = state;
  if (child.is !== 'alive') return undefined;
  const { state: after, effects } = reduceAll(config, state, eventsOf(child.id, child.pid, ended));
  const [deed, ...more] = effects.filter(({ type }) => type !== 'log');
  const code = effects.some((effect) => effect.type !== 'exit' && isOwed(effect)) ? undefined : deed;
  if (after.child.is !== 'gone' || deed?.type !== 'exit' || more.length > 0) return undefined;
  const text = formatTombstone(tombstoneOf(config, after));
  return { ended, text, final: after.child.final, code: code?.type === 'exit' ? code.code : undefined };
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

function marked({ text, ended: { at } }: Outcome): string {
  return text
    .trimEnd()
    .replaceAll(rfc3339(at.wall), PLACES.time)
    .replace(`"DiedMonotonic": ${at.mono}`, `"DiedMonotonic": ${PLACES.clock}`);
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

/**
 * How a sidecar ends as soon as its mains say that they are gone for good; undefined: something else has to be done
 * then, or waited for.
 */
export function endWithMains(config: MemberConfig, state: State): EndWith | undefined {
  const { peers } = state;
  if (config.role !== 'sidecar' || !isCalm(state) || peers === undefined) return undefined;
  const waitedFor = rosterOf(config, state).filter((name) => {
    const standing = standingOf(config, state, peerNamed(state, name));
    return standing.is !== 'dead' || !standing.final;
  });
  const mains = waitedFor.flatMap((name) => {
    const peer = peerNamed(state, name);
    const hostId = hostOf(peer?.tombstone.Incarnation);
    const isHeard = peer?.liveness === 'held' && standingOf(config, state, peer).is === 'alive';
    return isHeard && HOST_ID.test(hostId) ? [{ name, hostId }] : [];
  });
  const names = mains.map(({ name }) => name);
  const [first] = names;
  if (first === undefined || names.length > MAX_MAINS_HEARD) return undefined;
  const signal = mains.length === waitedFor.length ? signalWithout(config, state, names) : undefined;
  const isOneEnough = names.every((name) => signalWithout(config, state, [name]) !== undefined);
  if (isOneEnough) {
    const alone = signalWithout(config, state, [first]);
    return alone === undefined ? undefined : { needed: 1, signal: alone, mains };
  }
  const isAnyEnough = names.some(
    (name) =>
      signalWithout(
        config,
        state,
        names.filter((one) => one !== name),
      ) !== undefined,
  );
  return signal === undefined || isAnyEnough ? undefined : { needed: names.length, signal, mains };
}

const HOST_ID = /^[0-9a-f]{32}$/;

/** What the command gets at once when these are gone for good; undefined: nothing, or not only that is done. */
function signalWithout(config: MemberConfig, state: State, names: readonly string[]): number | undefined {
  const { state: after, effects } = reduce(config, state, mainsGone(state, names));
  const [deed, ...more] = effects.filter(({ type }) => type !== 'log');
  const { stop, climb } = after;
  if (stop?.reason !== MAINS_FINISHED || climb?.why !== 'stop' || climb.killed) return undefined;
  return deed?.type === 'kill' && more.length === 0 ? deed.signal : undefined;
}

/** The graveyard as it will be. */
export function mainsGone(state: State, names: readonly string[], at: Instant = state.now): Event {
  const peers = Object.entries(state.peers ?? {}).map(([name, peer]) =>
    names.includes(name) ? goneOf(peer, at) : peer,
  );
  return { type: 'peersSeen', at, peers };
}

function goneOf({ tombstone, vanished }: Peer, at: Instant): Peer & { readonly sinceMs: number } {
  const died = {
    Died: rfc3339(at.wall),
    DiedMonotonic: Math.round(at.mono),
    ExitCode: 0,
    Reason: 'completed',
  } as const;
  const dead = { ...tombstone, Phase: 'dead', ...died, Final: true } as const;
  return { tombstone: dead, liveness: 'none', foundAtStart: false, vanished, sinceMs: at.mono };
}
