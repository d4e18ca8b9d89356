/**
 * Stops without waiting. A main without a drain, a pre-stop hook or a member that started after it has nothing to wait
 * for. Its host forwards the first stop request at once, as a plain init does. Its stop then needs no supervisor, which
 * may be slow, starting or hanging.
 */
import { stopTable } from '../../ladder.ts';
import { blockersOf } from '../../pod/order.ts';
import { type Draft, update } from '../../state/draft.ts';
import { beginClimb } from './climb.ts';
import { longestDrainMs } from './drain.ts';

/** While nothing has to be waited for, the host forwards the next stop request; else that is taken back. */
export function offerForwardOnce(draft: Draft): void {
  const { config, state } = draft;
  const { child, forwardOnceFor } = state;
  if (child.is !== 'alive') return;
  const isFree = isFreeToStop(draft);
  if (isFree === (forwardOnceFor === child.id)) return;
  update(draft, { forwardOnceFor: isFree ? child.id : undefined });
  draft.effects.push({ type: 'forwardOnce', id: child.id, table: isFree ? stopTable(config) : {} });
}

/** The host has forwarded the request, so the first rung is done. */
export function beginForwardedStop(draft: Draft): void {
  const { stop, child } = draft.state;
  update(draft, { forwardOnceFor: undefined });
  if (stop !== undefined && (child.is === 'alive' || child.is === 'roots'))
    beginClimb(draft, { why: 'stop', killAtMs: undefined }, 'sent');
}

function isFreeToStop({ config, state }: Draft): boolean {
  if (config.role !== 'main' || longestDrainMs(config) > 0 || config.preStop !== undefined || state.peers === undefined)
    return false;
  return state.stop === undefined && state.climb === undefined && blockersOf(config, state).names.length === 0;
}
