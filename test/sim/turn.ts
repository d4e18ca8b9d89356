/** A stop's ladder begins only when all members that need this one are dead, no time is left, or it was asked twice. */
import { lastTurnMs } from '../../src/core/pod/deadline.ts';
import { isRestarting } from '../../src/core/pod/restart.ts';
import { peerNamed } from '../../src/core/pod/standing.ts';
import { SIGINT } from '../../src/core/signals.ts';
import { MAINS_FINISHED, type State } from '../../src/core/state/state.ts';
import type { Step } from '../core/life.ts';
import type { Container } from './container.ts';
import { judgeLinger } from './linger.ts';
import { dependentsOf, hasSeenFailure, isCommandAlive, isOf, quorumHasFinished, servedBy } from './truth.ts';
import type { Member, World } from './world.ts';

/** Init has sent the stop signal in the place of its supervisor. */
function isByInit({ event }: Step): boolean {
  return event.type === 'ordered' && (event.row === 'unheard' || event.row === 'lost' || event.row === 'mains');
}

export function judgeTurn(container: Container, step: Step): void {
  const { after, before, event } = step;
  const isSentByInit = isByInit(step);
  const { member, world } = container;
  const { stop, deadline, now, restart } = after;
  if (stop === undefined || stop.alone === true || isAskedTwice(container) || before.child.is === 'roots') return;
  if (deadline !== undefined && now.mono >= lastTurnMs(deadline)) return;
  if (isHurriedByOthers(container, { sinceMs: stop.atMs, nowMs: now.mono })) return;
  const { config } = member;
  if (config.role === 'sidecar' && config.hold.kind !== 'always' && stop.origin !== 'self') return;
  // Init's own signal is judged when it sends it.
  if (!isSentByInit) judgeLinger(container, container.brain?.state, stop.among);
  if (isSentByInit && (container.rows.endedFrom === undefined || container.wasAlone))
    return world.count('excused: stopped before another by init, as no supervisor acted in time');
  // Init ends it with its mains, whatever its supervisor hears of before it hears of that.
  const isByRow = isSentByInit && quorumHasFinished(member);
  const isForMains = stop.reason === MAINS_FINISHED || isByRow;
  const mains = config.role === 'sidecar' && !isForMains ? servedBy(member) : [];
  const isServant = (other: Member): boolean => config.role === 'main' && other.config.role === 'sidecar';
  const isQuorum = isForMains && config.when === 'any';
  const dependents = dependentsOf(member).filter(
    (other) => !isServant(other) && !(isQuorum && other.config.role === 'main'),
  );
  if (mains.some(hasLived)) world.judges('sidecars outlive mains');
  if (dependents.some(hasLived)) world.judges('order');
  const law = config.role === 'sidecar' ? 'sidecars outlive mains' : 'order';
  // By a row init acts on what the supervisor knew when it wrote that.
  const knowing = isSentByInit ? container.rows.endedFrom : container.brain?.state;
  for (const other of new Set([...mains, ...dependents])) {
    if (other === member || !isCommandAlive(other) || stop.among?.includes(other.name) === false) continue;
    // Init passes it on. It learns whether it may a moment after the others have started, and much later from a
    // supervisor that hangs.
    const isPassedOn = event.type === 'ordered' && !isSentByInit;
    const { command, lostAtMs } = other.container ?? {};
    const isUnseen = !isKnown(knowing, other) && (lostAtMs !== undefined || isRecent(world, command?.bornAtMs));
    if (isRestarting(after) && (command?.bornAtMs ?? 0) > (restart?.requestedMs ?? 0) + world.agenda.bootAtMs)
      world.count('excused: ended for a restart after one that has started again');
    else if (isPassedOn || isUnseen || isHidden(other))
      world.count('excused: stopped before one that it could not see');
    else world.laws.breaks(law, container, `${other.name} still lives`);
  }
}

function hasLived({ container }: Member): boolean {
  return container?.command !== undefined;
}

/** The same signal is the same request within a second, and where a grace period is declared always, but for INT. */
function isAskedTwice({ asked, member }: Container): boolean {
  const [first] = asked;
  if (first === undefined) return false;
  const isMeant = member.config.gracePeriodMs === undefined || first.signal === SIGINT;
  return asked.some(({ atMs, signal }) => signal !== first.signal || (isMeant && atMs - first.atMs >= 1_000));
}

/** Another one of this boot has written a deadline that has all but come, and has not taken it back, or just now. */
function isHurriedByOthers(self: Container, at: { sinceMs: number; nowMs: number }): boolean {
  const { world } = self;
  const isClose = (atMs: number): boolean => at.nowMs + 1 >= lastTurnMs({ sinceMs: at.sinceMs, atMs });
  return world.containers.some((it) => {
    const { brain, state, aloneSinceMs, rows, member } = it;
    // The next container of a member takes its deadline back as soon as the others can see that.
    if (member.container !== it && !isRecent(world, member.endedAtMs) && !isWritten(member)) return false;
    // Its init wrote the deadline of a stop that no supervisor has heard of.
    if (rows.writtenDeadlineMs !== undefined && isClose(rows.writtenDeadlineMs)) return true;
    if (state?.deadline?.kills !== true || state.bootId !== world.bootId || brain === self.brain) return false;
    const isShared = state.deadline.shared || isRecent(world, aloneSinceMs) || isWritten(member);
    return isShared && isClose(state.deadline.atMs);
  });
}

/** Its tombstone still gives the pod this deadline: each of its supervisors dies before it can write. */
function isWritten({ world, name }: Member): boolean {
  const { Deadline, StopScope } = world.volume.tombstoneOf(name) ?? {};
  return Deadline !== undefined && StopScope === undefined;
}

/** It may not have been seen yet. */
function isRecent({ agenda, calmAtMs, failedUntilMs }: World, sinceMs: number | undefined): boolean {
  if (sinceMs === undefined) return false;
  return agenda.nowMs - sinceMs < SEEN_LATE_MS || Math.max(calmAtMs, failedUntilMs) > sinceMs;
}

const SEEN_LATE_MS = 7_000;

/**
 * Its handle was deleted with the directory and is not there again yet. Or it is that of an earlier life, which it
 * could not remove from a volume that failed. The others see it as lost.
 */
function isHidden({ world, name, container }: Member): boolean {
  const holder = world.volume.sockets.get(name);
  if (holder === undefined) return world.meets('wipe');
  return !holder.isRunning && container !== undefined && hasSeenFailure(container);
}

/** It has seen the life that this member lives now. */
function isKnown(state: State | undefined, other: Member): boolean {
  const { tombstone } = (state && peerNamed(state, other.name)) ?? {};
  return other.container !== undefined && isOf(other.container, tombstone) && tombstone?.Phase !== 'waiting';
}
