/**
 * The end of a life for a restart in place, and the ends that ask for such a restart. Between its two lives a member
 * waits until the commands of all others have ended, too.
 */
import { restartsPodOn } from '../../ends.ts';
import { type ChildExit, statusOf } from '../../exit.ts';
import type { DeathReason } from '../../format/tombstone.ts';
import { type Backoff, FIRST_BACKOFF_MS } from '../../restart.ts';
import { type Draft, note, say, update } from '../../state/draft.ts';
import type { Child } from '../../state/state.ts';
import { rfc3339 } from '../../time.ts';
import { askForRestart } from './record-stop.ts';

/** The state of one life, as a new process begins it. */
export const RESET_PER_LIFE = { failing: undefined, hooks: {}, vitals: {} } as const;

/** `backoff`: the pause for a command that ends again and again and restarts the pod each time. */
export function endForRestart(draft: Draft, exit: ChildExit, reason: DeathReason, backoff?: Backoff): void {
  const { chronicle, restart, now } = draft.state;
  const last = { at: rfc3339(draft.at.wall), status: statusOf(exit), reason };
  update(draft, {
    child: { is: 'unstarted', after: exit },
    climb: undefined,
    ...RESET_PER_LIFE,
    restart: restart && {
      ...restart,
      restUntilMs: Math.max(restart.restUntilMs ?? 0, now.mono + (backoff?.delayMs ?? 0)),
    },
    chronicle: { ...chronicle, started: undefined, healthy: undefined, exit, last },
    backoffMs: backoff?.nextMs ?? FIRST_BACKOFF_MS,
  });
  note(draft, 'ended for a restart', { Code: statusOf(exit) });
  say(draft, 'info', 'ended for a restart: starting again when all members have ended', { exitCode: statusOf(exit) });
}

/** Asks for a restart of the pod if this exit code, which no stop caused, is one of `--restart-pod-on`. */
export function askRestartByExit(draft: Draft, child: Child & { is: 'roots' }): boolean {
  const { config, state } = draft;
  const status = statusOf(child.exit);
  const why = `exit code ${status}`;
  if (!restartsPodOn(config, state, status)) return false;
  if (!mayAskAgain(draft, why)) return false;
  askRestart(draft, why);
  return true;
}

/** Asks for a restart of the pod in place of ending this life alone, if `--restart-pod-on` says so. */
export function askRestartByFailure(draft: Draft, why: string): boolean {
  const { config, state } = draft;
  if (why !== 'liveness' || !config.restartPodOn.liveness || state.stop !== undefined) return false;
  if (!mayAskAgain(draft, why)) return false;
  note(draft, 'failing', { Why: why });
  say(draft, 'error', 'restarting the pod: its liveness probe or watchdog failed');
  askRestart(draft, 'liveness');
  return true;
}

/** Bounds the restarts: a Job counts failed containers and pods but no restarts in place, and would never fail. */
function mayAskAgain(draft: Draft, why: string): boolean {
  const { restartPodOn, restartPolicy } = draft.config;
  const { podRestarts } = draft.state;
  const max = restartPodOn.max ?? (restartPolicy === 'Always' ? Number.POSITIVE_INFINITY : BACKOFF_LIMIT);
  if (podRestarts < max) return true;
  say(draft, 'error', 'not restarting the pod again', { by: why, restarts: podRestarts });
  return false;
}

/** The default of a Job's `backoffLimit`. */
const BACKOFF_LIMIT = 6;

function askRestart(draft: Draft, why: string): void {
  const { config, state } = draft;
  const requestedMs = Math.max(state.now.mono, (state.restart?.requestedMs ?? 0) + 1);
  const by = `${config.name}: ${why}`;
  askForRestart(draft, { requestedMs, by, graceMs: undefined, among: undefined, byRule: undefined });
}
