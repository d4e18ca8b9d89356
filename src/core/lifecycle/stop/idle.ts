/**
 * The idle check: a drain asks the application whether it is idle, as a start gate asks a sidecar whether it is ready.
 * It is idle when all answers of some time say so. Any other answer, a time-out, an error and silence mean busy. Before
 * the drain it is asked once, when the member becomes ready. By `notify` it says so unasked, and what it said last holds.
 */
import type { IdleCheck } from '../../config.ts';
import { type Draft, isDue, say, update, wakeAt } from '../../state/draft.ts';
import type { IdleLook, Task } from '../../state/state.ts';
import { beginTask, beginTaskAt, type Result, taskOf } from '../tasks.ts';

/** Asks when the next question is due, for as long as there is a command. */
export function askIfIdle(draft: Draft): void {
  const { config, state } = draft;
  if (state.child.is !== 'alive') return forgetIdleness(draft);
  if (config.idleWhen === undefined || taskOf(state, 'idle') !== undefined) return;
  if (config.idleWhen.action.kind === 'notify') return hearIfIdle(draft);
  beginTaskAt(draft, 'idle', state.idle?.nextAtMs ?? 0);
}

/** Counts what the command last said of itself as an answer: when it changes, and each period. */
function hearIfIdle(draft: Draft): void {
  const { idle, notified, now } = draft.state;
  const ok = notified?.idle === true;
  const detail = notified?.idle === undefined ? 'no X_SEXTON_IDLE yet' : 'X_SEXTON_IDLE=0';
  wakeAt(draft, idle?.nextAtMs);
  if (idle !== undefined && idle.says === (ok ? 'idle' : detail) && !isDue(draft, idle.nextAtMs)) return;
  onIdleAnswer(draft, { sinceMs: now.mono }, { ok, detail, output: '' });
}

/** Asks once when the readiness probe has succeeded: a wrong name is found before it holds up a stop. */
export function tryIdleCheck(draft: Draft): void {
  const { config, state } = draft;
  const isNew = state.stop === undefined && state.idle === undefined;
  const isReady = config.probes.readiness !== undefined && state.chronicle.healthy !== undefined;
  if (isNew && isReady && config.idleWhen !== undefined) beginTask(draft, 'idle');
}

/** From the first to the last answer of a run that is idle: only answers prove it, never the time between them. */
export function isIdleLongEnough(check: IdleCheck | undefined, look: IdleLook | undefined): boolean {
  if (check === undefined) return true;
  if (look?.idleSinceMs === undefined) return false;
  return look.askedMs >= look.idleSinceMs + check.forMs && look.askedMs >= look.changedMs + check.staleMs;
}

export function onIdleAnswer(draft: Draft, { sinceMs }: Pick<Task, 'sinceMs'>, { ok, detail, sum }: Result): void {
  const { config, state } = draft;
  const { idleWhen, name } = config;
  if (idleWhen === undefined) return;
  const { idle: before, now } = state;
  const says = ok ? 'idle' : sum === undefined ? detail : String(sum);
  const isHalved = sum !== undefined && (before?.told === undefined || sum <= before.told / 2) && sum !== before?.told;
  const isTold = before === undefined || isHalved;
  // A supervisor that stood still has not seen what the application did meanwhile.
  const isLate = before !== undefined && sinceMs > before.nextAtMs + idleWhen.periodMs;
  const look: IdleLook = {
    says,
    first: before?.first ?? says,
    sum: sum ?? before?.sum,
    changedMs: before === undefined || (sum !== undefined && sum !== before.sum) ? sinceMs : before.changedMs,
    told: isTold ? (sum ?? before?.told) : before.told,
    askedMs: sinceMs,
    idleSinceMs: ok ? ((isLate ? undefined : before?.idleSinceMs) ?? sinceMs) : undefined,
    lastBusyMs: ok ? before?.lastBusyMs : now.mono,
    nextAtMs: Math.max(sinceMs + idleWhen.periodMs, now.mono),
  };
  update(draft, { idle: look });
  const isUnknown = idleWhen.action.kind === 'gauge' && idleWhen.action.metrics.length > 0 && sum === undefined;
  if (before === undefined && isUnknown)
    say(draft, 'warn', `cannot tell whether ${name} is idle: ${detail}; ${REMEDY}`);
  say(draft, isTold && state.stop !== undefined ? 'info' : 'debug', `the application is ${ok ? 'idle' : 'busy'}`, {
    busy: says,
  });
}

const REMEDY = 'until it is known it counts as busy; check the address and the names in --idle-when';

/** Nothing is seen between two supervisors, or two lives of the command: `for` begins again. */
export function forgetIdleness(draft: Draft): void {
  const { idle } = draft.state;
  if (idle?.idleSinceMs !== undefined) update(draft, { idle: { ...idle, idleSinceMs: undefined } });
}
