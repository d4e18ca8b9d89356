/** Once the volume has worked for some time, each member that lives has its own tombstone there, and its own handle. */
import type { Container } from './container.ts';
import { ownTombstone } from './truth.ts';
import type { World } from './world.ts';

/** A member looks again, and tries again what has failed, every 5 s. */
export const SETTLING_MS = 12_000;
const LAW = 'on record';

export function expectRecords(world: World): void {
  const { agenda, calmAtMs, laws } = world;
  agenda.at(calmAtMs + SETTLING_MS, undefined, () => {
    if (world.calmAtMs !== calmAtMs) return expectRecords(world);
    const { volume } = world;
    for (const { name, container } of world.members) {
      if (container === undefined || !isSettled(container)) continue;
      world.judges(LAW);
      if (ownTombstone(container) === undefined) laws.breaks(LAW, name, 'it lives, and has no tombstone');
      if (volume.canHoldSockets && volume.sockets.get(name) !== container)
        laws.breaks(LAW, name, 'it lives, and its handle is not there');
    }
  });
}

function isSettled(container: Container): boolean {
  const { isRunning, isAlone, isAsleep, brain, member, ageMs, sinceBrainMs } = container;
  if (!isRunning || isAlone || member.loss !== undefined) return false;
  const hasSettled = isAsleep || (brain !== undefined && sinceBrainMs >= SETTLING_MS);
  return hasSettled && ageMs >= SETTLING_MS;
}
