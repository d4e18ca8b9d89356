/**
 * The rules: from the facts and the time to what is to be done. Applied in this order until none adds anything.
 */
import { bearWitness, recognizeLoneStop } from './alone.ts';
import { trustHeldBoots } from './boots.ts';
import { beginClimb, clearRest, climbInTime, leaveTheUndead } from './climb.ts';
import { type Budget, endOfWaiting, lastMomentMs, lastTurnMs } from './deadline.ts';
import { nameTheDeparted } from './departed.ts';
import { type Draft, note, reached, say, sayOnce, update } from './draft.ts';
import { watchDrain } from './drain.ts';
import { bury, endInBackoff } from './end.ts';
import { EXIT } from './exit.ts';
import { decideToFail, endFailing } from './failing.ts';
import { verdictOf } from './finished.ts';
import { gatesOf } from './gates.ts';
import { floorTurnMs } from './grace-floor.ts';
import { holdsBack } from './hold.ts';
import { beginPostStart, endPreStop, ownBudget, preStopIsOver } from './hooks.ts';
import { lookAround } from './looking.ts';
import { cycleThrough } from './order.ts';
import { markHealth, probe } from './probing.ts';
import { offerPromptStop } from './prompt.ts';
import { leaveInTime } from './quitting.ts';
import { rebirthAtMs } from './restart.ts';
import { settleTasks } from './results.ts';
import { SIGTERM } from './signals.ts';
import { peerNamed, standingOf, whyIgnored } from './standing.ts';
import { MAINS_FINISHED, type Stop } from './state.ts';
import { dropTasks } from './tasks.ts';
import { wishToStop } from './wish.ts';

export function advance(draft: Draft): void {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const before = draft.state;
    // Of a member that is over quit calls may be left.
    if (isGone(draft)) {
      settleTasks(draft);
      leaveInTime(draft);
      watchDrain(draft);
    } else for (const rule of RULES) if (!isGone(draft)) rule(draft);
    if (draft.state === before) return;
  }
  throw new Error('internal error: the rules do not come to rest');
}

function isGone({ state }: Draft): boolean {
  return state.child.is === 'gone';
}

const RULES: readonly ((draft: Draft) => void)[] = [
  trustHeldBoots,
  recognizeLoneStop,
  decideToStop,
  nameTheDeparted,
  lookAround,
  beginLife,
  beginPostStart,
  settleTasks,
  markHealth,
  decideToFail,
  watchDrain,
  beginStop,
  endFailing,
  probe,
  clearRest,
  climbInTime,
  leaveTheUndead,
  rebegin,
  offerPromptStop,
  bearWitness,
];
/** Each round changes the facts for good; the longest chain has fewer links than there are rules. */
const MOST_ROUNDS = 40;

/** A sidecar lives for its mains. */
function decideToStop(draft: Draft): void {
  const { config, state } = draft;
  if (config.role !== 'sidecar' || state.stop !== undefined || state.peers === undefined || config.solo) return;
  const verdict = verdictOf(config, state);
  if (!verdict.finished) {
    if (verdict.untilMs !== undefined) reached(draft, verdict.untilMs);
    return nameTheMissing(draft);
  }
  const wish = { origin: 'self', reason: MAINS_FINISHED, signal: SIGTERM, requests: 0 } as const;
  wishToStop(draft, wish, state.now, config.lingerMs);
  say(draft, 'info', 'the mains have finished');
}

/** One wrong name in the roster would be waited for in silence for ever. */
function nameTheMissing(draft: Draft): void {
  const { config, state } = draft;
  const missing = config.mains.filter((name) => standingOf(config, state, peerNamed(state, name)).is === 'absent');
  if (missing.length === 0 || !reached(draft, state.startedAtMs + NAME_MISSING_AFTER_MS)) return;
  for (const name of missing) {
    const why = whyIgnored(config, state, name);
    const message =
      why === undefined
        ? `no main named ${name} has been seen; check --mains and that main's --name`
        : `the tombstone of main ${name} is ${why}: it is ignored until that main writes a new one`;
    sayOnce(draft, `missing ${name}`, 'warn', message);
  }
}
const NAME_MISSING_AFTER_MS = 10_000;

function beginLife(draft: Draft): void {
  const { config, state } = draft;
  if (state.child.is !== 'unborn') return;
  if (state.stop !== undefined)
    return neverStart(draft, state.stop.origin === 'platform' ? EXIT.signalBase + state.stop.signal : EXIT.ok);
  const looksFirst = config.role === 'sidecar' || config.startAfter.length > 0;
  if (looksFirst && state.peers === undefined) return;
  if (!isPassable(draft)) return;
  spawn(draft);
}

function isPassable(draft: Draft): boolean {
  const { config, state } = draft;
  const cycle = cycleThrough(config, state);
  if (cycle !== undefined) {
    refuse(
      draft,
      `cannot start: the start gates form a circle, ${cycle.slice(0, MOST_NAMED).join(' after ')}; take one of them out`,
    );
    return false;
  }
  const gates = gatesOf(config, state);
  if (gates.is === 'open') return true;
  const timedOut = reached(draft, state.startedAtMs + config.startTimeoutMs);
  if (gates.is === 'shut' && !timedOut) {
    if (gates.untilMs !== undefined) reached(draft, gates.untilMs);
    sayOnce(draft, `gate ${gates.waitsFor}`, 'info', `waiting for ${gates.waitsFor}`);
    return false;
  }
  const why = gates.is === 'shut' ? `timed out waiting for ${gates.waitsFor}` : gates.why;
  if (config.startTimeoutAction === 'continue') {
    sayOnce(draft, `gate passed ${why}`, 'warn', `starting all the same: ${why}`);
    return true;
  }
  refuse(draft, `cannot start: ${why}`);
  return false;
}

