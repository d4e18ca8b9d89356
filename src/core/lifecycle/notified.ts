/** What the command says of itself by the messages of sd_notify(3), each of some lines `NAME=value`. */
import { cleanText } from '../format/tombstone.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Child, Notified } from '../state/state.ts';

export function onNotified(draft: Draft, { id, text, dropped }: Event & { type: 'notified' }, child: Child): void {
  if (child.is !== 'alive' || child.id !== id) return;
  for (const line of text.split('\n').filter((it) => it !== ''))
    take(draft, line, draft.state.notified ?? NOTHING_SAID);
  say(draft, 'debug', 'notified', { text, ignored: draft.state.notified?.ignored, dropped });
}

const NOTHING_SAID: Notified = { ready: false, stopping: false, reloading: false, ignored: 0 };

function take(draft: Draft, line: string, before: Notified): void {
  const at = line.indexOf('=');
  const name = line.slice(0, Math.max(0, at));
  const told = Object.hasOwn(EFFECTS, name) ? EFFECTS[name]?.(line.slice(at + 1), draft, before) : undefined;
  const notified = { ...before, ...(told ?? { ignored: before.ignored + 1 }) };
  update(draft, { notified });
  if (KEPT.some((key) => notified[key] !== before[key])) note(draft, 'notified', { Message: line });
  if (before.reloading && !notified.reloading) say(draft, 'info', 'has reloaded');
}

/** What the history has. */
const KEPT = ['ready', 'stopping', 'reloading'] as const;

type Effect = (value: string, draft: Draft, before: Notified) => Partial<Notified> | undefined;

/** undefined: the value means nothing. */
const EFFECTS: Readonly<Record<string, Effect>> = {
  READY: (value) => (value === '1' ? { ready: true, reloading: false } : undefined),
  // Some say so before they are ready for the first time.
  RELOADING: (value, _draft, { ready }) => (value === '1' ? { reloading: ready } : undefined),
  STOPPING: (value) => (value === '1' ? { stopping: true } : undefined),
  STATUS: (value) => ({ status: cleanText(value.replace(/\p{Cc}/gu, ''), MAX_STATUS_BYTES) || undefined }),
  X_SEXTON_IDLE: (value) => (value === '0' || value === '1' ? { idle: value === '1' } : undefined),
  EXTEND_TIMEOUT_USEC: (value, { at }) => {
    const ms = /^\d{1,16}$/.test(value) ? Math.ceil(Number(value) / 1_000) : undefined;
    return ms === undefined ? undefined : { busyUntilMs: at.mono + ms };
  },
};

const MAX_STATUS_BYTES = 200;
