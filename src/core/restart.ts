/** Restarts: whether the platform starts an ended member again, and whether and when sexton restarts it in place. */
import type { MemberConfig, RestartPolicy, RestartRule } from './config.ts';
import { containerStatus, EXIT } from './exit.ts';
import { SIGKILL } from './signals.ts';

export const FIRST_BACKOFF_MS = 100;
const LAST_BACKOFF_MS = 10_000;
/** A life of this length resets the backoff. */
const FORGIVEN_AFTER_MS = 60_000;
/** With no more time than this until the deadline, nothing is started. */
const TOO_LATE_MS = 1_000;

/** Whether a container that exits with this code stays ended: no rule and no policy restarts it. */
export function isFinalEnd({ restartPolicy, restartRules }: MemberConfig, code: number): boolean {
  return !restartRules.some((rule) => matches(rule, code)) && isFinalUnder(restartPolicy, code === 0);
}

/** Whether a rule restarts a container that was killed as a whole and wrote no death. */
export function restartsIfKilled({ restartRules }: MemberConfig): boolean {
  return restartRules.some((rule) => matches(rule, EXIT.signalBase + SIGKILL));
}

export function restartsAll({ restartRules }: MemberConfig): boolean {
  return restartRules.some(({ action }) => action === 'restart-all');
}

/** Whether a container that exits with this code makes the platform restart all. */
export function restartsAllOn({ restartRules }: MemberConfig, code: number): boolean {
  return restartRules.find((rule) => matches(rule, code))?.action === 'restart-all';
}

function matches({ codes, except }: RestartRule, code: number): boolean {
  return codes.includes(code) !== except;
}

/** Whether a container that ended so stays ended, under the policy alone. */
export function isFinalUnder(policy: RestartPolicy, succeeded: boolean): boolean {
  return policy === 'Never' || (policy === 'OnFailure' && succeeded);
}

export interface Death {
  readonly status: number;
  readonly podStops: boolean;
  /** A probe or post-start has ended this life: no exit code makes that a success. */
  readonly failed: boolean;
}

/**
 * `auto` restarts only where the platform would not: while the pod stops, and after a final end. A sidecar
 * whose mains are in doubt is restarted, too (`isInDoubt`). Elsewhere the container exits with the code of its child,
 * which keeps a crash loop visible.
 */
export function wantsRestart(config: MemberConfig, { status, podStops, failed }: Death): boolean {
  switch (config.restart) {
    case 'never':
      return false;
    case 'always':
      return true;
    case 'on-failure':
      return status !== 0 || failed;
    case 'auto':
      // The platform decides by the container's code.
      return podStops || isFinalEnd(config, containerStatus(config, { status, stopped: false, overdue: false }));
    default:
      return config.restart satisfies never;
  }
}

export interface Backoff {
  readonly delayMs: number;
  readonly nextMs: number;
}

/** 100 ms doubling to 10 s; in a stop at most a tenth of the time left, and undefined when too little is left. */
export function backoffAfter(backoffMs: number, livedMs: number, leftMs: number | undefined): Backoff | undefined {
  const base = livedMs >= FORGIVEN_AFTER_MS ? FIRST_BACKOFF_MS : backoffMs;
  const nextMs = Math.min(base * 2, LAST_BACKOFF_MS);
  if (leftMs === undefined) return { delayMs: base, nextMs };
  return leftMs <= TOO_LATE_MS ? undefined : { delayMs: Math.min(base, Math.floor(leftMs / 10)), nextMs };
}

/** A stop between two lives shortens the pause by the same rule; undefined: too little time for another life. */
export function restartAtMs(untilMs: number, nowMs: number, deadlineAtMs: number | undefined): number | undefined {
  if (deadlineAtMs === undefined) return untilMs;
  const leftMs = deadlineAtMs - nowMs;
  return leftMs <= TOO_LATE_MS ? undefined : Math.min(untilMs, nowMs + Math.floor(leftMs / 10));
}
