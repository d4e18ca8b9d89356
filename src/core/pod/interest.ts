/**
 * Which peers can affect this member. In a large pod most cannot: a main depends only on the members that started
 * after it, a sidecar on its mains and on the members that started after it. Nothing is decided by the others, so they
 * need not be read at once nor be connected to.
 */

import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import { restartsAll } from '../restart.ts';
import { MAINS_FINISHED, RESTART } from '../state/state.ts';
import { isAskedByPlatform } from './alone.ts';
import { isOfAnotherSession } from './standing.ts';

/** What this member is about: in a stop others matter by their deadlines, in a restart all who take part in it. */
export type Business = 'own' | 'stop' | 'restart';

/** By what its own tombstone says. */
export function businessOf({ StopRequested, StopReason }: Tombstone): Business {
  return StopRequested === undefined ? 'own' : StopReason === RESTART ? 'restart' : 'stop';
}

/** Whether anything that `peer` may say next, or its silence, can change what we do. */
export function mattersTo(config: MemberConfig, business: Business, peer: Tombstone): boolean {
  if (business === 'restart' || peer.RestartRequested !== undefined || peer.RestartsPod) return true;
  const { Name, Role = 'main', StartAfter = [], Deadline, PodStopNotBefore, Died, StopReason, RestartsAll } = peer;
  if (config.mains.includes(Name) || config.startAfter.some((gate) => gate.name === Name)) return true;
  if (config.role === 'sidecar' && config.mains.length === 0 && Role === 'main') return true;
  if (StartAfter.includes(config.name)) return true;
  // It may be a link of a circle through us.
  if (StartAfter.length > 0 && config.startAfter.length > 0) return true;
  // That all may be restarted is to be known by all.
  if (RestartsAll === true && !restartsAll(config)) return true;
  // A sidecar that has left its mains.
  if (config.role === 'main' && Died !== undefined && StopReason === MAINS_FINISHED) return true;
  // It may ask whether the pod stops, or it alone; a main is asked about by its sidecars, which know it anyway.
  if (config.platformPreStopMs !== undefined && isMyQuestion(config, peer)) return true;
  // The files of a member of another session are removed if no process holds its handle.
  if (isOfAnotherSession(config, peer)) return true;
  return business === 'stop' && (Deadline !== undefined || PodStopNotBefore !== undefined);
}

/**
 * Whether nothing that `peer` may still say in this life can change what we do, as long as we are not stopping: not even
 * its stop, its death, or that it has left its mains. Another life of it may be quite another member.
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
