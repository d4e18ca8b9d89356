/**
 * Runs the tasks that go over the network or look at a file: probes, hooks and calls. Those that are commands are the host's. The code
 * for it is loaded when the first one is started.
 */
import type { Effect } from '../../core/state/events.ts';
import { timedOutAfter } from '../../core/time.ts';
import type { ActionEnd, RunningAction, startAction } from './probe.ts';

type NetworkTaskAction = Exclude<(Effect & { type: 'startTask' })['action'], { kind: 'exec' }>;

export const loadActions = (): Promise<{ readonly startAction: typeof startAction }> => import('./probe.ts');

interface Entry {
  readonly timeoutMs: number | undefined;
  /** undefined: it has not begun yet. */
  readonly action?: RunningAction;
}

export class NetworkTasks {
  readonly #onEnd: (id: number, end: ActionEnd) => void;
  readonly #load: typeof loadActions;
  readonly #entries = new Map<number, Entry>();

  constructor(onEnd: (id: number, end: ActionEnd) => void, load = loadActions) {
    this.#onEnd = onEnd;
    this.#load = load;
  }

  async start(id: number, action: NetworkTaskAction, timeoutMs: number | undefined): Promise<void> {
    this.#entries.set(id, { timeoutMs });
    const { startAction } = await this.#load();
    // It may have been asked to end meanwhile.
    if (!this.#entries.has(id)) return;
    const onEnd = (end: ActionEnd): void => {
      if (this.#entries.delete(id)) this.#onEnd(id, end);
    };
    const running = startAction(action, { timeoutMs, onEnd });
    if (this.#entries.has(id)) this.#entries.set(id, { timeoutMs, action: running });
  }

  /**
   * Its end is reported like any other, but never at once: the caller is in the middle of an event. What has arrived
   * still counts.
   */
  end(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (entry.action !== undefined) return entry.action.expire();
    this.#entries.delete(id);
    const detail = timedOutAfter(entry.timeoutMs ?? 0);
    queueMicrotask(() => this.#onEnd(id, { ok: false, detail, output: '' }));
  }

  endAll(): void {
    for (const { action } of this.#entries.values()) action?.end();
    this.#entries.clear();
  }
}
