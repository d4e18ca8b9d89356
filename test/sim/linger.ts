/** Between the end of its mains and its own stop a sidecar lingers as long as it declares, if there is time. */
import { isForeign, peerNamed } from '../../src/core/pod/standing.ts';
import type { State } from '../../src/core/state/state.ts';
import type { Container } from './container.ts';
import { isCommandAlive, isOf, servedBy } from './truth.ts';
import type { Member } from './world.ts';

/** Tombstones have whole milliseconds. */
const ROUNDED_MS = 1;

/**
 * Its stop begins, and nothing shortens that. `knowing`: what was known of the others by whoever has begun it. `among`:
 * the members that were named with it. A main that counts as alive is no reason to wait if it is not one of them.
 */
export function judgeLinger(container: Container, knowing: State | undefined, among?: readonly string[]): void {
  const { member, world } = container;
  const { lingerMs, role } = member.config;
  if (role === 'main' || lingerMs === 0) return;
  const mains = servedBy(member).filter(({ name }) => among?.includes(name) ?? true);
  const ends = mains.flatMap((main) => endOf(main, member, knowing) ?? []);
  if (ends.length === 0) return;
  world.judges(LAW);
  const leftMs = Math.max(...ends) + lingerMs - world.agenda.nowMs;
  if (leftMs > ROUNDED_MS) world.laws.breaks(LAW, container, `it stops ${leftMs} ms too early`);
}

const LAW = 'linger';

/** The end of a main's last command; undefined: the command lives, or the sidecar cannot know of its end. */
function endOf(main: Member, { config }: Member, knowing: State | undefined): number | undefined {
  const { container, world } = main;
  const peer = knowing && peerNamed(knowing, main.name);
  // A reboot makes a tombstone that of another pod.
  if (knowing === undefined || peer === undefined || isForeign(config, knowing, peer)) return undefined;
  const { tombstone, liveness } = peer;
  if (container?.command === undefined || isCommandAlive(main) || !isOf(container, tombstone)) return undefined;
  const { command, isRunning, startedAtMs, state } = container;
  // Between two lives a main is not over, and after a restart of all none of before counts.
  const isOver = !isRunning || state?.child.is === 'gone' || state?.child.is === 'unstarted';
  const isNow = startedAtMs + world.agenda.bootAtMs >= world.kubelet.restartedAllAtMs;
  const endedAtMs = command.diedAtMs ?? main.endedAtMs;
  // Only a read of the tombstone, or a notice on the held connection, tells of an end at once.
  const isKnown = tombstone.Died !== undefined || liveness === 'held';
  return isOver && isNow && isKnown ? endedAtMs : undefined;
}
