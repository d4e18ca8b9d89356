/** One reduction of a member, in the words of the timeline. */
import type { Step } from '../core/life.ts';
import type { World } from './world.ts';

export function tellStep(world: World, name: string, { event, effects, before, after }: Step): void {
  const { tell, agenda } = world;
  if (event.type !== 'ticked') tell(agenda.nowMs, name, `hears ${event.type}`);
  if (before.phase !== after.phase) tell(agenda.nowMs, name, `is ${after.phase}`);
  for (const effect of effects) {
    const { type, ...details } = effect;
    if (type === 'log') tell(agenda.nowMs, name, `says: ${effect.message}`);
    else tell(agenda.nowMs, name, `does ${type} ${'signal' in details ? details.signal : ''}`);
  }
}
