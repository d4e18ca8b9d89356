/** What is true in a simulated pod, whatever its members believe. */
import { hostOf, RESERVE_BYTES, type Tombstone } from '../../src/core/format/tombstone.ts';
import { peerNamed } from '../../src/core/pod/standing.ts';
import { restartsIfKilled } from '../../src/core/restart.ts';
import { SIGKILL } from '../../src/core/signals.ts';
import type { Peer } from '../../src/core/state/peer.ts';
import type { State } from '../../src/core/state/state.ts';
import { LATE_MS } from '../../src/runtime/timeouts.ts';
import type { Container } from './container.ts';
import type { Member, World } from './world.ts';

export function isCommandAlive({ container }: Member): boolean {
  return container?.isRunning === true && container.isCommandAlive;
}

/** No command of it will ever run again: its container is over, or is about to be by its own decision. */
export function isFinished(member: Member): boolean {
  if (member.isOver) return true;
  const { world, container } = member;
  const { policy } = world.scenario;
  if (policy === 'Always' || container === undefined) return false;
  if (!container.isRunning) return policy === 'Never' && !world.kubelet.bringsBack(member);
  return hasSaidFinal(container);
}

/** Its supervisor or its init has said that no other life follows. */
export function hasSaidFinal({ rows, state }: Container): boolean {
  return rows.hasSaidFinal || (state?.child.is === 'gone' && state.child.final);
}

/** As this member's roster has it. */
export function mainsOf({ world, config }: Member): readonly Member[] {
  const all = world.members.filter((member) => member.config.role === 'main');
  return config.mains.length === 0 ? all : all.filter(({ name }) => config.mains.includes(name));
}

/** Those that it serves on for in a stop: with a roster of which no name exists, all. */
export function servedBy(member: Member): readonly Member[] {
  const named = mainsOf(member);
  return named.length > 0 ? named : member.world.members.filter(({ config }) => config.role === 'main');
}

export function quorumHasFinished(member: Member): boolean {
  return isQuorum(member, isFinished);
}

/** As many of its mains as it waits for are so. */
function isQuorum(member: Member, isSo: (main: Member) => boolean): boolean {
  const mains = mainsOf(member);
  return member.config.when === 'any' ? mains.some(isSo) : mains.length > 0 && mains.every(isSo);
}

/** Those that start after it. */
export function dependentsOf({ world, name }: Member): readonly Member[] {
  return world.members.filter(({ config }) => config.startAfter.some((gate) => gate.name === name));
}

/** It serves on for these. */
function keepersOf(member: Member): readonly Member[] {
  return dependentsOf(member).filter(({ config, isOver }) => config.role === 'sidecar' && !isOver);
}

/** A sidecar that starts after it and serves on for other mains keeps it. */
export function isKept(member: Member): boolean {
  return keepersOf(member).some((other) => !quorumHasFinished(other) || isKept(other));
}

/** How long it may take until what could not be written is tried again, and a little. */
const TEND_MS = 6_000;

/** The volume failed it between the end of its command and now. */
export function isCut(container: Container): boolean {
  const { world } = container;
  const { died, diedMonotonic } = container.brain?.state.chronicle ?? {};
  // The machine stood still between the death and the exit: which of the two was due first is chance.
  if (died !== undefined && world.agenda.monoMs - (diedMonotonic ?? 0) > LATE_MS) return true;
  const sinceMs = container.command?.diedAtMs ?? container.startedAtMs + world.agenda.bootAtMs;
  // On a full volume a file with the room of a tombstone can be written over.
  const hasRoom = (world.volume.files.get(container.member.name)?.text.length ?? 0) >= RESERVE_BYTES;
  return world.troubles.some(({ toMs, isFull }) => toMs >= sinceMs - TEND_MS && !(isFull && hasRoom));
}

/** Since when it could know that its mains have finished: the record is there, or it saw them go for good. */
function knowableSinceMs(member: Member): number | undefined {
  const isForAll = member.config.mains.length === 0;
  if ((isForAll && hasEndlessMain(member.world)) || isBlind(member)) return undefined;
  const isKnown = (main: Member): boolean => isRecorded(main) || isSeenGone(member, main);
  if (!isQuorum(member, isKnown)) return undefined;
  const ends = mainsOf(member).flatMap((main) => (isKnown(main) ? [main.endedAtMs] : []));
  return member.config.when === 'all' ? Math.max(...ends) : Math.min(...ends);
}

/** Without a supervisor only what the last one has left behind ends it: a stop that has begun, or rows. */
function isBlind({ world: { count }, container }: Member): boolean {
  if (container?.lostAtMs === undefined) return false;
  const { climb, deadline } = container.memo?.state ?? {};
  const hasKill = (climb?.killAtMs ?? container.mainsEndAtMs) !== undefined || deadline?.kills === true;
  // A failed life has had its signal for itself, and its KILL may come later than the end with the mains is due.
  const isStopped = container.isCommandAlive && climb?.why !== 'failing';
  const isTold = isStopped && container.command?.signals.some(({ signal }) => signal !== SIGKILL) === true;
  if (isTold && hasKill) return false;
  const isUnending = isTold && container.asked.length === 0;
  if (!isUnending && container.rows.haveMainsFinished) return false;
  if (isUnending) count('excused: a command without grace period that ignores the signal of init alone');
  else count('excused: init alone could not know that its mains have finished');
  return true;
}

/** A file of kubexit that no member has overwritten records a main, and no end of it. */
function hasEndlessMain({ volume }: World): boolean {
  const tombstones = [...volume.files.keys()].map((name) => volume.tombstoneOf(name));
  return tombstones.some((one) => one?.Version === 0 && one.Died === undefined);
}

