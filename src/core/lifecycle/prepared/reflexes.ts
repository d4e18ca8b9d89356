/**
 * Reflexes: what the host may do on its own because it is decided in advance. Nothing is decided here. `reduce` gets
 * the events that may come in the current state. Its results are stored as data where the host can follow them; all
 * else waits for the supervisor. A reflex only does earlier what the rules would do, and expires with the state it was
 * made from.
 *
 * This one is the end of a sidecar with its mains. The other one, the prepared ends, stands in `core/prepared-ends.ts`.
 */
import type { MemberConfig } from '../../config.ts';
import { hostOf } from '../../format/tombstone.ts';
import { ladderOf } from '../../ladder.ts';
import { rosterOf } from '../../pod/finished.ts';
import { peerNamed, standingOf } from '../../pod/standing.ts';
import { SIGTERM } from '../../signals.ts';
import type { Reduction } from '../../state/draft.ts';
import type { Event } from '../../state/events.ts';
import type { Peer } from '../../state/peer.ts';
import { MAINS_FINISHED, type State } from '../../state/state.ts';
import { type Instant, instantAt, rfc3339 } from '../../time.ts';
import { reduce } from '../lifecycle.ts';

/** `hostId`: the first half of its incarnation. `path`: its liveness socket. */
export interface NamedMain {
  readonly hostId: string;
  readonly path: string;
}

export interface EndWith {
  /** How many of them must be gone for good; 0: the supervisor decides that, while one can be started. */
  readonly needed: number;
  readonly signal: number;
  /** A stop request waits for the end of all of them and for nothing else. */
  readonly holds: boolean;
  /** By name. */
  readonly mains: readonly { readonly name: string; readonly hostId: string }[];
}

/** Beyond this number no main is listened to. */
export const MAX_MAINS_HEARD = 16;
/** The state that a reflex was made from. */
export interface Known {
  readonly state: State;
  /** The next tick; undefined: none is due. */
  readonly wakeAtMs: number | undefined;
}

/** Whether a reflex made from the one state holds in the other: only time has passed, and within its limits. */
export function isUnchanged(before: Known, after: Known): boolean {
  if (before.wakeAtMs !== after.wakeAtMs) return false;
  const keys = Object.keys(after.state) as (keyof State)[];
  return keys.every((key) => key === 'now' || before.state[key] === after.state[key]);
}

/** Reflexes are for a command that is not being stopped in any way. */
export function isIdle({ child, stop, climb, hasCaughtUp }: State): boolean {
  return child.is === 'alive' && stop === undefined && climb === undefined && hasCaughtUp;
}

/** How a sidecar ends once its mains are gone for good; undefined: something else has to be done or waited for. */
export function endWithMains(config: MemberConfig, state: State): EndWith | undefined {
  const { peers } = state;
  if (config.role !== 'sidecar' || peers === undefined) return undefined;
  const waitedFor = rosterOf(config, state).filter((name) => {
    const standing = standingOf(config, state, peerNamed(state, name));
    return standing.is !== 'dead' || !standing.final;
  });
  const mains = waitedFor.flatMap((name) => {
    const peer = peerNamed(state, name);
    const hostId = hostOf(peer?.tombstone.Incarnation);
    const isHeard = peer?.liveness === 'held' && standingOf(config, state, peer).is === 'alive';
    return isHeard && HOST_ID.test(hostId) ? [{ name, hostId }] : [];
  });
  const names = mains.map(({ name }) => name);
  const [first] = names;
  if (first === undefined || names.length > MAX_MAINS_HEARD) return undefined;
  const isWhole = mains.length === waitedFor.length;
  const [rung] = ladderOf(config, SIGTERM);
  const holds = isWhole && isIdle(state) && holdsUntilGone(config, state, names, rung.signal);
  const watched = isWhole ? { needed: 0, signal: rung.signal, holds, mains } : undefined;
  if (!isIdle(state)) return watched;
  const isEnough = (gone: readonly string[]): boolean => signalWithout(config, state, gone) !== undefined;
  const alone = signalWithout(config, state, [first]);
  if (alone !== undefined && names.every((name) => isEnough([name]))) return { needed: 1, signal: alone, holds, mains };
  const signal = isWhole ? signalWithout(config, state, names) : undefined;
  const isAnyEnough = names.some((name) => isEnough(names.filter((one) => one !== name)));
  return signal === undefined || isAnyEnough ? watched : { needed: names.length, signal, holds, mains };
}

const HOST_ID = /^[0-9a-f]{32}$/;

/** Whether a stop request leads only to a hold, and the end of these mains, whatever follows, only to this signal. */
function holdsUntilGone(config: MemberConfig, state: State, names: readonly string[], signal: number): boolean {
  // A hold for a limited time may end before any of them.
  if (config.hold.kind !== 'always') return false;
  const at = instantAt(state.now, Math.floor(state.now.mono) + 1);
  const asked = reduce(config, state, { type: 'signal', at, signal: SIGTERM, senderPid: 0, fromTerminal: false });
  if (asked.effects.some(({ type }) => type !== 'log')) return false;
  return [true, false].every((isFinal) => {
    const gone = mainsGone(asked.state, names, instantAt(at, at.mono + 1), isFinal);
    return signalBy(reduce(config, asked.state, gone)) === signal;
  });
}

/** The signal that the command gets at once when these are gone for good; undefined: none, or more is done. */
function signalWithout(config: MemberConfig, state: State, names: readonly string[]): number | undefined {
  const reduction = reduce(config, state, mainsGone(state, names));
  return reduction.state.stop?.reason === MAINS_FINISHED ? signalBy(reduction) : undefined;
}

/** The first rung of a stop; undefined: it is not sent, or more is done. */
function signalBy({ state: { climb }, effects }: Reduction): number | undefined {
  const [deed, ...more] = effects.filter(({ type }) => type !== 'log');
  if (climb?.why !== 'stop' || climb.killed) return undefined;
  return deed?.type === 'stop' && more.length === 0 ? deed.signal : undefined;
}

/** The graveyard once these mains are gone. */
export function mainsGone(
  state: State,
  names: readonly string[],
  at: Instant = state.now,
  isFinal = true,
): Event & { readonly type: 'peersSeen' } {
  const peers = Object.entries(state.peers ?? {}).map(([name, peer]) =>
    names.includes(name) ? goneOf(peer, at, isFinal) : peer,
  );
  return { type: 'peersSeen', at, peers };
}

function goneOf({ tombstone, vanished }: Peer, at: Instant, isFinal: boolean): Peer & { readonly sinceMs: number } {
  const died = {
    Died: rfc3339(at.wall),
    DiedMonotonic: Math.round(at.mono),
    ExitCode: 0,
    Reason: 'completed',
  } as const;
  const dead = { ...tombstone, Phase: 'dead', ...died, Final: isFinal } as const;
  return { tombstone: dead, liveness: 'none', foundAtStart: false, vanished, sinceMs: at.mono };
}
