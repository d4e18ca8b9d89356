/**
 * The wish to stop, whoever has it. Once there it never goes away.
 */
import { type Draft, update } from './draft.ts';
import type { Stop } from './state.ts';
import { type Instant, rfc3339 } from './time.ts';

type Wish = Pick<Stop, 'origin' | 'reason' | 'signal' | 'requests' | 'among' | 'asked'>;

/** `waitMs`: how long drain or linger may last. */
export function wishToStop(draft: Draft, wish: Wish, at: Instant, waitMs: number): void {
  update(draft, {
    stop: { ...wish, atMs: at.mono, earliestMs: at.mono + waitMs, waitsFor: undefined },
    chronicle: { ...draft.state.chronicle, stopRequested: rfc3339(at.wall) },
  });
}
