/** Records a stop: for good, or for a restart in place, which is a stop that ends in another start. */
import { earlier, requestDeadline } from '../../pod/deadline.ts';
import { isNews, isRestarting, merged } from '../../pod/restart.ts';
import { SIGTERM } from '../../signals.ts';
import { type Draft, note, say, update } from '../../state/draft.ts';
import { RESTART, type RestartAsk, type Stop } from '../../state/state.ts';
import { type Instant, instantAt, rfc3339 } from '../../time.ts';
import { longestDrainMs } from './drain.ts';

type StopDetails = Pick<Stop, 'origin' | 'reason' | 'signal' | 'requests' | 'among' | 'asked'>;

/** `waitMs`: the longest drain or linger. A stop that beats a restart begins no new wait and sends no signal again. */
export function recordStop(draft: Draft, details: StopDetails, at: Instant, waitMs: number): void {
  const { stop, climb, chronicle } = draft.state;
  const beaten = isRestarting(draft.state) ? stop : undefined;
  const earliestMs = Math.min(at.mono + waitMs, beaten?.earliestMs ?? Number.POSITIVE_INFINITY);
  const signal = climb?.why === 'stop' ? (beaten?.signal ?? details.signal) : details.signal;
  update(draft, {
    stop: { ...details, signal, atMs: at.mono, earliestMs, waitsFor: beaten?.waitsFor },
    chronicle: { ...chronicle, stopRequested: rfc3339(at.wall) },
  });
}

/** Ignores requests to a member that stops for good, and those for a restart that it has completed. */
export function askForRestart(draft: Draft, ask: RestartAsk): void {
  const { config, state } = draft;
  if (!isNews(state, ask)) return;
  const { now, startedAtMs, restart, stop, deadline } = state;
  // A life that began after the request gets its full grace period from now.
  const bornMs = Math.max(startedAtMs, restart?.againSinceMs ?? 0);
  const at = ask.requestedMs < bornMs ? now : instantAt(now, Math.min(ask.requestedMs, now.mono));
  const asked = requestDeadline(config, at.mono, ask);
  if (isRestarting(state) && restart !== undefined && stop !== undefined && deadline !== undefined) {
    const all = { ...restart, ...merged(restart, ask) };
    const nearest = ask.graceMs === undefined ? deadline : earlier(deadline, asked);
    return update(draft, {
      restart: all,
      stop: { ...stop, among: all.among },
      deadline: { ...nearest, shared: all.among === undefined },
    });
  }
  update(draft, { restart: { ...ask, passedMs: restart?.requestedMs }, deadline: asked });
  const { among } = ask;
  const details = { origin: 'platform', reason: RESTART, signal: SIGTERM, requests: 0, among } as const;
  recordStop(draft, details, at, longestDrainMs(config));
  note(draft, 'restart requested', { By: ask.by });
  say(draft, 'info', 'asked to restart in place', { by: ask.by });
}
