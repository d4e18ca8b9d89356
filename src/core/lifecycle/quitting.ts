/**
 * Quit calls: when a main's life is over for good, sidecars that cannot be wrapped are asked to leave, all at the same
 * time. Its death is written by then; only the exit of the container waits, so that the calls can still be made, and
 * not for ever.
 */
import { endOfWaiting, killAtMs } from '../pod/deadline.ts';
import { type Draft, isDue, note, say, wakeAt } from '../state/draft.ts';
import type { Deadline, State, Task } from '../state/state.ts';
import { beginTask, dropTasks, indexOf, isQuit, type Result } from './tasks.ts';

/**
 * The end of the container, as soon as every sidecar of `--quit` has been asked to leave. A command whose start gate
 * did not open has ended like one that failed; one that was not started because the platform ends the pod leaves no
 * sidecar behind that would have to be asked.
 */
export function leaveContainer(draft: Draft): void {
  const { config, state } = draft;
  const isAMainsEnd = config.role === 'main' && state.child.is === 'gone' && state.child.final;
  if (isAMainsEnd && (state.births > 0 || state.stop === undefined))
    for (const index of config.quit.keys()) beginTask(draft, `quit ${index}`);
  leaveIfDone(draft);
}

export function onQuitEnded(draft: Draft, { key }: Task, { ok, detail }: Result): void {
  const quit = draft.config.quit[indexOf(key)];
  note(draft, 'quit', { Name: quit?.name ?? '', Result: ok ? 'success' : 'failure', Detail: detail });
  if (ok) say(draft, 'info', `${quit?.name} was asked to leave`, { detail });
  else
    say(draft, 'error', `cannot make ${quit?.name} leave: its container may run on and keep the pod from ending`, {
      detail,
    });
  leaveIfDone(draft);
}

/** Leaves without the answers: a stop was asked for again. */
export function leaveNow(draft: Draft): void {
  if (!isQuitting(draft.state)) return;
  dropTasks(draft);
  leaveIfDone(draft);
}

/** Before the platform's KILL, whose 137 would stand for what the command has ended with. */
export function leaveInTime(draft: Draft): void {
  const end = endOfWaiting(draft.config, draft.state);
  if (end === undefined || !isQuitting(draft.state)) return;
  wakeAt(draft, killAtMs(end));
  if (!isDue(draft, killAtMs(end))) return;
  say(draft, 'warn', 'exiting before the quit calls have ended: the deadline has come');
  leaveNow(draft);
}

function isQuitting({ tasks }: State): boolean {
  return tasks.some(({ key }) => isQuit(key));
}

/** Exits the container once all quit calls have ended. The host waits no longer than we do until the death is written. */
export function leaveIfDone(draft: Draft): void {
  const { child, deadline, now } = draft.state;
  if (child.is !== 'gone' || isQuitting(draft.state)) return;
  draft.effects.push({ type: 'exit', code: child.code });
  wakeAt(draft, now.mono + maxWritingMs(deadline, now.mono));
}

/**
 * For a death that nothing hurries: with little CPU a record takes seconds, and a sidecar waits for ever for one that was
 * lost.
 */
const MAX_WRITING_MS = 30_000;
const MIN_WRITING_MS = 1_000;
/** To be gone by ourselves, with the code of the child, before the platform's KILL. */
const AHEAD_MS = 1_000;

/** How long the last tombstone is waited for: until shortly before the platform's KILL, should one come. */
export function maxWritingMs(deadline: Deadline | undefined, nowMs: number): number {
  const leftMs = deadline === undefined ? MAX_WRITING_MS : deadline.atMs - AHEAD_MS - nowMs;
  return Math.max(MIN_WRITING_MS, Math.min(leftMs, MAX_WRITING_MS));
}
