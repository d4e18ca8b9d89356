/**
 * The ladder of a stop begins: everybody who needs this member is dead, or there is no time left, or it was asked twice.
 */
import { lastTurnMs } from '../../src/core/deadline.ts';
import type { Step } from '../core/life.ts';
import type { Container } from './container.ts';
import { isCommandAlive, isOf, mainsOf } from './truth.ts';
import type { Member, World } from './world.ts';

export function judgeTurn(
  world: World,
  container: Container,
  { after, before, event }: Step,
  breaks: (law: string, what: string) => void,
): void {
  const { stop, deadline, now } = after;
  if (stop === undefined || stop.requests >= 2 || before.child.is === 'remnant') return;
  if (deadline !== undefined && now.mono >= lastTurnMs(deadline)) return;
  const { member } = container;
  const { config } = member;
  const isHolding = config.role === 'main' || config.hold.kind === 'always' || stop.origin === 'self';
  if (!isHolding) return;
  const mains = config.role === 'sidecar' && stop.reason !== 'mains finished' ? mainsOf(world, member) : [];
  const isServant = (other: Member): boolean => config.role === 'main' && other.config.role === 'sidecar';
  const isQuorum = stop.reason === 'mains finished' && config.when === 'any';
  const dependents = world.members.filter(
    (other) =>
      other.config.startAfter.some(({ name }) => name === member.name) &&
      !isServant(other) &&
      !(isQuorum && other.config.role === 'main'),
  );
  for (const other of new Set([...mains, ...dependents])) {
    if (other === member || !isCommandAlive(other) || stop.among?.includes(other.name) === false) continue;
    // Passed on by init, which is told whether it may a moment after the others have started, and much later by a supervisor that hangs.
    const isPassedOn = event.type === 'signalForwarded';
    if (isPassedOn || !isKnown(container, other) || isHidden(world, other))
      world.count('excused: stopped before one that it could not see');
    else breaks(config.role === 'sidecar' ? 'sidecars outlive mains' : 'order', `${other.name} still lives`);
  }
}

/** Its handle was deleted with the directory and is not made anew yet. */
function isHidden({ volume, scenario }: World, { name }: Member): boolean {
  return !volume.sockets.has(name) && scenario.faults.some((fault) => fault.do === 'wipe');
}

/** It has seen the life that this member lives now. */
function isKnown({ brain }: Container, other: Member): boolean {
  const peers = brain?.state.peers;
  const seen = peers !== undefined && Object.hasOwn(peers, other.name) ? peers[other.name] : undefined;
  if (seen === undefined || other.container === undefined || !isOf(other.container, seen.tombstone)) return false;
  return seen.tombstone.Phase !== 'waiting';
}
