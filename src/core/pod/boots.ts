/**
 * Boot ids under which this kernel is known. A tombstone of another boot is ignored, since CLOCK_MONOTONIC began anew
 * with ours. But LXC and systemd-nspawn show each container a boot id of its own, so members of one pod may write
 * different ones.
 *
 * A handle that is held is held by a process of this kernel. That process may be the next life of a member, which has
 * not written its own tombstone yet. So a boot id is ours when its tombstone was written while we held the handle, or
 * has stood unchanged for 10 s under it.
 */

import { hostOf } from '../format/tombstone.ts';
import { type Draft, update, wakeAt } from '../state/draft.ts';
import type { PeerView } from '../state/peer.ts';
import { isPast, nextLookMs, STALE_AFTER_MS } from './standing.ts';

/** What one peer was and is now. */
export function learnBoot(draft: Draft, before: PeerView, { tombstone }: PeerView): void {
  const { Boot } = tombstone;
  if (Boot === undefined || isKnownBoot(draft, Boot) || before.liveness !== 'held') return;
  const isSameWriter =
    before.tombstone.Boot === Boot && hostOf(before.tombstone.Incarnation) === hostOf(tombstone.Incarnation);
  if (isSameWriter && JSON.stringify(before.tombstone) !== JSON.stringify(tombstone)) learn(draft, Boot);
}

/** A rule: what is held for long and says nothing new. */
export function trustHeldBoots(draft: Draft): void {
  for (const { liveness, tombstone, sinceMs } of Object.values(draft.state.peers ?? {})) {
    const { Boot } = tombstone;
    if (liveness !== 'held' || Boot === undefined || isKnownBoot(draft, Boot)) continue;
    const atMs = sinceMs + STALE_AFTER_MS;
    if (isPast(draft.state, atMs)) learn(draft, Boot);
    else wakeAt(draft, nextLookMs(draft.state, atMs));
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
