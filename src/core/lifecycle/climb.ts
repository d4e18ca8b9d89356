/**
 * The climb: the stop ladder under way, rung after rung, and KILL at its end.
 */

import { ladderOf } from '../ladder.ts';
import { killAtMs, ownKillAtMs } from '../pod/deadline.ts';
import { isRestarting } from '../pod/restart.ts';
import { SIGKILL, SIGTERM, signalName } from '../signals.ts';
import { type Draft, isDue, note, say, update, wakeAt } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Child, Climb } from '../state/state.ts';
import { endLife, willRestart } from './end.ts';

/** How long the rest of a group may take to follow its leader before it is told to. */
const REST_MS = 20;
const REST_BEFORE_LIFE_MS = 2_000;
const UNKILLABLE_MS = 2_000;
/** What it takes to write down a death, on a slow day. */
const WRITING_MS = 100;

/** The first rung. */
export function beginClimb(
  draft: Draft,
  { why, killAtMs }: Pick<Climb, 'why' | 'killAtMs'>,
  firstRung: 'toSend' | 'sent' = 'toSend',
): void {
  const { climb, now } = draft.state;
  // What a child has left behind was told already, and a child that has failed too; no process gets the signal twice.
  if (climb !== undefined) return update(draft, { climb: { ...climb, why } });
  update(draft, { climb: { why, rung: 0, sinceMs: now.mono, killAtMs, killed: false } });
  if (firstRung === 'toSend') sendRung(draft);
}

/** What a child leaves behind when it ends gets the same ladder before another life, or the end, may follow. */
export function stopLeftovers(draft: Draft): void {
  const { child, climb, now } = draft.state;
  if (child.is !== 'leftovers' || climb !== undefined) return;
  wakeAt(draft, child.sinceMs + REST_MS);
  if (!isDue(draft, child.sinceMs + REST_MS)) return;
  const ownAtMs = ownKillAtMs(draft.config, now.mono);
  // Another life is to follow: what the last one left may not take the whole budget.
  const killAt = willRestart(draft, child) ? Math.min(ownAtMs, now.mono + REST_BEFORE_LIFE_MS) : ownAtMs;
  say(draft, 'info', 'the command has ended but processes that it started are still running: stopping them');
  beginClimb(draft, { why: 'rest', killAtMs: killAt });
}

/** The group is empty, and those that have left it are told what it was told. */
export function turnToStrays(draft: Draft, child: Child & { is: 'leftovers' }): void {
  const { climb } = draft.state;
  update(draft, { child: { ...child, strays: true } });
  if (climb === undefined) return;
  const signal = climb.killed ? SIGKILL : rungsOf(draft)[climb.rung]?.signal;
  if (signal !== undefined) sendSignal(draft, signal);
}

/** Rung after rung by its own time; KILL when the time is over. */
export function climbInTime(draft: Draft): void {
  const { climb, deadline, child } = draft.state;
  if (climb === undefined || climb.killed || (child.is !== 'alive' && child.is !== 'leftovers')) return;
  const deadlineMs = deadline?.kills === true ? killAtMs(deadline) : undefined;
  if (isDue(draft, climb.killAtMs)) return killNow(draft, 'the grace period is over');
  wakeAt(draft, climb.killAtMs);
  if (isDue(draft, deadlineMs)) return killNow(draft, 'the deadline has come');
  wakeAt(draft, deadlineMs);
  const rung = rungsOf(draft)[climb.rung];
  const nextRungMs = rung?.forMs === undefined ? undefined : climb.sinceMs + rung.forMs;
  if (isDue(draft, nextRungMs)) return climbOn(draft);
  wakeAt(draft, nextRungMs);
}

/**
 * KILL ends no zombie whose parent does not reap it and no process that sleeps in the kernel: once the leader was
 * reaped such leftovers are waited for 2 s, and in a stop only so long that the death is still written. They run no
 * more, so another life may follow.
 */
export function giveUpOnUnkillable(draft: Draft): void {
  const { child, climb, deadline } = draft.state;
  if (child.is !== 'leftovers' || climb?.killed !== true) return;
  // Nobody ends a container in which the command is to start again.
  const isTheEnd = deadline?.kills === true && !isRestarting(draft.state);
  const lastMs = isTheEnd ? deadline.atMs - WRITING_MS : Number.POSITIVE_INFINITY;
  const patientMs = Math.max(climb.sinceMs, child.sinceMs) + UNKILLABLE_MS;
  // Word of the rest comes right behind that of the leader, however late both are heard.
  const giveUpMs = Math.max(climb.sinceMs + WRITING_MS, child.sinceMs + REST_MS, Math.min(patientMs, lastMs));
  wakeAt(draft, giveUpMs);
  if (!isDue(draft, giveUpMs)) return;
  say(draft, 'warn', 'some of its processes survived KILL: they are waited for no longer');
  endLife(draft, child);
}

/** To the next rung, if there is one. */
export function climbOn(draft: Draft): void {
  const { climb, now } = draft.state;
  if (climb === undefined || climb.killed || rungsOf(draft)[climb.rung + 1] === undefined) return;
  update(draft, { climb: { ...climb, rung: climb.rung + 1, sinceMs: now.mono } });
  sendRung(draft);
}

const FROM_NOTHING = { why: 'stop', rung: 0, killAtMs: undefined } as const;

export function killNow(draft: Draft, why: string): void {
  const { climb, child, now } = draft.state;
  if (climb?.killed === true || !isThere(child)) return;
  update(draft, { climb: { ...FROM_NOTHING, ...climb, sinceMs: now.mono, killed: true } });
  say(draft, 'warn', `killing: ${why}`);
  sendSignal(draft, SIGKILL);
}

/** The host was first: we did not run, or not in time. */
export function onOverdue(draft: Draft, { id }: Event & { type: 'overdue' }): void {
  const { climb, child, now } = draft.state;
  if (climb?.killed === true || !isThere(child) || child.id !== id) return;
  update(draft, { climb: { ...FROM_NOTHING, ...climb, sinceMs: now.mono, killed: true } });
  note(draft, 'signal sent', { Signal: signalName(SIGKILL) });
  say(draft, 'warn', 'killed by init: the deadline has come');
}

export function sendSignal(draft: Draft, signal: number): void {
  const { child } = draft.state;
  if (!isThere(child)) return;
  note(draft, 'signal sent', { Signal: signalName(signal) });
  if (child.is === 'leftovers' && child.strays) draft.effects.push({ type: 'sweep', signal });
  else draft.effects.push({ type: 'kill', id: child.id, signal });
}

function isThere(child: Child): child is Child & { is: 'spawning' | 'alive' | 'leftovers' } {
  return child.is === 'spawning' || child.is === 'alive' || child.is === 'leftovers';
}

function sendRung(draft: Draft): void {
  const { climb } = draft.state;
  const rung = climb === undefined ? undefined : rungsOf(draft)[climb.rung];
  if (climb === undefined || rung === undefined) return;
  if (rung.signal === SIGKILL) return killNow(draft, 'the last rung of the ladder');
  sendSignal(draft, rung.signal);
}

function rungsOf(draft: Draft): ReturnType<typeof ladderOf> {
  return ladderOf(draft.config, draft.state.stop?.signal ?? SIGTERM);
}
