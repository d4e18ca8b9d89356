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

/** Once its time is over the host reports a child that has to say WATCHDOG=1. */
export function onSilent(draft: Draft, { id }: Event & { type: 'silent' }, child: Child): void {
  if (child.is !== 'alive' || child.id !== id) return;
  update(draft, {
    notified: { ...(draft.state.notified ?? NOTHING_SAID), failed: fail(draft, 'no WATCHDOG=1 in time') },
  });
}

/** Starts the watchdog when the command has started, and again when the command chooses another time. */
export function watchSilence(draft: Draft, ms: number): void {
  const { child } = draft.state;
  if (child.is === 'alive') draft.effects.push({ type: 'watchdog', id: child.id, ms: ms === 0 ? undefined : ms });
}

function fail(draft: Draft, why: string): string {
  note(draft, 'watchdog', { Why: why });
  say(draft, 'warn', `the watchdog of the command has failed: ${why}`);
  return why;
}

const NOTHING_SAID: Notified = { ready: false, stopping: false, reloading: false, ignored: 0 };

function take(draft: Draft, line: string, before: Notified): void {
  const at = line.indexOf('=');
  const name = line.slice(0, Math.max(0, at));
  const told = Object.hasOwn(EFFECTS, name) ? EFFECTS[name]?.(line.slice(at + 1), draft, before) : undefined;
  const notified = { ...before, ...(told ?? { ignored: before.ignored + 1 }) };
  update(draft, { notified });
  const isReload = notified.reloading !== before.reloading;
  const isNews = notified.ready !== before.ready || notified.stopping !== before.stopping;
  if (isNews || (isReload && notified.isUntold !== true)) note(draft, 'notified', { Message: line });
  if (isReload && !notified.reloading && notified.isUntold !== true) say(draft, 'info', 'has reloaded');
}

type Effect = (value: string, draft: Draft, before: Notified) => Partial<Notified> | undefined;

/** undefined: the value means nothing. */
const EFFECTS: Readonly<Record<string, Effect>> = {
  READY: (value) => (value === '1' ? { ready: true, reloading: false } : undefined),
  // Some say so before they are ready for the first time.
  RELOADING: (value, { at }, { ready, reloading, toldMs }) => {
    if (value !== '1') return undefined;
    if (reloading || !ready) return {};
    const isUntold = toldMs !== undefined && at.mono < toldMs + RELOADS_APART_MS;
    return { reloading: true, isUntold, ...(!isUntold && { toldMs: at.mono }) };
  },
  STOPPING: (value) => (value === '1' ? { stopping: true } : undefined),
  STATUS: (value) => ({ status: cleanText(value.replace(/\p{Cc}/gu, ''), MAX_STATUS_BYTES) || undefined }),
  X_SEXTON_IDLE: (value) => (value === '0' || value === '1' ? { idle: value === '1' } : undefined),
  // The host counts what says that it is alive.
  WATCHDOG: (value, draft, { failed }) => {
    if (draft.config.watchdogMs === undefined || (value !== '1' && value !== 'trigger')) return undefined;
    return value === '1' ? {} : { failed: failed ?? fail(draft, 'WATCHDOG=trigger') };
  },
  WATCHDOG_USEC: (value, draft) => {
    const watchdogMs = msOf(value);
    if (draft.config.watchdogMs === undefined || watchdogMs === undefined) return undefined;
    if (draft.state.chronicle.started !== undefined) watchSilence(draft, watchdogMs);
    return { watchdogMs };
  },
  EXTEND_TIMEOUT_USEC: (value, { at }) => {
    const ms = msOf(value);
    return ms === undefined ? undefined : { busyUntilMs: at.mono + ms };
  },
};

/** Log and history have no more reloads than that, as a command may reload a thousand times a second. */
const RELOADS_APART_MS = 10_000;

/** Milliseconds that are no less than these whole microseconds. */
function msOf(value: string): number | undefined {
  return /^\d{1,16}$/.test(value) ? Math.ceil(Number(value) / 1_000) : undefined;
}

const MAX_STATUS_BYTES = 200;
