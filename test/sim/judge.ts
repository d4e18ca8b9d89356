/** One who judges a law, or a few, in one pod. */
import type { Container } from './container.ts';
import type { World } from './world.ts';

export abstract class Judge {
  protected readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** This law is broken by this container, or by what has this name. */
  breaks(law: string, by: Container | string, what: string): void {
    this.world.laws.breaks(law, by, what);
  }
}
