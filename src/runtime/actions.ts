/**
 * The actions that this process runs itself: probes and hooks that go over the network. Commands are the host's. What it takes is
 * loaded when the first one is run.
 */
import type { Effect } from '../core/events.ts';
import type { ActionEnd, RunningAction } from './probes/probe.ts';

export class Actions {
  readonly #onEnd: (id: number, end: ActionEnd) => void;
  readonly #running = new Map<number, RunningAction | undefined>();

  constructor(onEnd: (id: number, end: ActionEnd) => void) {
    this.#onEnd = onEnd;
  }

  async run({ id, action, timeoutMs }: Effect & { type: 'runAction' }): Promise<void> {
    if (action.kind === 'exec') return;
    this.#running.set(id, undefined);
    const { startAction } = await import('./probes/probe.ts');
    // It may have been told to end meanwhile.
    if (!this.#running.has(id)) return;
    const onEnd = (end: ActionEnd): void => {
      if (this.#running.delete(id)) this.#onEnd(id, end);
    };
    const running = startAction(action, { timeoutMs, onEnd });
    if (this.#running.has(id)) this.#running.set(id, running);
  }

  /** Its end is told like any other: what counts is when it was. */
  end(id: number): void {
    if (!this.#running.has(id)) return;
    this.#running.get(id)?.end();
    this.#running.delete(id);
    // Not now: whoever tells us is in the middle of an event.
    setImmediate(() => this.#onEnd(id, { ok: false, detail: 'ended', output: '' }));
  }

  endAll(): void {
    for (const action of this.#running.values()) action?.end();
    this.#running.clear();
  }
}
