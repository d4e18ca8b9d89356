/**
 * Hooks. Post-start runs beside the child from its start, and `Started` waits for it. Pre-stop runs once in a life
 * before the ladder, while the child serves on: in a stop and after a failed probe. Each shares the time of its stop: a
 * hook that does not end is ended in time for the ladder.
 */
import { type Budget, ownKillAtMs } from '../pod/deadline.ts';
import { type Draft, isDue, note, say, update, wakeAt } from '../state/draft.ts';
import type { Hook, HookKind, Task } from '../state/state.ts';
import { beginTask, dropTask, type Result, taskOf } from './tasks.ts';

export function beginPostStart(draft: Draft): void {
  const { config, state } = draft;
  if (config.postStart === undefined || state.child.is !== 'alive' || state.climb !== undefined) return;
  if (state.hooks.postStart !== undefined || taskOf(state, 'postStart') !== undefined) return;
  note(draft, 'hook', { Hook: 'post-start' });
  beginTask(draft, 'postStart');
}

/** Runs the pre-stop hook of a living child, until `lastMs` at most. Returns whether the ladder may begin. */
export function runPreStop(draft: Draft, lastMs: number | undefined): boolean {
  const { config, state } = draft;
  if (config.preStop === undefined || state.child.is !== 'alive' || state.hooks.preStop !== undefined) return true;
  wakeAt(draft, lastMs);
  const isTimeOver = isDue(draft, lastMs);
  if (taskOf(state, 'preStop') === undefined) {
    if (isTimeOver) return skipPreStop(draft);
    note(draft, 'hook', { Hook: 'pre-stop' });
    say(draft, 'info', 'running the pre-stop hook');
    beginTask(draft, 'preStop');
  }
  if (!isTimeOver) return false;
  endPreStop(draft, 'its time is over');
  return true;
}

/** A wait for others until the last moment leaves no time for the hook. */
function skipPreStop(draft: Draft): true {
  say(draft, 'warn', 'not running the pre-stop hook: its time is over');
  recordHook(draft, 'preStop', { ok: false, sinceMs: draft.state.now.mono });
  return true;
}

/** Ends the hook early: the stop is hurried, or its time is over. */
export function endPreStop(draft: Draft, why: string): void {
  const task = taskOf(draft.state, 'preStop');
  if (task === undefined) return;
  say(draft, 'warn', `ending the pre-stop hook: ${why}`);
  dropTask(draft, 'preStop');
  recordHook(draft, 'preStop', { ok: false, sinceMs: task.sinceMs });
}

export function onHookEnded(draft: Draft, kind: HookKind, { sinceMs }: Task, { ok, detail, output }: Result): void {
  const name = HOOK_NAMES[kind];
  recordHook(draft, kind, { ok, sinceMs });
  note(draft, 'hook ended', { Hook: name, Result: ok ? 'success' : 'failure', Detail: detail });
  const details = { detail, ...(output === '' ? {} : { output: output.trimEnd() }) };
  if (ok) return say(draft, 'info', `the ${name} hook has ended`, details);
  say(draft, kind === 'preStop' ? 'warn' : 'error', `the ${name} hook failed`, details);
}

/** The budget of a stop that sexton decided on. It begins with the hook, not with the first rung. */
export function ownBudget(draft: Draft): Budget {
  const { config, state } = draft;
  const sinceMs = taskOf(state, 'preStop')?.sinceMs ?? state.hooks.preStop?.sinceMs ?? state.now.mono;
  return { sinceMs, atMs: ownKillAtMs(config, sinceMs) };
}

function recordHook(draft: Draft, kind: HookKind, hook: Hook): void {
  update(draft, { hooks: { ...draft.state.hooks, [kind]: hook } });
}

const HOOK_NAMES = { postStart: 'post-start', preStop: 'pre-stop' } as const satisfies Record<HookKind, string>;
