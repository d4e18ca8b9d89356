/** The ends of tasks, reported by an event or by the clock. */
import { type Draft, say } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Task } from '../state/state.ts';
import { timedOutAfter } from '../time.ts';
import { onHookEnded } from './hooks.ts';
import { onProbeEnded } from './ready/probing.ts';
import { onReadyAnswer } from './ready/ready-checks.ts';
import { onValidated } from './reloading.ts';
import { onIdleAnswer } from './stop/idle.ts';
import { onQuitEnded } from './stop/quitting.ts';
import { collectEndedTasks, forgetTask, isProbe, isQuit, isReady, type Result } from './tasks.ts';

export function onTaskEnded(draft: Draft, event: Event & { type: 'taskEnded' }): void {
  const task = draft.state.tasks.find(({ id }) => id === event.id);
  if (task === undefined) return;
  const isLate = task.untilMs !== undefined && event.at.mono > task.untilMs;
  endTask(draft, task, isLate ? { ...event, ok: false, detail: timeoutDetail(task) } : event);
}

export function endOverdueTasks(draft: Draft): void {
  for (const { task, ok } of collectEndedTasks(draft)) {
    if (!ok) say(draft, 'warn', `the ${task.key} action does not end: continuing without it`);
    endTask(draft, task, { ok, detail: ok ? '' : timeoutDetail(task), output: '' });
  }
}

function timeoutDetail({ sinceMs, untilMs = sinceMs }: Task): string {
  return timedOutAfter(untilMs - sinceMs);
}

function endTask(draft: Draft, task: Task, result: Result): void {
  forgetTask(draft, task);
  if (task.key === 'postStart' || task.key === 'preStop') return onHookEnded(draft, task.key, task, result);
  if (task.key === 'idle') return onIdleAnswer(draft, task, result);
  if (isProbe(task.key)) return onProbeEnded(draft, task.key, task, result);
  if (isReady(task.key)) return onReadyAnswer(draft, task, result);
  if (isQuit(task.key)) return onQuitEnded(draft, task, result);
  onValidated(draft, task, result);
}