/** A circle may be as long as somebody else's files make it; the memo and the log are not. */
const MOST_NAMED = 16;

function refuse(draft: Draft, why: string): void {
  say(draft, 'error', why);
  note(draft, 'refused', { Why: why });
  neverStart(draft, EXIT.sexton);
}

function neverStart(draft: Draft, status: number): void {
  bury(draft, { status, reason: 'never-started', exit: undefined });
}

function spawn(draft: Draft): void {
  const { births, child } = draft.state;
  const id = births + 1;
  // Start gates are not asked about any more.
  dropTasks(draft);
  update(draft, { births: id, child: { is: 'spawning', id, after: child.is === 'backoff' ? child.exit : undefined } });
  draft.effects.push({ type: 'spawnChild', id });
}

/** From the wish to stop to the first rung. */
function beginStop(draft: Draft): void {
  const { stop, climb, child } = draft.state;
  if (stop === undefined || climb?.why === 'stop' || child.is === 'spawning') return;
  const waitsFor = stop.waitsFor === 'pre-stop' ? undefined : obstacleTo(draft, stop);
  // Between two lives only those who still need a sidecar are a reason to go on; a main's stop beats its restart.
  if (child.is === 'backoff' && (draft.config.role === 'main' || waitsFor !== 'turn'))
    return endInBackoff(draft, child);
  if (waitsFor !== undefined) {
    if (waitsFor !== stop.waitsFor) update(draft, { stop: { ...stop, waitsFor } });
    if (waitsFor !== 'pre-stop') sayOnce(draft, `stop waits for ${waitsFor}`, 'info', WAITS[waitsFor]);
    return;
  }
  if (climb === undefined && !preStopLetsPass(draft, stop)) {
    if (stop.waitsFor !== 'pre-stop') update(draft, { stop: { ...stop, waitsFor: 'pre-stop' } });
    return;
  }
  update(draft, { stop: { ...stop, waitsFor: undefined } });
  say(draft, 'info', 'stopping', { reason: stop.reason });
  beginClimb(draft, { why: 'stop', killAtMs: stop.origin === 'self' ? ownBudget(draft).atMs : undefined });
}

/** Else a log would be silent for as long as that takes. */
const WAITS = {
  turn: 'holding: serving on, as others may need this member',
  drain: 'draining: the command serves on',
  linger: 'lingering',
} as const satisfies Record<Exclude<Stop['waitsFor'], 'pre-stop' | undefined>, string>;

function preStopLetsPass(draft: Draft, stop: Stop): boolean {
  if (stop.requests >= 2) {
    endPreStop(draft, 'asked to stop again');
    return true;
  }
  const budget = budgetOf(draft, stop);
  const moments = [budget && lastTurnMs(budget), floorTurnMs(draft.config, stop)].filter((atMs) => atMs !== undefined);
  return preStopIsOver(draft, moments.length === 0 ? undefined : Math.min(...moments));
}

/** Where nobody has declared a grace period a pre-stop of the platform's stop takes as long as it likes. */
function budgetOf(draft: Draft, stop: Stop): Budget | undefined {
  return endOfWaiting(draft.config, draft.state) ?? (stop.origin === 'self' ? ownBudget(draft) : undefined);
}

/** What still stands between the wish to stop and the ladder. */
function obstacleTo(draft: Draft, stop: Stop): Stop['waitsFor'] {
  if (stop.requests >= 2) return undefined;
  const obstacle = obstacleInTime(draft, stop);
  const floorMs = floorTurnMs(draft.config, stop);
  if (obstacle === undefined || floorMs === undefined || !reached(draft, floorMs)) return obstacle;
  sayOnce(draft, 'grace floor', 'info', 'waiting no longer: the platform may leave no more than --grace-floor');
  return undefined;
}

function obstacleInTime(draft: Draft, stop: Stop): Stop['waitsFor'] {
  const { deadline } = draft.state;
  const isHeldUp = holdsBack(draft, stop);
  const end = endOfWaiting(draft.config, draft.state);
  if (end !== undefined && reached(draft, lastTurnMs(end))) return undefined;
  // An assumed deadline only ends a hold; a drain that was asked for takes as long as it was told.
  if (isHeldUp && deadline !== undefined && reached(draft, lastTurnMs(deadline))) return undefined;
  if (isHeldUp) return 'turn';
  if (reached(draft, stop.earliestMs)) return undefined;
  return stop.reason === MAINS_FINISHED ? 'linger' : 'drain';
}

/** The next life after a backoff. */
function rebegin(draft: Draft): void {
  const { child, now } = draft.state;
  if (child.is !== 'backoff') return;
  const untilMs = rebirthAtMs(child.untilMs, now.mono, lastMomentMs(draft.config, draft.state));
  if (untilMs === undefined) return;
  if (untilMs < child.untilMs) update(draft, { child: { ...child, untilMs } });
  if (reached(draft, untilMs)) spawn(draft);
}
