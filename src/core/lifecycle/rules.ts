/** Starts the child, and leads a stop past its hold, drain or linger and hook. `lifecycle.ts` orders all rules. */
import { EXIT, statusOf } from '../exit.ts';
import { type Budget, endOfWaiting, floorTurnMs, lastMomentMs, lastTurnMs } from '../pod/deadline.ts';
import { mainsEndMs, mainsServed, mainsStateOf } from '../pod/finished.ts';
import { gatesOf } from '../pod/gates.ts';
import { checkHold } from '../pod/hold.ts';
import { cycleThrough } from '../pod/order.ts';
import { isRestarting } from '../pod/restart.ts';
import { peerNamed, standingOf, whyIgnored } from '../pod/standing.ts';
import { restartAtMs } from '../restart.ts';
import { SIGTERM } from '../signals.ts';
import { type Draft, isDue, note, say, sayOnce, update, wakeAt } from '../state/draft.ts';
import { isHurried, MAINS_FINISHED, type Stop } from '../state/state.ts';
import { earliest } from '../time.ts';
import { endPreStop, ownBudget, runPreStop } from './hooks.ts';
import { startAgain } from './restarting.ts';
import { beginClimb } from './stop/climb.ts';
import { endInBackoff, finishMember } from './stop/end.ts';
import { recordStop } from './stop/record-stop.ts';
import { dropTasks } from './tasks.ts';

/** A sidecar stops when its mains have finished, also in the middle of a restart. */
export function decideToStop(draft: Draft): void {
  const { config, state } = draft;
  if (state.stop !== undefined && !isRestarting(state)) return;
  if (config.role !== 'sidecar' || state.peers === undefined || config.solo) return;
  const mains = mainsStateOf(config, state);
  if (!mains.finished) {
    wakeAt(draft, mains.untilMs);
    return warnAboutUnknownMains(draft);
  }
  recordStop(draft, { origin: 'self', reason: MAINS_FINISHED, signal: SIGTERM, requests: 0 }, state.now);
  say(draft, 'info', 'the mains have finished');
}

/** Without a warning, one wrong name in the roster keeps a sidecar waiting forever and in silence. */
function warnAboutUnknownMains(draft: Draft): void {
  const { config, state } = draft;
  const missing = config.mains.filter((name) => standingOf(config, state, peerNamed(state, name)).is === 'absent');
  if (missing.length === 0) return;
  // In a stop all mains are seen: one that holds for others shows that the names are wrong.
  const isHolding = state.stop !== undefined && missing.length === config.mains.length;
  const others = isHolding ? mainsServed(config, state).slice(0, MAX_SEEN_NAMES) : [];
  const nameAtMs = state.startedAtMs + UNKNOWN_MAIN_AFTER_MS;
  wakeAt(draft, nameAtMs);
  if (!isDue(draft, nameAtMs) && others.length === 0) return;
  for (const name of missing) {
    const why = whyIgnored(config, state, name);
    const who = others.length === 0 ? name : `${name}, only ${others.join(', ')},`;
    const message =
      why === undefined
        ? `no main named ${who} has been seen; check --mains and that main's --name`
        : `the tombstone of main ${name} is ${why}: it is ignored until that main writes a new one`;
    sayOnce(draft, `missing ${name}`, 'warn', message);
  }
}
const UNKNOWN_MAIN_AFTER_MS = 10_000;
const MAX_SEEN_NAMES = 8;

export function startChildWhenReady(draft: Draft): void {
  const { config, state } = draft;
  if (state.child.is !== 'unstarted') return;
  if (isRestarting(state)) return startAgain(draft);
  if (state.stop !== undefined) {
    const exit = state.child.after;
    // The stop has beaten the restart: the previous life was the last one.
    if (exit !== undefined) return finishMember(draft, { status: statusOf(exit), reason: 'stopped', exit });
    return finishUnstarted(draft, state.stop.origin === 'platform' ? EXIT.signalBase + state.stop.signal : EXIT.ok);
  }
  const looksFirst = config.role === 'sidecar' || config.startAfter.length > 0;
  if (looksFirst && state.peers === undefined) return;
  if (!passStartGates(draft)) return;
  startChild(draft);
}

function passStartGates(draft: Draft): boolean {
  const { config, state } = draft;
  const cycle = cycleThrough(config, state);
  if (cycle !== undefined) {
    refuseToStart(
      draft,
      `cannot start: the start gates form a circle, ${cycle.slice(0, MAX_CYCLE_NAMES).join(' after ')}; remove one of them`,
    );
    return false;
  }
  const gates = gatesOf(config, state);
  if (gates.is === 'open') return true;
  const timeoutMs = (state.restart?.againSinceMs ?? state.startedAtMs) + config.startTimeoutMs;
  wakeAt(draft, timeoutMs);
  const timedOut = isDue(draft, timeoutMs);
  if (gates.is === 'shut' && !timedOut) {
    wakeAt(draft, gates.untilMs);
    sayOnce(draft, `gate ${gates.waitsFor}`, 'info', `waiting for ${gates.waitsFor}`);
    return false;
  }
  const why = gates.is === 'shut' ? `timed out waiting for ${gates.waitsFor}` : gates.why;
  if (config.startTimeoutAction === 'continue') {
    sayOnce(draft, `gate passed ${why}`, 'warn', `starting anyway: ${why}`);
    return true;
  }
  refuseToStart(draft, `cannot start: ${why}`);
  return false;
}

/** Bounds memo and log: other containers may write a circle of any length. */
const MAX_CYCLE_NAMES = 16;

function refuseToStart(draft: Draft, why: string): void {
  say(draft, 'error', why);
  note(draft, 'refused', { Why: why });
  finishUnstarted(draft, EXIT.sexton);
}

