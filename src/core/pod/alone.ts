/**
 * Whether the platform stops the pod or this container alone: a kubelet stops one alone when its liveness probe fails
 * or its image changes.
 *
 * TERM does not say which. But in the stop of a pod every container gets its TERM at once, after its own pre-stop hook
 * of the platform, if it has one. So a member that knows how long its own hook takes at most, and that was not asked so
 * long after it saw another one being stopped, knows that no stop of the pod had begun when that one was asked. It
 * writes that moment (`PodStopNotBefore`), and a member that reads one that is later than its own request is stopped
 * alone. Silence proves nothing here: a peer that is starved, hangs or cannot write says nothing.
 */
import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import { type Draft, isDue, note, say, update, wakeAt } from '../state/draft.ts';
import type { Peer } from '../state/peer.ts';
import type { State, Stop } from '../state/state.ts';
import { isForeign } from './standing.ts';

/** How far apart the platform's signals to the containers of one pod may be, on a busy node. */
const SPREAD_MS = 2_000;
/** How long a request that came before may take to be told: less than that the supervisor has not been awake for. */
const SETTLING_MS = 1_000;

/** A stop of the pod needs no answer of this member, nor does one that says itself that it is not the pod's. */
export function isAskedByPlatform({ StopRequested, StopReason, StopScope, Died }: Tombstone): boolean {
  const isOpen = StopRequested !== undefined && StopScope === undefined && Died === undefined;
  return isOpen && isBySignal(StopReason);
}

/** Publishes since when no stop of the pod can have begun, once a member that is being stopped may need it. */
export function publishPodStopNotBefore(draft: Draft): void {
  const { config, state } = draft;
  const askedMs = lastAskedMs(config, state);
  if (config.platformPreStopMs === undefined || state.stop !== undefined || askedMs === undefined) return;
  const { notBeforeMs, lookedMs } = state.podStopBound ?? {};
  if (notBeforeMs !== undefined && notBeforeMs >= askedMs) return;
  const dueMs = askedMs + config.platformPreStopMs + SPREAD_MS;
  wakeAt(draft, dueMs);
  if (!isDue(draft, dueMs)) return;
  if (lookedMs === undefined || lookedMs < dueMs) {
    update(draft, { podStopBound: { notBeforeMs, lookedMs: state.now.mono } });
    return;
  }
  const settledMs = lookedMs + SETTLING_MS;
  wakeAt(draft, settledMs);
  if (!isDue(draft, settledMs)) return;
  update(draft, {
    podStopBound: { notBeforeMs: lookedMs - config.platformPreStopMs - SPREAD_MS, lookedMs: undefined },
  });
}

/** A member that lives on knows that the pod was not being stopped when we were asked. */
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

/** When we saw the last of them. */
function lastAskedMs(config: MemberConfig, state: State): number | undefined {
  const seen = Object.values(state.peers ?? {})
    .filter((peer) => isAskedByPlatform(peer.tombstone) && !isForeign(config, state, peer))
    .flatMap(({ askedSeenMs }) => (askedSeenMs === undefined ? [] : [askedSeenMs]));
  return seen.length === 0 ? undefined : Math.max(...seen);
}

function isBySignal(reason: string | undefined): boolean {
  return reason?.startsWith('signal ') === true;
}
