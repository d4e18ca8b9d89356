/** The end of a life: another one follows in this container, or the member is over. */
import { containerCodeOf, deathReasonOf, ownReason, wantsAnotherLife } from '../../ends.ts';
import { type ChildExit, containerStatus, statusOf } from '../../exit.ts';
import type { Evidence } from '../../format/evidence.ts';
import type { DeathReason } from '../../format/tombstone.ts';
import { lastMomentMs } from '../../pod/deadline.ts';
import { checkHold } from '../../pod/hold.ts';
import { isRestarting } from '../../pod/restart.ts';
import { backoffAfter, isFinalEnd } from '../../restart.ts';
import { type Draft, note, say, update } from '../../state/draft.ts';
import { type Child, isHurried } from '../../state/state.ts';
import { rfc3339 } from '../../time.ts';
import { dropTasks } from '../tasks.ts';
import { leaveContainer } from './quitting.ts';
import { evidenceOf, withoutUndefined } from './record.ts';
import { askRestartByExit, endForRestart, RESET_PER_LIFE } from './restart-end.ts';

/** Ends a life once the child and its whole group are gone. */
export function endLife(draft: Draft, child: Child & { is: 'roots' }): void {
  const { state } = draft;
  const status = statusOf(child.exit);
  const lastMs = lastMomentMs(draft.config, state);
  const leftMs = lastMs === undefined ? undefined : lastMs - state.now.mono;
  const backoff = backoffAfter(state.backoffMs, child.livedMs, leftMs);
  dropTasks(draft);
  if (askRestartByExit(draft, child)) return endForRestart(draft, child.exit, deathReasonOf(state, child), backoff);
  if (willRestart(draft, child) && backoff !== undefined) {
    const last = { at: rfc3339(draft.at.wall), status, reason: deathReasonOf(state, child) };
    update(draft, {
      child: { is: 'backoff', untilMs: state.now.mono + backoff.delayMs, exit: child.exit },
      climb: undefined,
      ...RESET_PER_LIFE,
      chronicle: { ...state.chronicle, started: undefined, healthy: undefined, last },
      backoffMs: backoff.nextMs,
    });
    note(draft, 'restart', { DelayMs: backoff.delayMs });
    say(draft, 'warn', 'restarting in place', { exitCode: status, delayMs: backoff.delayMs });
    return;
  }
  if (isRestarting(state)) return endForRestart(draft, child.exit, deathReasonOf(state, child));
  finishMember(draft, { status, reason: deathReasonOf(state, child), exit: child.exit });
}

/** The host has published this end by the state before it: later requests to stop or restart do not change it. */
export function endAsWritten(draft: Draft, { exit }: Child & { is: 'roots' }): void {
  dropTasks(draft);
  const status = statusOf(exit);
  const code = containerStatus(draft.config, { status, stopped: false, overdue: false });
  finishMember(draft, { status, reason: ownReason(exit), exit, code });
}

/** Whether another life is to follow; the deadline may still be too near for it. */
export function willRestart(draft: Draft, child: Child & { is: 'roots' }): boolean {
  return !checkOver(draft) && wantsAnotherLife(draft.config, draft.state, statusOf(child.exit));
}

/** Whether no other life may follow: a stop beats every restart, except for a sidecar that others still need. */
function checkOver(draft: Draft): boolean {
  const { state, config } = draft;
  if (state.stop === undefined) return false;
  if (state.climb?.why === 'stop' || config.role === 'main' || isHurried(state.stop)) return true;
  return !checkHold(draft, state.stop);
}

export interface FinalExit {
  readonly status: number;
  readonly reason: DeathReason;
  readonly exit: ChildExit | undefined;
  /** The exit code of the container, where the status does not decide it. */
  readonly code?: number;
}

/** Ends the member: the tombstone gets its last lines, the container its exit code. */
export function finishMember(draft: Draft, { status, reason, exit, code: asked }: FinalExit): void {
  // Ready checks of a start gate may still run.
  dropTasks(draft);
  const { state, config } = draft;
  const code = asked ?? containerCodeOf(config, state, { status, reason });
  const final = isFinalEnd(config, code);
  update(draft, {
    child: { is: 'gone', status, code, reason, final },
    climb: undefined,
    chronicle: {
      ...state.chronicle,
      healthy: undefined,
      died: rfc3339(draft.at.wall),
      diedMonotonic: draft.at.mono,
      exit,
    },
  });
  logEvidence(draft);
  leaveContainer(draft);
}

/** Logs all of the evidence in the last line: when a pod is gone with its volume, only the log store has it. */
function logEvidence(draft: Draft): void {
  const evidence = evidenceOf(draft.config, draft.state);
  const { Summary, Reason, ExitCode, ContainerExitCode, Signal } = evidence;
  note(draft, 'over', { Summary, ...scalarsOf(evidence) });
  const details = {
    reason: Reason,
    exitCode: ExitCode,
    containerExitCode: ContainerExitCode,
    signal: Signal,
    summary: Summary,
    evidence,
  };
  say(draft, 'info', 'dead', withoutUndefined(details));
}

/** The part of the evidence that the tombstone has nowhere else. */
function scalarsOf({ ContainerExitCode, ForcedBy, StopMs, GraceMs, GraceLeftMs, Connections, Busy }: Evidence) {
  const scalars = { ContainerExitCode, ForcedBy, StopMs, GraceMs, GraceLeftMs, ...Connections, ...Busy };
  return withoutUndefined<Record<string, string | number>>(scalars);
}

/** A stop came between two lives. */
export function endInBackoff(draft: Draft, child: Child & { is: 'backoff' }): void {
  if (isRestarting(draft.state)) return endForRestart(draft, child.exit, ownReason(child.exit));
  finishMember(draft, {
    status: statusOf(child.exit),
    reason: draft.state.chronicle.last?.reason ?? ownReason(child.exit),
    exit: child.exit,
  });
}
