/** When a drain has to end: not while the application is busy, by its last answer, and not after its longest time. */
import type { Step } from '../core/life.ts';
import type { Container } from './container.ts';
import { Judge } from './judge.ts';

/** What goes to a slow volume first delays it. */
const LATE_MS = 200;

export class Drains extends Judge {
  /** Since when each application has given no other answer than that it is idle; absent: it is busy. */
  readonly #idleSinceMs = new Map<Container, number>();
  /** Since when each could end a drain: it has its supervisor, and has heard of the request that the drain is for. */
  readonly #freeMs = new Map<Container, number>();

  /** Whether this step may end the drain, or had to. */
  stepped(container: Container, { before, event, after }: Step): void {
    const { idleWhen } = container.member.config;
    const why = before.traffic?.ended === undefined ? after.traffic?.ended : undefined;
    if (before.traffic === undefined || event.type === 'booted') this.#freeMs.set(container, this.world.agenda.monoMs);
    if (why === 'max') this.#judgeLongest(container, before.stop?.earliestMs);
    if (idleWhen === undefined) return;
    this.#hear(container, before.tasks, event);
    if (why === undefined) return;
    this.world.judges('drain');
    this.world.count(`drain of an application: ${why}`);
    const sinceMs = this.#idleSinceMs.get(container);
    if (why !== 'quiet' && why !== 'idle') return;
    if (sinceMs === undefined) this.breaks('drain', container, 'its drain ends, and its application is busy');
    else if (after.now.mono - sinceMs < idleWhen.forMs)
      this.breaks('drain', container, 'its drain ends, and its application was just busy');
  }

  #judgeLongest(container: Container, earliestMs = 0): void {
    const { agenda, calmAtMs } = this.world;
    const dueMs = Math.max(earliestMs, this.#freeMs.get(container) ?? 0);
    const lateMs = agenda.monoMs - dueMs;
    if (calmAtMs > dueMs + agenda.bootAtMs) return;
    this.world.judges('drain');
    if (lateMs > LATE_MS) this.breaks('drain', container, `its drain ends ${lateMs} ms late`);
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
