/**
 * Looking: before the child is started, those that it waits for and that are no members are asked whether they are ready, until all
 * start gates are open at the same time. Who was ready once is asked on, as a member is watched on, while another gate is still shut.
 */
import { type Draft, reached, say, update } from './draft.ts';
import type { Look, State, Task } from './state.ts';
import { beginTask, indexOf, type Result, taskOf } from './tasks.ts';

/** Starts what is due. */
export function lookAround(draft: Draft): void {
  const { config, state } = draft;
  if (state.child.is !== 'unborn' || state.stop !== undefined) return;
  for (const index of config.startReady.keys()) {
    const key = `ready ${index}` as const;
    if (taskOf(draft.state, key) === undefined && reached(draft, dueAtMs(draft.state, index))) beginTask(draft, key);
  }
}

export function hearOfLook(draft: Draft, { key, sinceMs }: Task, { ok, detail }: Result): void {
  const { config, state } = draft;
  const index = indexOf(key);
  const before = state.looks[index];
  const failures = ok ? 0 : (before?.failures ?? 0) + 1;
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1), LONGEST_PAUSE_MS);
  const nextAtMs = Math.max(sinceMs + (ok ? LONGEST_PAUSE_MS : pauseMs), state.now.mono);
  const look: Look = { ok, detail, failures, nextAtMs };
  update(draft, { looks: { ...state.looks, [index]: look } });
  if (ok !== (before?.ok ?? false))
    say(draft, 'info', `${config.startReady[index]?.name} is ${ok ? '' : 'no longer '}ready`, { detail });
}

/** A proxy takes about a second to be ready: soon at first, then as often as is cheap for both. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

function dueAtMs({ looks }: State, index: number): number {
  return looks[index]?.nextAtMs ?? 0;
}