/** It serves on for members that start after it, so they must be able to know it, too. */
export function dueSinceMs(member: Member): number | undefined {
  const others = keepersOf(member).map(dueSinceMs);
  const since = [knowableSinceMs(member), ...others];
  const known = since.filter((ms) => ms !== undefined);
  return known.length < since.length ? undefined : Math.max(...known);
}

/** Its 10 s are over. Mains that live again could not overwrite a death untied to this pod, or take their handles. */
export function isMisledBySilence(container: Container): boolean {
  const isOver = (main: Member): boolean =>
    isFinished(main) || isUnheard(container, main) || isLockedOut(container, main);
  return container.ageMs >= DOUBTED_MS && isQuorum(container.member, isOver);
}

/** A death that was there before the first look, and that nothing ties to this pod, is believed after this time. */
export const DOUBTED_MS = 10_000;

/**
 * All that was seen of it is the death of an earlier life. It has written nothing until just now, or what it wrote has
 * been deleted. The volume has failed since it started, or it started less than 10 s ago. Or its supervisor hangs, or
 * each dies before it can write, or init is alone and writes nothing.
 */
export function isUnheard(by: Container, { name, container }: Member): boolean {
  const { agenda, volume } = by.world;
  const { tombstone } = seenBy(by, name) ?? {};
  if (tombstone?.Died === undefined || isTied(by, tombstone)) return false;
  if (container === undefined) return true;
  if (isOf(container, tombstone)) return false;
  const isThere = volume.files.has(name);
  if (isThere && agenda.nowMs - (container.writtenAtMs ?? agenda.nowMs) > LATE_MS) return false;
  const isYoung = container.ageMs < DOUBTED_MS;
  const isLost = container.isAlone || container.lostAtMs !== undefined;
  return hasSeenFailure(container) || isLost || isYoung || (container.isRunning && isWithoutWord(container));
}

/** The volume failed after it was started. */
export function hasSeenFailure({ startedAtMs, world }: Container): boolean {
  return world.failedUntilMs >= startedAtMs + world.agenda.bootAtMs;
}

/** It has no supervisor, or one that hangs or has hung until just now, perhaps with the machine. */
function isWithoutWord({ actor, brain, world }: Container): boolean {
  const frozenUntilMs = Math.max(actor.frozenUntilMs, brain?.actor.frozenUntilMs ?? 0, world.agenda.pausedUntilMs);
  return brain === undefined || world.agenda.nowMs - frozenUntilMs < LATE_MS;
}

/**
 * Its handle has refused connections for 10 s: it is that of an earlier life, and the failed volume kept it from being
 * removed. Its tombstone is its own, or that of an earlier life that nothing ties to this pod and that it could not
 * overwrite. Or it has had no supervisor that could do either.
 */
function isLockedOut(by: Container, { name, container }: Member): boolean {
  const seen = seenBy(by, name);
  if (seen?.refused !== true || container?.isRunning !== true) return false;
  if (!isOf(container, seen.tombstone) && isTied(by, seen.tombstone)) return false;
  const isMute = container.lostAtMs !== undefined || isWithoutWord(container);
  return (hasSeenFailure(container) || isMute) && by.world.agenda.monoMs - seen.sinceMs >= DOUBTED_MS;
}

/** It surely is of this pod's life, or surely is not, so time does not change whether it is believed. */
function isTied(by: Container, { Session, Generation }: Tombstone): boolean {
  const isUnknown = knownTo(by)?.generation === undefined || Generation === undefined;
  return Session !== undefined && !(by.world.kubelet.restartsOfAll > 0 && isUnknown);
}

export function isRecorded({ container }: Member): boolean {
  const { Died, Boot, Final } = (container && ownTombstone(container)) ?? {};
  return Died !== undefined && Boot === container?.world.bootId && Final === true;
}

/** A life that vanished is final only under Never, and only its socket shows that it is gone. */
function isSeenGone(member: Member, main: Member): boolean {
  const { scenario, volume } = member.world;
  if (scenario.policy !== 'Never' || !volume.canHoldSockets) return false;
  // One that was killed would be started again, and from outside it looks like that.
  if (restartsIfKilled(main.config)) return false;
  const seen = member.container && seenBy(member.container, main.name);
  return seen?.liveness === 'lost' && main.container !== undefined && isOf(main.container, seen.tombstone);
}

/** Its first look came while it took its handle, and found the old life's tombstone: nothing to compare that with. */
export function isMixedUp(by: Container, name: string): boolean {
  const seen = seenBy(by, name);
  const holder = by.world.memberNamed(name)?.container;
  if (seen === undefined || holder?.isRunning !== true || isOf(holder, seen.tombstone)) return false;
  return seen.foundAtStart && seen.backMs === undefined;
}

function seenBy(by: Container, name: string): Peer | undefined {
  const state = knownTo(by);
  return state && peerNamed(state, name);
}

/** What it goes by. Until a supervisor has looked, that is what the last one knew: init acts by it. */
function knownTo({ brain, memo }: Container): State | undefined {
  return brain?.state.peers === undefined ? (memo?.state ?? brain?.state) : brain.state;
}

/** Whether this tombstone records a life in this container. */
export function isOf(container: Container, tombstone: Tombstone | undefined): boolean {
  return hostOf(tombstone?.Incarnation) === container.hostId;
}

/** The one in the graveyard, if it is of this container. */
export function ownTombstone(container: Container): Tombstone | undefined {
  const tombstone = container.world.volume.tombstoneOf(container.member.name);
  return isOf(container, tombstone) ? tombstone : undefined;
}

/** A stop request keeps init from starting; here a container that freezes in that moment lets it in between. */
export function isBornInVain({ command, asked }: Container): boolean {
  const [first] = asked;
  return command !== undefined && command.id === 1 && first !== undefined && first.atMs <= command.bornAtMs;
}
