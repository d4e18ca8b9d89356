/**
 * Boot ids of this kernel. A tombstone of another boot is ignored, because each boot resets CLOCK_MONOTONIC. But
 * LXC and systemd-nspawn show each container a boot id of its own, so members of one pod may write different ones.
 *
 * A process of this kernel holds every socket that is held. It may be the next life of a member, whose own tombstone is
 * still to come. A boot id is therefore ours if its tombstone was written while we saw the socket held, or has stood
 * unchanged for 10 s meanwhile.
 */
import { hostOf } from '../format/tombstone.ts';
import { type Draft, update } from '../state/draft.ts';
import type { PeerView } from '../state/peer.ts';
import { isAhead, STALE_AFTER_MS } from './standing.ts';

export function learnBoot(draft: Draft, before: PeerView, { tombstone }: PeerView): void {
  const { Boot } = tombstone;
  if (Boot === undefined || isKnownBoot(draft, Boot) || before.liveness !== 'held') return;
  const isSameWriter =
    before.tombstone.Boot === Boot && hostOf(before.tombstone.Incarnation) === hostOf(tombstone.Incarnation);
  if (isSameWriter && JSON.stringify(before.tombstone) !== JSON.stringify(tombstone)) learn(draft, Boot);
}

/** A rule: trusts a tombstone that stands unchanged while its socket is held. */
export function trustHeldBoots(draft: Draft): void {
  for (const { liveness, tombstone, sinceMs } of Object.values(draft.state.peers ?? {})) {
    const { Boot } = tombstone;
    if (liveness !== 'held' || Boot === undefined || isKnownBoot(draft, Boot)) continue;
    if (!isAhead(draft, sinceMs + STALE_AFTER_MS)) learn(draft, Boot);
  }
}

function isKnownBoot({ state }: Draft, boot: string): boolean {
  return boot === state.bootId || state.boots.includes(boot);
}

function learn(draft: Draft, boot: string): void {
  update(draft, { boots: [...draft.state.boots, boot].slice(-MAX_BOOTS) });
}

/** Bounds the memo. */
const MAX_BOOTS = 32;
