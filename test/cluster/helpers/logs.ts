/** Follows the logs of all containers of one pod, life by life, while the pod is there. */
import { within } from '../../helpers/wait.ts';
import { follow } from './api.ts';
import type { ContainerStatus } from './objects.ts';

const END_LIMIT_MS = 30_000;

export class LogFollower {
  readonly #path: string;
  readonly #onLine: () => void;
  readonly #texts = new Map<string, string>();
  readonly #streams = new Map<string, Promise<void>>();
  readonly #over = new AbortController();

  constructor(path: string, onLine: () => void) {
    this.#path = path;
    this.#onLine = onLine;
  }

  onStatus({ name, containerID, state }: ContainerStatus): void {
    if (containerID === undefined || this.#streams.has(containerID)) return;
    if (state.running === undefined && state.terminated === undefined) return;
    this.#streams.set(containerID, this.#follow(name));
  }

  of(container: string): string {
    return this.#texts.get(container) ?? '';
  }

  /** The streams of all lives so far have come to their ends. */
  async ended(): Promise<void> {
    await within('the logs of the pod end', Promise.all(this.#streams.values()), END_LIMIT_MS);
  }

  close(): void {
    this.#over.abort();
  }

  async #follow(container: string): Promise<void> {
    const onLine = (line: string): void => {
      this.#texts.set(container, `${this.of(container)}${line}\n`);
      this.#onLine();
    };
    const path = `${this.#path}/log?container=${container}&follow=true`;
    // A pod that is taken away has no log any more.
    await follow(path, onLine, this.#over.signal).catch(() => {});
  }
}
