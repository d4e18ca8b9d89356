/** Whether an application is busy, as the simulated world has answered last, and the drains that this forbids to end. */
import type { Step } from '../core/life.ts';
import type { Container } from './container.ts';
import { Judge } from './judge.ts';

export class Busy extends Judge {
  /** Since when each application has given no other answer than that it is idle; absent: it is busy. */
  readonly #idleSinceMs = new Map<Container, number>();

  /** Whether this step may end the drain. */
  stepped(container: Container, { before, event, after }: Step): void {
    const { idleWhen } = container.member.config;
    if (idleWhen === undefined) return;
    this.#hear(container, before.tasks, event);
    const why = after.traffic?.ended;
    if (before.traffic?.ended !== undefined || why === undefined) return;
    this.world.judges('busy');
    this.world.count(`drain of an application: ${why}`);
    const sinceMs = this.#idleSinceMs.get(container);
    if (why !== 'quiet' && why !== 'idle') return;
    if (sinceMs === undefined) this.breaks('busy', container, 'its drain ends, and its application is busy');
    else if (after.now.mono - sinceMs < idleWhen.forMs)
      this.breaks('busy', container, 'its drain ends, and its application was just busy');
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
