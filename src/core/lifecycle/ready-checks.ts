/**
 * Ready checks: before the child is started, the processes that it waits for and that are no members are asked whether
 * they are ready, until all start gates are open at the same time. A process that was ready once is still asked, as a
 * member is still watched, while another gate is still shut.
 */
import { type Draft, say, update } from '../state/draft.ts';
import type { ReadyCheck, State, Task } from '../state/state.ts';
import { beginTaskAt, indexOf, type Result, taskOf } from './tasks.ts';

/** Starts what is due. */
export function startReadyChecks(draft: Draft): void {
  const { config, state } = draft;
  if (state.child.is !== 'unstarted' || state.stop !== undefined) return;
  for (const index of config.startReady.keys()) {
    const key = `ready ${index}` as const;
    if (taskOf(draft.state, key) === undefined) beginTaskAt(draft, key, checkDueAtMs(draft.state, index));
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

/** A proxy takes about a second to be ready: soon at first, then as often as is cheap for both. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

function checkDueAtMs({ looks }: State, index: number): number {
  return looks[index]?.nextAtMs ?? 0;
}
