/** Whether an application is busy, as the simulated world has answered last, and the drains that this forbids to end. */
import type { Step } from '../core/life.ts';
import type { Container } from './container.ts';
import type { World } from './world.ts';

export class Busy {
  readonly #world: World;
  /** Since when each application has given no other answer than that it is idle; absent: it is busy. */
  readonly #idleSinceMs = new Map<Container, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Why this step must not end the drain; undefined: it does not, or it may. */
  cutShort(container: Container, { before, event, after }: Step): string | undefined {
    const { idleWhen } = container.member.config;
    if (idleWhen === undefined) return undefined;
    this.#hear(container, before.tasks, event);
    const why = after.traffic?.ended;
    if (before.traffic?.ended !== undefined || why === undefined) return undefined;
    this.#world.judges('busy');
    this.#world.count(`drain of an application: ${why}`);
    const sinceMs = this.#idleSinceMs.get(container);
    if (why !== 'quiet' && why !== 'idle') return undefined;
    if (sinceMs === undefined) return 'its drain ends, and its application is busy';
    return after.now.mono - sinceMs < idleWhen.forMs ? 'its drain ends, and its application was just busy' : undefined;
  }

  #hear(container: Container, tasks: Step['before']['tasks'], event: Step['event']): void {
    if (event.type !== 'taskEnded') return;
    const task = tasks.find(({ id }) => id === event.id);
    if (task?.key !== 'idle') return;
    const isLate = event.at.mono > (task.untilMs ?? event.at.mono);
    if (!event.ok || isLate) this.#idleSinceMs.delete(container);
    else if (!this.#idleSinceMs.has(container)) this.#idleSinceMs.set(container, task.sinceMs);
  }
}
