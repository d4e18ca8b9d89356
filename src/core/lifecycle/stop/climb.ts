/** The climb: the stop ladder under way, rung after rung. `pod/deadline.ts` lists all that ends in KILL. */
import { cleanText } from '../../format/tombstone.ts';
import { ladderOf } from '../../ladder.ts';
import { killAtMs, ownKillAtMs } from '../../pod/deadline.ts';
import { isRestarting } from '../../pod/restart.ts';
import { SIGKILL, SIGTERM, signalName } from '../../signals.ts';
import { type Draft, isDue, note, say, update, wakeAt } from '../../state/draft.ts';
import type { Event, Told } from '../../state/events.ts';
import type { Child, Climb } from '../../state/state.ts';
import { earliest } from '../../time.ts';
import { endLife, willRestart } from './end.ts';
import { ladderKillMs, untoldTimes } from './untold.ts';

/** How long what a command has started may take to end with it before it is signalled. */
const REST_MS = 20;
const REST_BEFORE_LIFE_MS = 2_000;
const UNKILLABLE_MS = 2_000;
/** The time to write a death on a slow machine. */
const WRITING_MS = 100;

export function beginClimb(
  draft: Draft,
  { why, killAtMs }: Pick<Climb, 'why' | 'killAtMs'>,
  firstRung: 'toSend' | 'sent' = 'toSend',
): void {
  const { climb, now } = draft.state;
  // Roots and failed lives have had their signal already; no process gets it twice.
  if (climb !== undefined) return update(draft, { climb: { ...climb, why } });
  update(draft, { climb: { why, rung: 0, sinceMs: now.mono, killAtMs, killed: false } });
  if (firstRung === 'toSend') sendRung(draft);
}

/** Sends the same ladder to what a command has left behind, before another life or the end may follow. */
export function stopRoots(draft: Draft): void {
  const { child, climb, now } = draft.state;
  if (child.is !== 'roots' || climb !== undefined) return;
  wakeAt(draft, child.sinceMs + REST_MS);
  if (!isDue(draft, child.sinceMs + REST_MS)) return;
  const ownAtMs = ownKillAtMs(draft.config, now.mono);
  // They may not take the whole budget of the life that follows.
  const killAt = willRestart(draft, child) ? Math.min(ownAtMs, now.mono + REST_BEFORE_LIFE_MS) : ownAtMs;
  say(draft, 'info', 'the command has ended but processes that it started are still running: stopping them');
  beginClimb(draft, { why: 'rest', killAtMs: killAt });
}

/** The host has carried a rung to these processes. */
export function onTold(draft: Draft, { id, ...told }: Event & { type: 'told' }): void {
  const { child } = draft.state;
  if (!isThere(child) || child.id !== id) return;
  if (told.why !== 'first' && told.why !== 'through') countOthers(draft, told.count);
  say(draft, 'info', whomTold(told));
}

function countOthers(draft: Draft, count: number): void {
  const { chronicle } = draft.state;
  const stages = chronicle.stages.map((stage, index) =>
    index === chronicle.stages.length - 1 ? { ...stage, others: (stage.others ?? 0) + count } : stage,
  );
  update(draft, { chronicle: { ...chronicle, stages } });
}

/** The host has sent a stop signal by itself, to the command alone if it names a receiver. */
export function sayReceiver(draft: Draft, signal: number, pid: number): void {
  if (pid > 0) say(draft, 'info', `${signalName(signal).slice(3)} to the command (pid ${pid})`);
}

function whomTold({ signal, count, pid, why, name, of }: Told): string {
  const one = `${cleanText(name, MAX_COMM)} (pid ${pid})`;
  const whom = count === 1 ? one : `${count} processes, the first is ${one}`;
  return `${signalName(signal).slice(3)} to ${whom}${HOW_TOLD[why](cleanText(of, MAX_COMM))}`;
}

/** The longest name in /proc/PID/comm. */
const MAX_COMM = 16;

