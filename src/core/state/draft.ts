/**
 * A draft of the next state: the rules write to it within one reduction, which is pure as seen from outside. A rule
 * that waits for a moment calls `wakeAt`; the earliest such moment is the next tick.
 */
import type { MemberConfig } from '../config.ts';
import { cleanText, trimHistory } from '../format/tombstone.ts';
import { type Instant, rfc3339 } from '../time.ts';
import type { Effect, LogLevel } from './events.ts';
import type { State } from './state.ts';

export interface Reduction {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** The next tick, CLOCK_MONOTONIC milliseconds; undefined: nothing waits for a time. */
  readonly wakeAtMs: number | undefined;
}

export interface Draft {
  readonly config: MemberConfig;
  state: State;
  /** The time of what is recorded: while an event is folded in, its time, which may be long past; else now. */
  at: Instant;
  readonly effects: Effect[];
  wakeAtMs: number | undefined;
}

export function draftOf(config: MemberConfig, state: State): Draft {
  return { config, state, at: state.now, effects: [], wakeAtMs: undefined };
}

export function finishDraft(draft: Draft): Reduction {
  return { state: draft.state, effects: draft.effects, wakeAtMs: draft.wakeAtMs };
}

export function update(draft: Draft, change: Partial<State>): void {
  draft.state = { ...draft.state, ...change };
}

/** Whether that moment has come; undefined never comes. */
export function isDue({ state }: Draft, atMs: number | undefined): boolean {
  return atMs !== undefined && state.now.mono >= atMs;
}

/** Sets the next tick to no later than this moment, unless it is past. */
export function wakeAt(draft: Draft, atMs: number | undefined): void {
  if (atMs === undefined || isDue(draft, atMs)) return;
  if (draft.wakeAtMs === undefined || atMs < draft.wakeAtMs) draft.wakeAtMs = atMs;
}

/** Adds to the tombstone's history. Texts are cut as in the tombstone, because the memo that holds them is bounded. */
export function note(
  draft: Draft,
  event: string,
  details: Readonly<Record<string, string | number | boolean>> = {},
): void {
  const { chronicle } = draft.state;
  const entry: Detailed = { At: rfc3339(draft.at.wall), Event: event };
  for (const [key, value] of Object.entries(details)) entry[key] = typeof value === 'string' ? cleanText(value) : value;
  update(draft, { chronicle: { ...chronicle, history: trimHistory([...chronicle.history, entry]) } });
}

type Detailed = { At: string; Event: string } & Record<string, string | number | boolean>;

export function say(
  draft: Draft,
  level: LogLevel,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  draft.effects.push({ type: 'log', level, message, details });
}

/** Logs something once in the container's life, also across supervisors. */
export function sayOnce(draft: Draft, key: string, level: LogLevel, message: string): void {
  if (draft.state.said.includes(key)) return;
  update(draft, { said: [...draft.state.said, key].slice(-MAX_SAID) });
  say(draft, level, message);
}

/** Bounds the memo: a peer that dies and comes back again and again must not grow it. */
const MAX_SAID = 200;
