/** What the command says of itself by the messages of sd_notify(3), each of some lines `NAME=value`. */
import { cleanText } from '../format/tombstone.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Child, Notified } from '../state/state.ts';

export const NOTHING_SAID: Notified = { ready: false, stopping: false, ignored: 0 };

export function onNotified(draft: Draft, { id, text, dropped }: Event & { type: 'notified' }, child: Child): void {
  if (child.is !== 'alive' || child.id !== id) return;
  for (const line of text.split('\n').filter((it) => it !== '')) {
    const at = line.indexOf('=');
    const name = line.slice(0, Math.max(0, at));
    const notified = draft.state.notified ?? NOTHING_SAID;
    const told = EFFECTS[name]?.(line.slice(at + 1), draft) ?? { ignored: notified.ignored + 1 };
    update(draft, { notified: { ...notified, ...told } });
    if (told.ready !== undefined || told.stopping !== undefined) note(draft, 'notified', { Message: line });
  }
  say(draft, 'debug', 'notified', { text, ignored: draft.state.notified?.ignored, dropped });
}

/** undefined: the value means nothing. */
const EFFECTS: Readonly<Record<string, (value: string, draft: Draft) => Partial<Notified> | undefined>> = {
  READY: (value) => (value === '1' ? { ready: true } : undefined),
  STOPPING: (value) => (value === '1' ? { stopping: true } : undefined),
  STATUS: (value) => ({ status: cleanText(value.replace(/\p{Cc}/gu, ''), MAX_STATUS_BYTES) }),
  EXTEND_TIMEOUT_USEC: (value, { at }) => {
    const ms = /^\d{1,16}$/.test(value) ? Math.ceil(Number(value) / 1_000) : undefined;
    return ms === undefined ? undefined : { busyUntilMs: at.mono + ms };
  },
};

const MAX_STATUS_BYTES = 200;
