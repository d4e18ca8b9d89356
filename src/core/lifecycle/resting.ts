/**
 * The rest between two lives in a restart in place: the command has ended and is started again, behind its gates, when
 * those of all others have.
 */
import { type ChildExit, statusOf } from '../exit.ts';
import type { DeathReason } from '../format/tombstone.ts';
import type { Backoff } from '../restart.ts';
import { FIRST_BACKOFF_MS } from '../restart.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { Child } from '../state/state.ts';
import { rfc3339 } from '../time.ts';
import { askForRestart } from './wish.ts';

/** Reset when a new process is started. */
export const RESET_PER_LIFE = { failing: undefined, hooks: {}, vitals: {} } as const;

/** `backoff`: of a command that ends again and again, and takes the pod with it. */
export function rest(draft: Draft, exit: ChildExit, reason: DeathReason, backoff?: Backoff): void {
  const { chronicle, restart, now } = draft.state;
  const last = { at: rfc3339(draft.at.wall), status: statusOf(exit), reason };
  update(draft, {
    child: { is: 'unstarted', after: exit },
    climb: undefined,
    ...RESET_PER_LIFE,
    restart: restart && { ...restart, restUntilMs: now.mono + (backoff?.delayMs ?? 0) },
    chronicle: { ...chronicle, started: undefined, healthy: undefined, exit, last },
    backoffMs: backoff?.nextMs ?? FIRST_BACKOFF_MS,
  });
  note(draft, 'ended for a restart', { Code: statusOf(exit) });
  say(draft, 'info', 'ended for a restart: starting again when all members have ended', { exitCode: statusOf(exit) });
}

/** Whether this end of the command, which nobody has asked for, restarts the pod. */
export function askByExit(draft: Draft, child: Child & { is: 'leftovers' }): boolean {
  const { config, state } = draft;
  const status = statusOf(child.exit);
  if (state.stop !== undefined || state.failing !== undefined || !config.restartPodOn.codes.includes(status))
    return false;
  askByItself(draft, `exit code ${status}`);
  return true;
}

/** Whether this failure restarts the pod: all stop as one, and not this life alone. */
export function askByFailure(draft: Draft, why: string): boolean {
  const { config, state } = draft;
  if (why !== 'liveness' || !config.restartPodOn.liveness || state.stop !== undefined) return false;
  note(draft, 'failing', { Why: why });
  say(draft, 'error', 'restarting the pod: its liveness probe failed');
  askByItself(draft, 'liveness');
  return true;
}

/** For the whole pod. */
export function askByItself(draft: Draft, why: string): void {
  const { config, state } = draft;
  const requestedMs = Math.max(state.now.mono, (state.restart?.requestedMs ?? 0) + 1);
  const by = `${config.name}: ${why}`;
  askForRestart(draft, { requestedMs, by, graceMs: undefined, among: undefined, byRule: undefined });
}
