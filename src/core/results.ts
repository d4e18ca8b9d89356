/**
 * The ends of tasks, whether an event or the clock tells of them.
 */
import type { Draft } from './draft.ts';
import { say } from './draft.ts';
import type { Event } from './events.ts';
import { hearOfHook } from './hooks.ts';
import { hearOfLook } from './looking.ts';
import { takeResult } from './probing.ts';
import { hearOfQuit } from './quitting.ts';
import { hearOfValidation } from './reloading.ts';
import type { Task } from './state.ts';
import { forgetTask, isProbe, isQuit, isReady, type Result, tasksOver } from './tasks.ts';
import { timedOutAfter } from './time.ts';

export function hearOfEnd(draft: Draft, event: Event & { type: 'actionEnded' }): void {
  const task = draft.state.tasks.find(({ id }) => id === event.id);
  if (task === undefined) return;
  const isLate = task.untilMs !== undefined && event.at.mono > task.untilMs;
  settle(draft, task, isLate ? { ...event, ok: false, detail: timeoutOf(task) } : event);
}

export function settleTasks(draft: Draft): void {
  for (const { task, ok } of tasksOver(draft)) {
    if (!ok) say(draft, 'warn', `the ${task.key} action does not end: going on without it`);
    settle(draft, task, { ok, detail: ok ? '' : timeoutOf(task), output: '' });
  }
}

function timeoutOf({ sinceMs, untilMs = sinceMs }: Task): string {
  return timedOutAfter(untilMs - sinceMs);
}

function settle(draft: Draft, task: Task, result: Result): void {
  forgetTask(draft, task);
  if (task.key === 'postStart' || task.key === 'preStop') return hearOfHook(draft, task.key, task, result);
  if (isProbe(task.key)) return takeResult(draft, task.key, task, result);
  if (isReady(task.key)) return hearOfLook(draft, task, result);
  if (isQuit(task.key)) return hearOfQuit(draft, task, result);
  hearOfValidation(draft, task, result);
}
