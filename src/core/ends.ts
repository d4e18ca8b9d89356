/**
 * Pure functions that decide what happens after a command has ended: its death reason, a restart, the exit code. The
 * lifecycle calls them when the command ends (`lifecycle/stop/end.ts`), `end-rows.ts` calls them beforehand.
 */
import type { MemberConfig } from './config.ts';
import { type ChildExit, containerStatus, isInterrupt, statusOf } from './exit.ts';
import type { DeathReason } from './format/tombstone.ts';
import { mainsStateOf } from './pod/finished.ts';
import { isFinalEnd, wantsRestart } from './restart.ts';
import { SIGKILL, signalName } from './signals.ts';
import { type Child, type Climb, MAINS_FINISHED, type State, type Stop } from './state/state.ts';

/** The stop in which a command has ended, if there was one. */
export interface Stopping {
  readonly stop: Pick<Stop, 'origin' | 'reason' | 'alone' | 'atMs'> | undefined;
  readonly climb: Pick<Climb, 'why' | 'killed'> | undefined;
}

export function deathReasonOf(
  { stop, climb }: Stopping,
  { exit, sinceMs, oom }: Pick<Child & { is: 'roots' }, 'exit' | 'sinceMs' | 'oom'>,
): DeathReason {
  if (oom) return 'oom';
  if (exit.signal === SIGKILL) return 'killed';
  if (climb?.why === 'failing') return 'stopped';
  // A command that ended before the stop was not stopped by it, however long its group took.
  if (stop !== undefined && climb?.why === 'stop' && sinceMs >= stop.atMs) return 'stopped';
  return ownReason(exit);
}

/** The reason for the end of a child that was not stopped. */
export function ownReason(exit: ChildExit): DeathReason {
  if (isInterrupt(exit)) return 'stopped';
  return statusOf(exit) === 0 ? 'completed' : 'error';
}

export function containerCodeOf(
  config: MemberConfig,
  { stop, climb }: Stopping,
  { status, reason }: { readonly status: number; readonly reason: DeathReason },
): number {
  const isThePlatforms = stop?.origin === 'platform' && stop.reason !== MAINS_FINISHED;
  const overdue = reason === 'killed' && climb?.killed === true && isThePlatforms;
  // A container that is stopped alone is started again: exit code 0 would say that its work is done.
  const isToComeBack = stop?.alone === true && !isFinalEnd(config, status);
  return containerStatus(config, { status, stopped: stop !== undefined && !isToComeBack, overdue });
}

/** Whether this exit code, which no stop caused, is one of `--restart-pod-on`. */
export function restartsPodOn({ restartPodOn }: MemberConfig, { stop, failing }: State, status: number): boolean {
  return stop === undefined && failing === undefined && restartPodOn.codes.includes(status);
}

/** Whether the command is to run again in this container, unless a stop is over. */
export function wantsAnotherLife(config: MemberConfig, state: State, status: number): boolean {
  const { stop, failing } = state;
  const death = { status, podStops: stop !== undefined, failed: failing !== undefined };
  return wantsRestart(config, death) || isInDoubt(config, state);
}

/** Whether it is unclear if the mains have finished: a sidecar that left now would be restarted, perhaps endlessly. */
function isInDoubt(config: MemberConfig, state: State): boolean {
  if (config.role !== 'sidecar' || config.restart !== 'auto' || config.restartPolicy === 'Always') return false;
  if (state.stop !== undefined) return false;
  const { finished, untilMs } = mainsStateOf(config, state);
  return !finished && untilMs !== undefined;
}

/** Whether this end is followed by quit calls. */
export function makesQuitCalls({ role, quit }: MemberConfig, final: boolean): boolean {
  return role === 'main' && final && quit.length > 0;
}

export function stopReasonOf(signal: number): string {
  return `signal ${signalName(signal).slice(3)}`;
}
