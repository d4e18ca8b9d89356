/**
 * The row `mains` of the orders: the host sends a sidecar its stop signal when the mains that it lives for have ended.
 * It does what the rules of the lifecycle would do once they have read of these ends (`rules.ts`), only earlier.
 */
import type { MemberConfig } from './config.ts';
import { hostOf } from './format/tombstone.ts';
import { isStopRequest, ladderOf } from './ladder.ts';
import { longestDrainMs } from './lifecycle/stop/drain.ts';
import { rosterOf } from './pod/finished.ts';
import { blockersOf } from './pod/order.ts';
import { peerNamed, standingOf } from './pod/standing.ts';
import { SIGKILL, SIGTERM } from './signals.ts';
import { MAINS_FINISHED, type State } from './state/state.ts';

/** `hostId`: the first half of its incarnation. `path`: its liveness socket. */
export interface NamedMain {
  readonly hostId: string;
  readonly path: string;
}

export interface MainsRow {
  readonly when: 'mains';
  readonly signal: number;
  /** How many of them must be gone for good; 0: the supervisor decides that, while one can be started. */
  readonly needed: number;
  /** A stop request waits for the end of all of them and for nothing else. */
  readonly holds: boolean;
  /** A main that was killed counts while no supervisor can be started. */
  readonly countsLost: boolean;
  /** From the last end of a main to the signal. */
  readonly lingerMs: number;
  readonly mains: readonly NamedMain[];
}

/** Beyond this number no main is listened to. */
export const MAX_MAINS_HEARD = 16;
const HOST_ID = /^[0-9a-f]{32}$/;

/** `socketOf`: the socket of a main if the host holds a connection to it. undefined: there is no main to wait for. */
export function mainsRow(
  config: MemberConfig,
  state: State,
  socketOf: (name: string) => string | undefined,
): MainsRow | undefined {
  if (config.role !== 'sidecar' || state.peers === undefined) return undefined;
  const waitedFor = rosterOf(config, state).filter((name) => {
    const standing = standingOf(config, state, peerNamed(state, name));
    return standing.is !== 'dead' || !standing.final;
  });
  const heard = waitedFor.flatMap((name) => {
    const peer = peerNamed(state, name);
    const hostId = hostOf(peer?.tombstone.Incarnation);
    const path = socketOf(name);
    const isHeard = peer?.liveness === 'held' && standingOf(config, state, peer).is === 'alive' && HOST_ID.test(hostId);
    return isHeard && path !== undefined ? [{ name, main: { hostId, path } }] : [];
  });
  if (heard.length === 0 || heard.length > MAX_MAINS_HEARD) return undefined;
  const names = heard.map(({ name }) => name);
  const isWhole = heard.length === waitedFor.length;
  const isReady = isReadyToStop(config, state);
  const needed = isReady ? neededOf(config, state, names, isWhole) : 0;
  if (!isWhole && needed === 0) return undefined;
  return {
    when: 'mains',
    signal: ladderOf(config, SIGTERM)[0].signal,
    needed,
    holds: isWhole && isReady && holdsForMainsAlone(config, state, names),
    // Under the other policies the container of the main is started again.
    countsLost: config.restartPolicy === 'Never',
    lingerMs: config.lingerMs,
    mains: heard.map(({ main }) => main),
  };
}

/** Whether the first rung would be all that follows from a stop that has nothing to wait for. */
function isReadyToStop(config: MemberConfig, state: State): boolean {
  if (!isUndisturbed(state) || config.lingerMs > 0 || config.preStop !== undefined) return false;
  return ladderOf(config, SIGTERM)[0].signal !== SIGKILL;
}

/** Whether the command runs, no task runs beside it, and nothing stops it. */
export function isUndisturbed({ child, stop, climb, failing, tasks, hasCaughtUp }: State): boolean {
  const isStopping = stop !== undefined || climb !== undefined || failing !== undefined;
  return child.is === 'alive' && !isStopping && tasks.length === 0 && hasCaughtUp;
}

/** How many of these mains have to end for good before the sidecar stops; 0: something else has to happen, too. */
function neededOf(config: MemberConfig, state: State, names: readonly string[], isWhole: boolean): number {
  const isOneEnough = config.when === 'any' || (isWhole && names.length === 1);
  if (!isOneEnough && !isWhole) return 0;
  const stop = { reason: MAINS_FINISHED, among: undefined };
  const others = blockersOf(config, state, stop).names.filter((name) => !names.includes(name));
  return others.length > 0 ? 0 : isOneEnough ? 1 : names.length;
}

/** Whether a stop request leads only to a hold, and the end of these mains, whatever follows, only to the signal. */
function holdsForMainsAlone(config: MemberConfig, state: State, names: readonly string[]): boolean {
  // A hold for a limited time may end before any of them.
  if (config.hold.kind !== 'always' || longestDrainMs(config) > 0 || !isStopRequest(config, SIGTERM)) return false;
  const blockers = blockersOf(config, state).names;
  return blockers.length === names.length && blockers.every((name) => names.includes(name));
}
