/**
 * Quit calls: when a main's life is over for good, it asks all sidecars that cannot be wrapped to exit, at the same
 * time. Its death is already written; only the exit of its container waits for the calls, up to a limit.
 */
import { makesQuitCalls } from '../../ends.ts';
import { endOfWaiting, killAtMs } from '../../pod/deadline.ts';
import { type Draft, isDue, note, say, wakeAt } from '../../state/draft.ts';
import type { Deadline, State, Task } from '../../state/state.ts';
import { beginTask, dropTasks, indexOf, isQuit, type Result } from '../tasks.ts';

/**
 * Ends the container once every sidecar of `--quit` was asked to exit. A failed start gate counts as a failed command.
 * A member that did not start because the pod stops asks no one: the platform ends the sidecars, too.
 */
export function leaveContainer(draft: Draft): void {
  const { config, state } = draft;
  const isItsTurn = state.child.is === 'gone' && makesQuitCalls(config, state.child.final);
  if (isItsTurn && (state.births > 0 || state.stop === undefined))
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

/** Exits without the answers: a stop was requested again. */
export function leaveNow(draft: Draft): void {
  if (!isQuitting(draft.state)) return;
  dropTasks(draft);
  leaveIfDone(draft);
}

/** Exits before the platform's KILL, whose 137 would hide the exit code of the command. */
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

/** Exits the container once all quit calls have ended. The host waits for the last tombstone no longer than we do. */
export function leaveIfDone(draft: Draft): void {
  const { child, deadline, now } = draft.state;
  if (child.is !== 'gone' || isQuitting(draft.state)) return;
  draft.effects.push({ type: 'exit', code: child.code });
  wakeAt(draft, now.mono + maxWritingMs(deadline, now.mono));
}

/** Without a deadline: with little CPU a write takes seconds, and a sidecar waits forever for a lost death. */
const MAX_WRITING_MS = 30_000;
const MIN_WRITING_MS = 1_000;
/** The lead over the platform's KILL, to exit with the code of the child also on a busy node: 1 s, or this part. */
const AHEAD_MS = 1_000;
const AHEAD_PART = 0.25;

/** How long the last tombstone may take: until well before the platform's KILL, if that can come. */
export function maxWritingMs(deadline: Deadline | undefined, nowMs: number): number {
  if (deadline === undefined) return MAX_WRITING_MS;
  const aheadMs = Math.max(AHEAD_MS, (deadline.atMs - deadline.sinceMs) * AHEAD_PART);
  return Math.max(MIN_WRITING_MS, Math.min(deadline.atMs - aheadMs - nowMs, MAX_WRITING_MS));
}
