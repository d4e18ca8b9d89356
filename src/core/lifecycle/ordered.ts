/** Updates the state after the host has carried out an order (`orders.ts`). */
import { SIGTERM, signalName } from '../signals.ts';
import { type Draft, note, say, update } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import { type Child, MAINS_FINISHED } from '../state/state.ts';
import { ownBudget } from './hooks.ts';
import { onPassedOn } from './request.ts';
import { beginClimb, onKilledByHost, sayReceiver } from './stop/climb.ts';
import { recordStop } from './stop/record-stop.ts';

export type Ordered = Event & { type: 'ordered' };

export function onOrdered(draft: Draft, event: Ordered, child: Child): void {
  switch (event.row) {
    case 'each':
    case 'first':
      return onPassedOn(draft, event);
    case 'unheard':
    case 'lost':
    case 'mains':
      return onStopSent(draft, event, child);
    case 'grace':
    case 'mains-grace':
    case 'deadline':
      return onKilledByHost(draft, event.id);
    default:
      event.row satisfies never;
  }
}

/** The host has sent the first rung. */
function onStopSent(draft: Draft, { id, as, row, receiverPid, at }: Ordered, child: Child): void {
  const { stop, climb } = draft.state;
  // A stop decided here in the same moment signals the child once, too: the host makes sure of that.
  if ((child.is !== 'alive' && child.is !== 'roots') || child.id !== id || climb?.why === 'stop') return;
  if (stop === undefined) {
    recordStop(draft, { origin: 'self', reason: MAINS_FINISHED, signal: SIGTERM, requests: 0 }, at);
    say(draft, 'info', 'the mains have finished');
  } else if (stop.origin === 'platform' && row !== 'mains') {
    say(draft, 'warn', 'init has sent the stop signal, as no supervisor has acted in time');
  }
  const begun = draft.state.stop;
  if (begun === undefined) return;
  update(draft, { stop: { ...begun, waitsFor: undefined } });
  say(draft, 'info', 'stopping', { reason: begun.reason });
  beginClimb(draft, { why: 'stop', killAtMs: begun.origin === 'self' ? ownBudget(draft).atMs : undefined }, 'sent');
  note(draft, 'signal sent', { Signal: signalName(as) });
  sayReceiver(draft, as, receiverPid);
}
