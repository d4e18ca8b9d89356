/**
 * Probing: which probes run now, and what their results mean for the child.
 *
 * Probes work as in the kubelet. A startup probe comes first and alone, thresholds count results in a row, and a child
 * without a verdict is alive but not ready. Liveness and startup probes of a main end with its stop request, those of a
 * sidecar with its own turn. Readiness goes on until the child has ended.
 */
import type { Probe, ProbeKind } from '../../config.ts';
import { checkHold } from '../../pod/hold.ts';
import { type Draft, note, say, update } from '../../state/draft.ts';
import { isHurried, type State, type Task, type Vital } from '../../state/state.ts';
import { rfc3339 } from '../../time.ts';
import { watchSilence } from '../notified.ts';
import { beginTaskAt, dropTask, type Result, taskOf } from '../tasks.ts';

const KINDS: readonly ProbeKind[] = ['startup', 'readiness', 'liveness'];
const MAX_LOGGED_OUTPUT = 512;

/** Starts the probes that are due and ends those that are no longer wanted. */
export function probe(draft: Draft): void {
  const { config, state } = draft;
  if (state.child.is !== 'alive') return;
  for (const kind of KINDS) {
    const declared = config.probes[kind];
    if (declared === undefined) continue;
    if (!checkWanted(draft, kind)) dropTask(draft, kind);
    else if (taskOf(draft.state, kind) === undefined)
      beginTaskAt(draft, kind, probeDueAtMs(draft.state, kind, declared));
  }
}

/** A result counts after enough equal ones in a row. */
export function onProbeEnded(draft: Draft, kind: ProbeKind, { sinceMs }: Task, { ok, detail, output }: Result): void {
  const { config, state } = draft;
  const declared = config.probes[kind];
  if (declared === undefined) return;
  const before = vitalOf(state, kind);
  const run = before.lastOk === ok ? before.run + 1 : 1;
  const isEnough = run >= (ok ? declared.successes : declared.failures);
  const verdict = isEnough ? (ok ? 'up' : 'down') : before.verdict;
  const nextAtMs = Math.max(sinceMs + declared.periodMs, state.now.mono);
  update(draft, { vitals: { ...state.vitals, [kind]: { verdict, run, lastOk: ok, nextAtMs } } });
  const details = { detail, ...(output === '' ? {} : { output: output.trimEnd().slice(0, MAX_LOGGED_OUTPUT) }) };
  if (verdict === before.verdict) return ok ? undefined : say(draft, 'debug', `${kind} probe failed`, details);
  note(draft, 'probe', { Probe: kind, Result: ok ? 'success' : 'failure', Detail: detail });
  say(draft, ok ? 'info' : 'warn', `${kind} probe: ${ok ? 'success' : 'failure'}`, details);
}

/** `Started`: the startup probe and post-start are done, and READY=1 was said. `Healthy`: ready by its probe as well. */
export function markHealth(draft: Draft): void {
  const { config, state } = draft;
  const { chronicle, child } = state;
  if (child.is !== 'alive') return;
  const isStarted =
    chronicle.started !== undefined || (isUp(draft, 'startup') && isPostStartDone(draft) && saysReady(draft));
  const isHealthy = isStarted && isUp(draft, 'readiness') && !isLeaving(state);
  if (isStarted === (chronicle.started !== undefined) && isHealthy === (chronicle.healthy !== undefined)) return;
  const time = rfc3339(state.now.wall);
  const started = isStarted ? (chronicle.started ?? time) : undefined;
  update(draft, { chronicle: { ...chronicle, started, healthy: isHealthy ? (chronicle.healthy ?? time) : undefined } });
  if (chronicle.started !== undefined || !isStarted) return;
  if (config.probes.startup !== undefined || config.notifies) say(draft, 'info', 'is up');
  if (config.watchdogMs !== undefined) watchSilence(draft, state.notified?.watchdogMs ?? config.watchdogMs);
}

/** Whether the child serves and is not being ended, so a failure may end it. Sets the tick when that may change. */
export function checkServing(draft: Draft): boolean {
  const { stop, climb, child, failing } = draft.state;
  if (child.is !== 'alive' || climb !== undefined || failing !== undefined) return false;
  if (stop === undefined) return true;
  return draft.config.role === 'sidecar' && !isHurried(stop) && stop.waitsFor !== 'pre-stop' && checkHold(draft, stop);
}

function vitalOf(state: State, kind: ProbeKind): Vital {
  return state.vitals[kind] ?? UNKNOWN;
}

const UNKNOWN: Vital = { verdict: 'unknown', run: 0, lastOk: undefined, nextAtMs: 0 };

function checkWanted(draft: Draft, kind: ProbeKind): boolean {
  const isStartedUp = isUp(draft, 'startup');
  if (kind === 'readiness') return isStartedUp;
  return isStartedUp === (kind === 'liveness') && checkServing(draft);
}

function probeDueAtMs(state: State, kind: ProbeKind, { delayMs }: Probe): number {
  const bornMs = state.child.is === 'alive' ? state.child.sinceMs : 0;
  return Math.max(bornMs + delayMs, vitalOf(state, kind).nextAtMs);
}

/** A probe that is not declared counts as up. */
function isUp({ config, state }: Draft, kind: ProbeKind): boolean {
  return config.probes[kind] === undefined || vitalOf(state, kind).verdict === 'up';
}

/** It says that it stops or reloads. */
function isLeaving({ notified }: State): boolean {
  return notified?.stopping === true || notified?.reloading === true;
}

function saysReady({ config, state }: Draft): boolean {
  return !config.notifies || state.notified?.ready === true;
}

function isPostStartDone({ config, state }: Draft): boolean {
  return config.postStart === undefined || state.hooks.postStart?.ok === true;
}
