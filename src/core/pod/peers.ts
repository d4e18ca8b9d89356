/** Folds a read of the graveyard into what was known about the others. */
import { hostOf } from '../format/tombstone.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Peer, PeerView } from '../state/peer.ts';
import { isAskedByPlatform } from './alone.ts';
import { learnBoot } from './boots.ts';
import { rosterOf } from './finished.ts';
import { peerNamed } from './standing.ts';

/**
 * A member that was seen once stays known: only its socket, not a missing file, proves its end. Members that vanished
 * and are no longer reported are forgotten: the reader has dropped the oldest dead ones of too many.
 */
export function onPeersSeen(draft: Draft, { peers: views }: Event & { type: 'peersSeen' }): void {
  const known = Object.entries(draft.state.peers ?? {}).filter(([, { vanished }]) => !vanished);
  const peers: Record<string, Peer> = Object.fromEntries(known);
  for (const view of views) {
    const { Name } = view.tombstone;
    if (Name === draft.config.name) continue;
    const before = peerNamed(draft.state, Name);
    peers[Name] = peerOf(before, view, draft.state.now.mono);
    if (before === undefined) continue;
    learnBoot(draft, before, view);
    warnAboutRestartedMain(draft, before, view);
  }
  update(draft, { peers, firstLookMs: draft.state.firstLookMs ?? draft.state.now.mono });
}

/** A socket that is held again belongs to a new life: until its tombstone is read, the old one is still there. */
function peerOf(before: Peer | undefined, view: PeerView, nowMs: number): Peer {
  const wasAsked = before !== undefined && isAskedByPlatform(before.tombstone) && isSameHost(before, view);
  const askedSeenMs = wasAsked ? before.askedSeenMs : nowMs;
  return { ...aged(before, view, nowMs), ...(isAskedByPlatform(view.tombstone) && { askedSeenMs }) };
}

function aged(before: Peer | undefined, view: PeerView, nowMs: number): Peer {
  if (before === undefined) return { ...view, sinceMs: nowMs };
  const sinceMs = sameLife(before, view) ? before.sinceMs : nowMs;
  const isSameWord = before.tombstone.Incarnation === view.tombstone.Incarnation;
  const backMs = isSameWord && !isUnheld(view) ? (isUnheld(before) ? nowMs : before.backMs) : undefined;
  return backMs === undefined ? { ...view, sinceMs } : { ...view, sinceMs, backMs };
}

function isSameHost(a: PeerView, b: PeerView): boolean {
  return hostOf(a.tombstone.Incarnation) === hostOf(b.tombstone.Incarnation);
}

function isUnheld({ liveness, refused }: PeerView): boolean {
  return liveness === 'lost' || refused === true;
}

function sameLife(before: PeerView, view: PeerView): boolean {
  const [a, b] = [before.tombstone, view.tombstone];
  return (
    a.Incarnation === b.Incarnation &&
    a.Died === b.Died &&
    a.LastDied === b.LastDied &&
    before.liveness === view.liveness &&
    before.refused === view.refused
  );
}

/** It will run without this sidecar, which has decided to stop, and nothing can repair that silently. */
function warnAboutRestartedMain(draft: Draft, before: PeerView, view: PeerView): void {
  const { Name, Born, Incarnation, Reason } = view.tombstone;
  if (draft.state.stop?.origin !== 'self' || !rosterOf(draft.config, draft.state).includes(Name)) return;
  const wasOver = before.tombstone.Died !== undefined || before.liveness === 'lost';
  const isSame = before.tombstone.Incarnation === Incarnation && before.tombstone.Born === Born;
  // A short life may end before its first tombstone is read; that it was lived is the news.
  if (!wasOver || isSame || Reason === 'never-started') return;
  note(draft, 'main born again', { Name });
  say(
    draft,
    'error',
    `main ${Name} was started again after this sidecar decided to stop: check that --restart-policy is the pod's own`,
    { main: Name },
  );
}
