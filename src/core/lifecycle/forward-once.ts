/**
 * The prompt stop. A main that nothing has to be waited for, no drain, no pre-stop and no member that started after it,
 * is stopped by its host: the first stop request goes on to the child at once, as under a plain init, and is told to us
 * behind. So a stop does not wait for a supervisor that is slow, that is being started again, or that hangs.
 */

import { stopTable } from '../ladder.ts';
import { blockersOf } from '../pod/order.ts';
import { type Draft, update } from '../state/draft.ts';
import { beginClimb } from './climb.ts';
import { longestDrainMs } from './drain.ts';

/** Offers it to the host while it holds, and takes it back when it does not. */
export function offerForwardOnce(draft: Draft): void {
  const { config, state } = draft;
  const { child, promptFor } = state;
  if (child.is !== 'alive') return;
  const isFree = isFreeToStop(draft);
  if (isFree === (promptFor === child.id)) return;
  update(draft, { promptFor: isFree ? child.id : undefined });
  draft.effects.push({ type: 'forwardOnce', id: child.id, table: isFree ? stopTable(config) : {} });
}

/** The host has passed the request on: the first rung is behind us. */
export function beginForwardedStop(draft: Draft): void {
  const { stop, child } = draft.state;
  update(draft, { promptFor: undefined });
  if (stop !== undefined && (child.is === 'alive' || child.is === 'leftovers'))
    beginClimb(draft, { why: 'stop', killAtMs: undefined }, 'sent');
}

function isFreeToStop({ config, state }: Draft): boolean {
  if (config.role !== 'main' || longestDrainMs(config) > 0 || config.preStop !== undefined || state.peers === undefined)
    return false;
  return state.stop === undefined && state.climb === undefined && blockersOf(config, state).names.length === 0;
}
