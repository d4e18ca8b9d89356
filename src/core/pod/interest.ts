/**
 * Which peers can affect this member. In a large pod most cannot: a main depends only on members that started after it,
 * a sidecar also on its mains. The others need not be read at once nor be connected to.
 */
import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import { restartsAll } from '../restart.ts';
import { MAINS_FINISHED, RESTART } from '../state/state.ts';
import { isAskedByPlatform } from './alone.ts';
import { isOfAnotherSession } from './standing.ts';

/** The current activity of this member: in a stop the deadlines of others matter, in a restart all that take part. */
export type Business = 'own' | 'stop' | 'restart';

export function businessOf({ StopRequested, StopReason }: Tombstone): Business {
  return StopRequested === undefined ? 'own' : StopReason === RESTART ? 'restart' : 'stop';
}

/** Whether any future change of `peer`, or its silence, can change what we do. */
export function mattersTo(config: MemberConfig, business: Business, peer: Tombstone): boolean {
  if (business === 'restart' || peer.RestartRequested !== undefined || peer.RestartsPod) return true;
  const { Name, Role = 'main', StartAfter = [], Deadline, PodStopNotBefore, Died, StopReason, RestartsAll } = peer;
  if (config.mains.includes(Name) || config.startAfter.some((gate) => gate.name === Name)) return true;
  if (config.role === 'sidecar' && config.mains.length === 0 && Role === 'main') return true;
  if (StartAfter.includes(config.name)) return true;
  // It may be part of a circle through us.
  if (StartAfter.length > 0 && config.startAfter.length > 0) return true;
  // Every member must know that a rule may restart all.
  if (RestartsAll === true && !restartsAll(config)) return true;
  // A sidecar has left its mains.
  if (config.role === 'main' && Died !== undefined && StopReason === MAINS_FINISHED) return true;
  // It may need to know whether the pod stops; a main is answered by its sidecars, which watch it anyway.
  if (config.platformPreStopMs !== undefined && isMyQuestion(config, peer)) return true;
  // Files of other sessions are removed once no process holds their socket.
  if (isOfAnotherSession(config, peer)) return true;
  // The names of a roster may be wrong.
  if (business === 'stop' && config.role === 'sidecar' && Role === 'main') return true;
  return business === 'stop' && (Deadline !== undefined || PodStopNotBefore !== undefined);
}

/**
 * Whether nothing that `peer` may still write in this life can change what we do while we are not stopping. That covers
 * its stop, its death and its leaving of its mains; its next life may be quite another member.
 */
export function isQuiet(config: MemberConfig, peer: Tombstone): boolean {
  if (peer.Died !== undefined) return false;
  const time = peer.Born ?? '';
  const stopped: Tombstone = { ...peer, StopRequested: time, StopReason: 'signal TERM' };
  // Only a sidecar leaves its mains.
  const left: Tombstone = { ...peer, Died: time, ...(peer.Role === 'sidecar' && { StopReason: MAINS_FINISHED }) };
  return ![peer, stopped, left].some((word) => mattersTo(config, 'own', word));
}

function isMyQuestion({ role }: MemberConfig, peer: Tombstone): boolean {
  return (role === 'main' && peer.Role === 'sidecar') || isAskedByPlatform(peer);
}
