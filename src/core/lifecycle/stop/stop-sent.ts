/** Stop signals that the host has sent on its own, by a reflex (`reflexes.ts`) or by the fallback (`fallback.ts`). */
import { SIGTERM, signalName } from '../../signals.ts';
import { type Draft, note, say, update } from '../../state/draft.ts';
import type { Event } from '../../state/events.ts';
import { type Child, MAINS_FINISHED } from '../../state/state.ts';
import { ownBudget } from '../hooks.ts';
import { beginClimb, sayReceiver } from './climb.ts';
import { recordStop } from './record-stop.ts';

/** The host has sent the first rung. */
export function onStopSent(
  draft: Draft,
  { id, signal, isByMains, receiverPid, at }: Event & { type: 'stopSent' },
  child: Child & { is: 'alive' | 'roots' },
): void {
  const { stop, climb } = draft.state;
  // A stop decided here in the same moment signals the child once, too: the host makes sure of that.
  if (child.id !== id || climb?.why === 'stop') return;
  if (stop === undefined) {
    recordStop(draft, { origin: 'self', reason: MAINS_FINISHED, signal: SIGTERM, requests: 0 }, at);
    say(draft, 'info', 'the mains have finished');
  } else if (stop.origin === 'platform' && !isByMains) {
    say(draft, 'warn', 'init has sent the stop signal, as no supervisor has acted in time');
  }
  const begun = draft.state.stop;
  if (begun === undefined) return;
  update(draft, { stop: { ...begun, waitsFor: undefined } });
  say(draft, 'info', 'stopping', { reason: begun.reason });
  beginClimb(draft, { why: 'stop', killAtMs: begun.origin === 'self' ? ownBudget(draft).atMs : undefined }, 'sent');
  note(draft, 'signal sent', { Signal: signalName(signal) });
  sayReceiver(draft, signal, receiverPid);
}