const HOW_TOLD: Readonly<Record<Told['why'], (of: string) => string>> = {
  first: () => '',
  through: (of) => `, as ${of} passes nothing on`,
  trap: (of) => `, so that the trap of ${of} runs`,
  left: () => ', which the command has left behind',
  reader: () => ', which reads what others write',
  late: () => ', which had not had it and may be KILLed soon',
};

/** Goes from rung to rung by their times; sends KILL when the time is over. */
export function climbInTime(draft: Draft): void {
  const { climb, deadline, child } = draft.state;
  if (climb === undefined || climb.killed || (child.is !== 'alive' && child.is !== 'roots')) return;
  const deadlineMs = deadline?.kills === true ? killAtMs(deadline) : undefined;
  if (isDue(draft, climb.killAtMs)) return killNow(draft, 'the grace period is over');
  wakeAt(draft, climb.killAtMs);
  if (isDue(draft, deadlineMs)) return killNow(draft, 'the deadline has come');
  wakeAt(draft, deadlineMs);
  const rung = rungsOf(draft)[climb.rung];
  const askedMs = draft.state.notified?.busyUntilMs ?? 0;
  const nextRungMs = rung?.forMs === undefined ? undefined : Math.max(climb.sinceMs + rung.forMs, askedMs);
  if (isDue(draft, nextRungMs)) return climbOn(draft);
  wakeAt(draft, nextRungMs);
}

/**
 * Zombies that nothing reaps and processes blocked in the kernel survive KILL. Wait 2 s for them, or less if the death
 * must be recorded sooner. They no longer run, so another life may follow.
 */
export function giveUpOnUnkillable(draft: Draft): void {
  const { child, climb, deadline } = draft.state;
  if (child.is !== 'roots' || climb?.killed !== true) return;
  // No platform ends a container in which the command is to start again.
  const isTheEnd = deadline?.kills === true && !isRestarting(draft.state);
  const lastMs = isTheEnd ? deadline.atMs - WRITING_MS : Number.POSITIVE_INFINITY;
  const patientMs = Math.max(climb.sinceMs, child.sinceMs) + UNKILLABLE_MS;
  // The end of the roots is reported right behind that of the command, even when both are heard late.
  const giveUpMs = Math.max(climb.sinceMs + WRITING_MS, child.sinceMs + REST_MS, Math.min(patientMs, lastMs));
  wakeAt(draft, giveUpMs);
  if (!isDue(draft, giveUpMs)) return;
  say(draft, 'warn', 'some of its processes survived KILL: they are waited for no longer');
  endLife(draft, child);
}

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

/** The host has sent KILL: we did not run, or not in time. */
export function onKilledByHost(draft: Draft, id: number): void {
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
  draft.effects.push({ type: 'kill', id: child.id, signal });
}

function isThere(child: Child): child is Child & { is: 'spawning' | 'alive' | 'roots' } {
  return child.is === 'spawning' || child.is === 'alive' || child.is === 'roots';
}

function sendRung(draft: Draft): void {
  const { climb, child } = draft.state;
  const rung = climb === undefined ? undefined : rungsOf(draft)[climb.rung];
  if (climb === undefined || rung === undefined) return;
  if (child.is === 'alive' && rung.signal === climb.passedOn) return;
  if (rung.signal === SIGKILL) return killNow(draft, 'the last rung of the ladder');
  if (!isThere(child)) return;
  note(draft, 'signal sent', { Signal: signalName(rung.signal) });
  const { lateMs, lastMs } = untoldTimes(climb.sinceMs, nextKillMs(draft, climb)) ?? {};
  draft.effects.push({ type: 'stop', id: child.id, signal: rung.signal, lateMs, lastMs });
}

/** The time of the KILL that ends this climb; undefined: no such time is known. */
function nextKillMs(draft: Draft, { rung, sinceMs, killAtMs: ownMs }: Climb): number | undefined {
  const { deadline } = draft.state;
  const ladderMs = ladderKillMs(rungsOf(draft).slice(rung), sinceMs);
  return earliest(ladderMs, ownMs, deadline?.kills === true ? killAtMs(deadline) : undefined);
}

function rungsOf(draft: Draft): ReturnType<typeof ladderOf> {
  return ladderOf(draft.config, draft.state.stop?.signal ?? SIGTERM);
}
