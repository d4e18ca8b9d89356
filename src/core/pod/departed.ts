/**
 * Warns when a main is started again although its sidecars took its end for the end of all. They have left for good,
 * and only the main can say that it runs without them.
 */
import type { MemberConfig } from '../config.ts';
import { type Draft, sayOnce, wakeAt } from '../state/draft.ts';
import type { Peer } from '../state/peer.ts';
import { MAINS_FINISHED } from '../state/state.ts';
import { standingOf } from './standing.ts';

export function warnAboutDepartedSidecars(draft: Draft): void {
  const { config, state } = draft;
  if (config.role !== 'main' || state.births === 0 || state.stop !== undefined) return;
  const departed: string[] = [];
  for (const peer of Object.values(state.peers ?? {})) {
    if (!hasLeftUs(config, peer)) continue;
    const standing = standingOf(config, state, peer);
    // All of them go into one line.
    if (standing.is === 'unsure') return wakeAt(draft, standing.untilMs);
    if (standing.is === 'dead' && standing.final) departed.push(peer.tombstone.Name);
  }
  if (departed.length === 0) return;
  const them = departed.slice(0, MAX_DEPARTED_NAMES).join(', ');
  sayOnce(
    draft,
    'departed',
    'error',
    `started again, but sidecars have left for good because the mains had finished: ${them}; check that --restart-policy and --restart-rules are those of this container's manifest`,
  );
}

const MAX_DEPARTED_NAMES = 16;

/** Whether it left because this main, among others, had finished, though this main is not over. */
function hasLeftUs({ name }: MemberConfig, { tombstone }: Peer): boolean {
  const { Role, Died, StopReason, Mains } = tombstone;
  if (Role !== 'sidecar' || Died === undefined || StopReason !== MAINS_FINISHED) return false;
  return Mains === undefined || Mains.includes(name);
}
