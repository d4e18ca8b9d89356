/** One who judges a law, or a few, in one pod. */
import type { Container } from './container.ts';
import type { World } from './world.ts';

/** A law is broken by this container, or by what has this name. */
export type Breaks = (law: string, who: Container | string, what: string) => void;

export abstract class Judge {
  protected readonly world: World;
  protected readonly breaks: Breaks;

  constructor(world: World, breaks: Breaks) {
    this.world = world;
    this.breaks = breaks;
  }
}
