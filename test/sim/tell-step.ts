/** One reduction of a member, in the words of the timeline. */
import type { Step } from '../core/life.ts';
import type { World } from './world.ts';

export function tellStep(world: World, name: string, { event, effects, before, after }: Step): void {
  const { tell } = world;
  if (event.type !== 'ticked') tell(name, `hears ${event.type}`);
  if (before.phase !== after.phase) tell(name, `is ${after.phase}`);
  for (const effect of effects) {
    const { type, ...details } = effect;
    if (type === 'log') tell(name, `says: ${effect.message}`);
    else tell(name, `does ${type} ${'signal' in details ? details.signal : ''}`);
  }
}
