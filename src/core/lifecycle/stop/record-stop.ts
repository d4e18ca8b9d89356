/** Records a stop: for good, or for a restart in place, which is a stop that ends in another start. */
import { earlier, requestDeadline } from '../../pod/deadline.ts';
import { hear, isRestarting } from '../../pod/restart.ts';
import { SIGTERM } from '../../signals.ts';
import { type Draft, note, say, update } from '../../state/draft.ts';
import { MAINS_FINISHED, RESTART, type Restart, type RestartAsk, type Stop } from '../../state/state.ts';
import { type Instant, instantAt, rfc3339 } from '../../time.ts';
import { longestDrainMs } from './drain.ts';

type StopDetails = Pick<Stop, 'origin' | 'reason' | 'signal' | 'requests' | 'among' | 'asked'>;

/** A stop that beats a restart begins no new drain and sends no signal again. */
export function recordStop(draft: Draft, details: StopDetails, at: Instant): void {
  const { stop, climb, chronicle } = draft.state;
  const waitMs = details.reason === MAINS_FINISHED ? 0 : longestDrainMs(draft.config);
  const beaten = isRestarting(draft.state) ? stop : undefined;
  const earliestMs = Math.min(at.mono + waitMs, beaten?.earliestMs ?? Number.POSITIVE_INFINITY);
  const signal = climb?.why === 'stop' ? (beaten?.signal ?? details.signal) : details.signal;
  update(draft, {
    stop: { ...details, signal, atMs: at.mono, earliestMs, waitsFor: beaten?.waitsFor },
    chronicle: { ...chronicle, stopRequested: rfc3339(at.wall) },
  });
}

export function askForRestart(draft: Draft, ask: RestartAsk): void {
  const { config, state } = draft;
  const restart = hear(config.name, state, ask);
  if (restart === undefined) return;
  const { now, startedAtMs, deadline } = state;
  if (restart.againSinceMs !== undefined || restart.requestedMs !== ask.requestedMs) return update(draft, { restart });
  // A life that began after the request gets its full grace period from now.
  const bornMs = Math.max(startedAtMs, state.restart?.againSinceMs ?? 0);
  const at = ask.requestedMs < bornMs ? now : instantAt(now, Math.min(ask.requestedMs, now.mono));
  const asked = requestDeadline(config, at.mono, ask);
  // An earlier request that comes late may be older than this life, and its time is no measure.
  const isLate = ask.requestedMs < (state.restart?.requestedMs ?? 0);
  if (isRestarting(state))
    return goOn(draft, restart, ask.graceMs === undefined || isLate ? deadline : earlier(deadline, asked));
  update(draft, { restart: { ...restart, restUntilMs: now.mono + ALL_SEEN_MS }, deadline: asked });
  const { among } = ask;
  const details = { origin: 'platform', reason: RESTART, signal: SIGTERM, requests: 0, among } as const;
  recordStop(draft, details, at);
  note(draft, 'restart requested', { By: ask.by });
  say(draft, 'info', 'asked to restart in place', { by: ask.by });
}

/** In a restart all members matter. The runtime reports those that did not matter before only after it has begun. */
const ALL_SEEN_MS = 20;

/** The stop under way is from now on that of the next restart. */
export function goOn(draft: Draft, restart: Restart, deadline = draft.state.deadline): void {
  const { stop } = draft.state;
  const { among } = restart;
  update(draft, {
    restart,
    stop: stop && { ...stop, among },
    deadline: deadline && { ...deadline, shared: among === undefined },
  });
}
