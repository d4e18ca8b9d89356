/**
 * A failed life: a startup or liveness probe, or post-start, demands the end of this child. It ends as in a stop, by
 * pre-stop and ladder. The member then goes on with another life in place, or exits and is restarted by the platform.
 */
import { graceOf, lastTurnMs } from '../pod/deadline.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { FailingWhy, State } from '../state/state.ts';
import { rfc3339 } from '../time.ts';
import { runPreStop } from './hooks.ts';
import { checkServing } from './ready/probing.ts';
import { beginClimb } from './stop/climb.ts';
import { askRestartByFailure } from './stop/restart-end.ts';

export function decideToFail(draft: Draft): void {
  const why = failureOf(draft.state);
  if (why === undefined || !checkServing(draft)) return;
  if (askRestartByFailure(draft, why)) return;
  const { config, state } = draft;
  const probe = why === 'post-start' ? undefined : config.probes[why];
  const sinceMs = state.now.mono;
  const killAtMs = sinceMs + (probe?.graceMs ?? graceOf(config));
  update(draft, { failing: { why, sinceMs, since: rfc3339(state.now.wall), killAtMs } });
  note(draft, 'failing', { Why: why });
  say(draft, 'error', `ending this life of the command: ${FAILURE_TEXTS[why]}`);
}

export function endFailing(draft: Draft): void {
  const { failing, climb, stop, child } = draft.state;
  if (failing === undefined || climb !== undefined || child.is !== 'alive') return;
  // Once its turn has come, the stop does the same by its own time.
  if (stop !== undefined && (draft.config.role === 'main' || stop.waitsFor !== 'turn')) return;
  if (!runPreStop(draft, lastTurnMs({ sinceMs: failing.sinceMs, atMs: failing.killAtMs }))) return;
  beginClimb(draft, { why: 'failing', killAtMs: failing.killAtMs });
}

function failureOf({ hooks, vitals, notified }: State): FailingWhy | undefined {
  if (hooks.postStart?.ok === false) return 'post-start';
  if (vitals.startup?.verdict === 'down') return 'startup';
  return vitals.liveness?.verdict === 'down' || notified?.failed !== undefined ? 'liveness' : undefined;
}

const FAILURE_TEXTS: Readonly<Record<FailingWhy, string>> = {
  startup: 'its startup probe failed',
  liveness: 'its liveness probe or watchdog failed',
  'post-start': 'its post-start hook failed',
};