function finishUnstarted(draft: Draft, status: number): void {
  finishMember(draft, { status, reason: 'never-started', exit: undefined });
}

function startChild(draft: Draft): void {
  const { births, child } = draft.state;
  const id = births + 1;
  // Ready checks of start gates are over.
  dropTasks(draft);
  const after = child.is === 'backoff' ? child.exit : child.is === 'unstarted' ? child.after : undefined;
  update(draft, { births: id, child: { is: 'spawning', id, after } });
  draft.effects.push({ type: 'spawn', id });
}

/** Leads a stop to its first rung, past all it has to wait for. */
export function beginStop(draft: Draft): void {
  const { stop, climb, child } = draft.state;
  if (stop === undefined || climb?.why === 'stop' || child.is === 'spawning' || child.is === 'unstarted') return;
  const waitsFor = stop.waitsFor === 'pre-stop' ? undefined : checkObstacle(draft, stop);
  // A stop between two lives ends the member, unless it is a sidecar that others still need.
  if (child.is === 'backoff' && (draft.config.role === 'main' || waitsFor !== 'turn'))
    return endInBackoff(draft, child);
  // Whether others depend on this member is unknown before the graveyard was read.
  if (waitsFor === 'turn' && stop.waitsFor !== 'turn' && draft.state.peers === undefined) return;
  if (waitsFor !== undefined) {
    if (waitsFor !== stop.waitsFor) update(draft, { stop: { ...stop, waitsFor } });
    if (waitsFor === 'turn' && draft.config.role === 'sidecar') warnAboutUnknownMains(draft);
    if (waitsFor !== 'pre-stop') sayOnce(draft, `stop waits for ${waitsFor}`, 'info', WAITS[waitsFor]);
    return;
  }
  if (climb === undefined && !runPreStopOfStop(draft, stop)) {
    if (stop.waitsFor !== 'pre-stop') update(draft, { stop: { ...stop, waitsFor: 'pre-stop' } });
    return;
  }
  update(draft, { stop: { ...stop, waitsFor: undefined } });
  say(draft, 'info', 'stopping', { reason: stop.reason });
  beginClimb(draft, { why: 'stop', killAtMs: stop.origin === 'self' ? ownBudget(draft).atMs : undefined });
}

/** Without these lines the log would be silent during the wait. */
const WAITS = {
  turn: 'holding: still serving because other members depend on it',
  drain: 'draining: the command is still serving',
  linger: 'lingering',
} as const satisfies Record<Exclude<Stop['waitsFor'], 'pre-stop' | undefined>, string>;

function runPreStopOfStop(draft: Draft, stop: Stop): boolean {
  if (isHurried(stop)) {
    endPreStop(draft, 'asked to stop again');
    return true;
  }
  const budget = budgetOf(draft, stop);
  return runPreStop(draft, earliest(budget && lastTurnMs(budget), floorTurnMs(draft.config, stop)));
}

/** Without a declared grace period a pre-stop hook in a platform's stop has no time limit. */
function budgetOf(draft: Draft, stop: Stop): Budget | undefined {
  return endOfWaiting(draft.config, draft.state) ?? (stop.origin === 'self' ? ownBudget(draft) : undefined);
}

/** What the stop still has to wait for before the ladder; undefined: nothing. */
function checkObstacle(draft: Draft, stop: Stop): Stop['waitsFor'] {
  if (isHurried(stop)) return undefined;
  const obstacle = findObstacle(draft, stop);
  const floorMs = floorTurnMs(draft.config, stop);
  if (obstacle === undefined) return undefined;
  wakeAt(draft, floorMs);
  if (!isDue(draft, floorMs)) return obstacle;
  sayOnce(draft, 'grace floor', 'info', 'waiting no longer: the platform may leave no more than --grace-floor');
  return undefined;
}

function findObstacle(draft: Draft, stop: Stop): Stop['waitsFor'] {
  const { deadline } = draft.state;
  const isHeldUp = checkHold(draft, stop);
  const end = endOfWaiting(draft.config, draft.state);
  const endMs = end === undefined ? undefined : lastTurnMs(end);
  wakeAt(draft, endMs);
  if (isDue(draft, endMs)) return undefined;
  // A deadline that is merely assumed can end a hold or a linger, but never shortens a drain.
  if (isHeldUp || checkLinger(draft, stop)) {
    const softEndMs = deadline === undefined ? undefined : lastTurnMs(deadline);
    wakeAt(draft, softEndMs);
    return isDue(draft, softEndMs) ? undefined : isHeldUp ? 'turn' : 'linger';
  }
  wakeAt(draft, stop.earliestMs);
  return isDue(draft, stop.earliestMs) ? undefined : 'drain';
}

/** Whoever asked for the stop, the command of a sidecar may still read what its mains have left. */
function checkLinger(draft: Draft, stop: Stop): boolean {
  const { config, state } = draft;
  const endedMs = config.role === 'main' || stop.alone === true ? undefined : mainsEndMs(config, state);
  if (endedMs === undefined) return false;
  const untilMs = endedMs + config.lingerMs;
  wakeAt(draft, untilMs);
  return !isDue(draft, untilMs);
}

export function restartAfterBackoff(draft: Draft): void {
  const { child, now } = draft.state;
  if (child.is !== 'backoff') return;
  const untilMs = restartAtMs(child.untilMs, now.mono, lastMomentMs(draft.config, draft.state));
  if (untilMs === undefined) return;
  if (untilMs < child.untilMs) update(draft, { child: { ...child, untilMs } });
  wakeAt(draft, untilMs);
  if (isDue(draft, untilMs)) startChild(draft);
}
