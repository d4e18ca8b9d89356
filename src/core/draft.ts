/**
 * A state in the making: inside one reduction the rules write to a draft, from outside the reduction is pure.
 * Waiting for a moment is asking `reached`: the earliest moment that was asked for and lies ahead is when to tick next.
 */
import type { MemberConfig } from './config.ts';
import type { Effect, LogLevel } from './events.ts';
import type { Reduction, State } from './state.ts';
import { type Instant, rfc3339 } from './time.ts';
import { cleanText, trimHistory } from './tombstone.ts';

export interface Draft {
  readonly config: MemberConfig;
  state: State;
  /** What is written down happened then: while an event is folded in its own time, which may be some while ago; else now. */
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

/** Whether that moment has come; when not, the next tick is no later. */
export function reached(draft: Draft, atMs: number): boolean {
  if (draft.state.now.mono >= atMs) return true;
  if (draft.wakeAtMs === undefined || atMs < draft.wakeAtMs) draft.wakeAtMs = atMs;
  return false;
}

/** An entry of the tombstone's history, with texts as short as they are carved: the memo has it, too, and is bounded. */
export function note(
  draft: Draft,
  event: string,
  details: Readonly<Record<string, string | number | boolean>> = {},
): void {
  const { chronicle } = draft.state;
  const short = Object.entries(details).map(([key, value]) => [
    key,
    typeof value === 'string' ? cleanText(value) : value,
  ]);
  const entry = { At: rfc3339(draft.at.wall), Event: event, ...Object.fromEntries(short) };
  update(draft, { chronicle: { ...chronicle, history: trimHistory([...chronicle.history, entry]) } });
}

export function say(
  draft: Draft,
  level: LogLevel,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  draft.effects.push({ type: 'log', level, message, details });
}

/** Says a thing once in a container's life, also across supervisors. */
export function sayOnce(draft: Draft, key: string, level: LogLevel, message: string): void {
  if (draft.state.said.includes(key)) return;
  update(draft, { said: [...draft.state.said, key].slice(-MOST_SAID) });
  say(draft, level, message);
}

/** Bounds the memo; a peer that dies and comes back for ever must not grow it. */
const MOST_SAID = 200;
