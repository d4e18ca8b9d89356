/**
 * Ready checks: before the child starts, its start gates ask processes that are no members whether they are ready. All
 * gates must be open at the same time, so a ready process is still asked while another gate is shut.
 */
import { type Draft, say, update } from '../../state/draft.ts';
import type { ReadyCheck, Task } from '../../state/state.ts';
import { beginTaskAt, indexOf, type Result, taskOf } from '../tasks.ts';

export function startReadyChecks(draft: Draft): void {
  const { config, state } = draft;
  if (state.child.is !== 'unstarted' || state.stop !== undefined) return;
  for (const index of config.startReady.keys()) {
    const key = `ready ${index}` as const;
    if (taskOf(draft.state, key) === undefined) beginTaskAt(draft, key, state.looks[index]?.nextAtMs ?? 0);
  }
}

export function onReadyAnswer(draft: Draft, { key, sinceMs }: Task, { ok, detail }: Result): void {
  const { config, state } = draft;
  const index = indexOf(key);
  const before = state.looks[index];
  const failures = ok ? 0 : (before?.failures ?? 0) + 1;
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1), LONGEST_PAUSE_MS);
  const nextAtMs = Math.max(sinceMs + (ok ? LONGEST_PAUSE_MS : pauseMs), state.now.mono);
  const look: ReadyCheck = { ok, detail, failures, nextAtMs };
  update(draft, { looks: { ...state.looks, [index]: look } });
  if (ok !== (before?.ok ?? false))
    say(draft, 'info', `${config.startReady[index]?.name} is ${ok ? '' : 'no longer '}ready`, { detail });
}

/** A proxy takes about a second to be ready: the checks begin often, then slow to a rate that is cheap for both. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
