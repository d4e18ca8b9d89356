/**
 * Tasks: actions beside the child, before or after it; at most one for each probe, hook, reload, quit call, start gate
 * and idle check. The end of a task is an event. A task that exceeds its time is ended, and given up if it does not
 * end.
 */
import type { MemberConfig, ProbeKind, TaskAction } from '../config.ts';
import { type Draft, isDue, update, wakeAt } from '../state/draft.ts';
import type { State, Task, TaskKey } from '../state/state.ts';

/** How long a helper may take to end after its KILL: a process that sleeps in the kernel does not end. */
const GIVE_UP_MS = 2_000;
const VALIDATION_MS = 30_000;
/** A proxy may drain for some seconds before it leaves. */
export const QUIT_MS = 10_000;
/** The default timeout of a probe. */
const READY_MS = 1_000;

/** The result of an action: `detail` says it in a few words, `output` is what it wrote. */
export interface Result {
  readonly ok: boolean;
  readonly detail: string;
  readonly output: string;
  readonly sum?: number;
}

export function taskOf(state: State, key: TaskKey): Task | undefined {
  return state.tasks.find((task) => task.key === key);
}

export function beginTask(draft: Draft, key: TaskKey): void {
  const { state, config } = draft;
  const action = actionOf(config, key);
  if (action === undefined || taskOf(state, key) !== undefined) return;
  const id = state.actions + 1;
  const sinceMs = state.now.mono;
  const timeoutMs = action.kind === 'sleep' ? action.ms : timeoutOf(config, key);
  const untilMs = timeoutMs === undefined ? undefined : sinceMs + timeoutMs;
  update(draft, { actions: id, tasks: [...state.tasks, { key, id, sinceMs, untilMs, ending: false }] });
  if (action.kind !== 'sleep') draft.effects.push({ type: 'startTask', id, action, timeoutMs });
}

/** Begins the task when its time has come; until then it sets a tick. */
export function beginTaskAt(draft: Draft, key: TaskKey, atMs: number): void {
  wakeAt(draft, atMs);
  if (isDue(draft, atMs)) beginTask(draft, key);
}

/** Ends and forgets a task whose result is no longer needed. */
export function dropTask(draft: Draft, key: TaskKey): void {
  const task = taskOf(draft.state, key);
  if (task === undefined) return;
  forgetTask(draft, task);
  if (task.ending || actionOf(draft.config, key)?.kind === 'sleep') return;
  draft.effects.push({ type: 'endTask', id: task.id });
}

export function forgetTask(draft: Draft, { id }: Task): void {
  update(draft, { tasks: draft.state.tasks.filter((task) => task.id !== id) });
}

export function dropTasks(draft: Draft): void {
  for (const { key } of draft.state.tasks) dropTask(draft, key);
}

/** Collects tasks that end without an event: a completed sleep, an action that does not end. */
export function collectEndedTasks(draft: Draft): readonly { readonly task: Task; readonly ok: boolean }[] {
  const over: { task: Task; ok: boolean }[] = [];
  for (const task of draft.state.tasks) {
    wakeAt(draft, task.untilMs);
    if (task.untilMs === undefined || !isDue(draft, task.untilMs)) continue;
    if (actionOf(draft.config, task.key)?.kind === 'sleep') over.push({ task, ok: true });
    else if (!task.ending) tellToEnd(draft, task);
    else {
      const giveUpMs = (task.toldMs ?? task.untilMs) + GIVE_UP_MS;
      wakeAt(draft, giveUpMs);
      if (isDue(draft, giveUpMs)) over.push({ task, ok: false });
    }
  }
  return over;
}

/** Begins again what only the last supervisor process knew of; the host goes on with commands. */
export function resumeTasks(draft: Draft): void {
  const { config, state } = draft;
  for (const { id, key, untilMs } of state.tasks) {
    const action = actionOf(config, key);
    if (action === undefined || action.kind === 'sleep' || action.kind === 'exec') continue;
    const timeoutMs = untilMs === undefined ? undefined : Math.max(1, untilMs - state.now.mono);
    draft.effects.push({ type: 'startTask', id, action, timeoutMs });
  }
}

/** It may have ended just now: its event still decides, by the time of the end. */
function tellToEnd(draft: Draft, { id }: Task): void {
  const { tasks, now } = draft.state;
  const toldMs = now.mono;
  update(draft, { tasks: tasks.map((task) => (task.id === id ? { ...task, ending: true, toldMs } : task)) });
  draft.effects.push({ type: 'endTask', id });
}

export function actionOf(config: MemberConfig, key: TaskKey): TaskAction | undefined {
  if (key === 'idle') return config.idleWhen?.action.kind === 'notify' ? undefined : config.idleWhen?.action;
  if (key === 'postStart' || key === 'preStop') return config[key];
  if (isProbe(key)) return config.probes[key]?.action;
  if (isReady(key)) return config.startReady[indexOf(key)];
  return isQuit(key) ? config.quit[indexOf(key)] : config.reload[indexOf(key)]?.validate;
}

function timeoutOf(config: MemberConfig, key: TaskKey): number | undefined {
  if (key === 'postStart' || key === 'preStop') return undefined;
  if (key === 'idle') return config.idleWhen?.timeoutMs;
  if (isProbe(key)) return config.probes[key]?.timeoutMs;
  if (isReady(key)) return READY_MS;
  return isQuit(key) ? QUIT_MS : VALIDATION_MS;
}

/** The index in a key: 2 for `reload 2`. */
export function indexOf(key: TaskKey): number {
  return Number(key.slice(key.indexOf(' ') + 1));
}

export function isQuit(key: TaskKey): key is `quit ${number}` {
  return key.startsWith('quit ');
}

export function isReady(key: TaskKey): key is `ready ${number}` {
  return key.startsWith('ready ');
}

export function isProbe(key: TaskKey): key is ProbeKind {
  return key === 'startup' || key === 'readiness' || key === 'liveness';
}
