/**
 * Whether the platform stops the pod or this container alone, as a kubelet does when a liveness probe fails or an image
 * changes.
 *
 * TERM does not say which. But when a pod stops, every container gets its TERM at once, after its own pre-stop hook of
 * the platform, if it has one. A member knows the length of its own hook. If it was not asked that long after another
 * one was, no stop of the pod had begun then. It publishes that moment (`PodStopNotBefore`), and a member whose own
 * request is not later is stopped alone. Silence proves nothing: a peer may be starved, hang or be unable to write.
 */
import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import { type Draft, isDue, note, say, update, wakeAt } from '../state/draft.ts';
import type { Peer } from '../state/peer.ts';
import type { PodStopBound, State, Stop } from '../state/state.ts';
import { isForeign } from './standing.ts';

/** How far apart the platform's signals to the containers of a pod may be on a busy node. */
const SPREAD_MS = 2_000;
/** How long an earlier request may take to be reported. */
const SETTLING_MS = 1_000;
/** A member runs this often while it may have to publish. If it runs that much later, the machine stood still. */
const LOOK_MS = 1_000;
const LATE_MS = 500;

/** Whether the platform asked this member, and the answer matters: it is not dead, nor known to be stopped alone. */
export function isAskedByPlatform({ StopRequested, StopReason, StopScope, Died }: Tombstone): boolean {
  const isOpen = StopRequested !== undefined && StopScope === undefined && Died === undefined;
  return isOpen && isBySignal(StopReason);
}

/** Publishes the moment before which no stop of the pod began, once a member that is being stopped may need it. */
export function publishPodStopNotBefore(draft: Draft): void {
  const { config, state } = draft;
  const askedMs = lastAskedMs(config, state);
  if (config.platformPreStopMs === undefined || state.stop !== undefined || askedMs === undefined) return;
  const bound = boundNow(state);
  const { notBeforeMs, lookedMs, steadySinceMs } = bound;
  if (notBeforeMs !== undefined && notBeforeMs >= askedMs) return;
  // After a standstill the platform may begin with our hook only now.
  const dueMs = Math.max(askedMs + SPREAD_MS, steadySinceMs) + config.platformPreStopMs;
  if (bound !== state.podStopBound) update(draft, { podStopBound: bound });
  wakeAt(draft, Math.min(dueMs, state.now.mono + LOOK_MS));
  if (!isDue(draft, dueMs)) return;
  if (lookedMs === undefined || lookedMs < dueMs) {
    update(draft, { podStopBound: { ...bound, lookedMs: state.now.mono } });
    return;
  }
  const settledMs = lookedMs + SETTLING_MS;
  wakeAt(draft, settledMs);
  if (!isDue(draft, settledMs)) return;
  const latestMs = lookedMs - config.platformPreStopMs - SPREAD_MS;
  update(draft, { podStopBound: { ...bound, notBeforeMs: latestMs, lookedMs: undefined } });
}

/** Records that this member runs now. If that comes late, the machine stood still, and the steady time begins again. */
function boundNow({ now, podStopBound }: State): PodStopBound {
  if (podStopBound?.ranMs === now.mono) return podStopBound;
  const { notBeforeMs, lookedMs, steadySinceMs = now.mono, ranMs = now.mono } = podStopBound ?? {};
  const stoodStill = now.mono - ranMs > LOOK_MS + LATE_MS;
  return { notBeforeMs, lookedMs, steadySinceMs: stoodStill ? now.mono : steadySinceMs, ranMs: now.mono };
}

/** A peer that was not asked knows that the pod was not being stopped when we were. */
export function recognizeLoneStop(draft: Draft): void {
  const { config, state } = draft;
  const { stop } = state;
  if (stop === undefined || stop.alone === true || !isBySignal(stop.reason)) return;
  const unasked = Object.values(state.peers ?? {}).find((peer) => showsLoneStop(config, state, peer, stop));
  if (unasked === undefined) return;
  const { Name } = unasked.tombstone;
  const deadline = state.deadline && { ...state.deadline, shared: false };
  update(draft, { stop: { ...stop, alone: true }, deadline });
  note(draft, 'stopped alone', { Witness: Name });
  say(draft, 'info', `only this container is being stopped, not the pod: ${Name} was not asked to stop`);
}

function showsLoneStop(config: MemberConfig, state: State, peer: Peer, stop: Stop): boolean {
  const { PodStopNotBefore } = peer.tombstone;
  return PodStopNotBefore !== undefined && PodStopNotBefore >= stop.atMs && !isForeign(config, state, peer);
}

/** When we saw the last such request. */
function lastAskedMs(config: MemberConfig, state: State): number | undefined {
  const seen = Object.values(state.peers ?? {})
    .filter((peer) => isAskedByPlatform(peer.tombstone) && !isForeign(config, state, peer))
    .flatMap(({ askedSeenMs }) => (askedSeenMs === undefined ? [] : [askedSeenMs]));
  return seen.length === 0 ? undefined : Math.max(...seen);
}

function isBySignal(reason: string | undefined): boolean {
  return reason?.startsWith('signal ') === true;
}
