/**
 * One container in the hands of the stand-in kubelet: its lives, its state, and how a life is ended.
 *
 * A stop is the kubelet's: TERM to PID 1, then KILL to the whole namespace when the grace period is over.
 */
import type { Container, Exit } from '../helpers/container.ts';
import { send } from '../helpers/process.ts';

export interface PodContainer {
  readonly name: string;
  /** Flags of sexton besides those that the pod declares. */
  readonly flags?: readonly string[];
  readonly command: readonly string[];
  /** A predecessor: it must have exited 0 before the next container is started. */
  readonly init?: boolean;
  /** What its restart rules say of exit codes. */
  readonly rules?: Readonly<Record<number, 'restart' | 'restart-all'>>;
  /** Awaited before life `life` (2 and so on) in place of a back-off, which may be of any length. */
  readonly backoff?: (life: number) => Promise<unknown>;
  /** The command is PID 1 itself, without sexton. */
  readonly bare?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly memoryMb?: number;
  readonly sees?: readonly string[];
  /** Run in the container before sexton, which it must exec. */
  readonly inside?: readonly string[];
  /** The uid and gid of PID 1. */
  readonly user?: number;
  /** Called with each life as it begins. */
  readonly onLife?: (container: Container) => void;
}

export interface ContainerState {
  readonly name: string;
  /** Waiting: not started yet, or between two lives. */
  readonly is: 'waiting' | 'running' | 'terminated';
  readonly running: boolean;
  /** The status of each life that ended. */
  readonly exits: readonly number[];
  readonly restarts: number;
  /** The end of its grace period, or the node, ended its last life. */
  readonly killed: boolean;
}

export class KubeletContainer {
  readonly spec: PodContainer;
  readonly exits: number[] = [];
  readonly #launch: (spec: PodContainer) => Container;
  #lives = 0;
  #killed = false;
  #killing: Promise<void> | undefined;
  #isDone = false;
  #running: Container | undefined;
  #last: Container | undefined;

  constructor(spec: PodContainer, launch: (spec: PodContainer) => Container) {
    this.spec = spec;
    this.#launch = launch;
  }

  /** One life; resolves when it has ended. */
  async live(): Promise<Exit> {
    const container = this.#launch(this.spec);
    this.#lives += 1;
    this.#killed = false;
    this.#isDone = false;
    this.#running = container;
    this.#last = container;
    this.spec.onLife?.(container);
    const exit = await container.ended;
    // By then it is known whether a KILL ended it.
    await this.#killing;
    this.#running = undefined;
    this.exits.push(exit.status);
    return exit;
  }

  /** There will be no other life. */
  close(): void {
    this.#isDone = true;
  }

  get lives(): number {
    return this.#lives;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  get last(): Container {
    if (this.#last === undefined) throw new Error(`${this.spec.name} was not started`);
    return this.#last;
  }

  get lastStatus(): number {
    const last = this.exits.at(-1);
    if (last === undefined) throw new Error(`${this.spec.name} has not ended`);
    return last;
  }

  get state(): ContainerState {
    const running = this.isRunning;
    return {
      name: this.spec.name,
      is: running ? 'running' : this.#isDone ? 'terminated' : 'waiting',
      running,
      exits: [...this.exits],
      restarts: Math.max(0, this.#lives - 1),
      killed: this.#killed,
    };
  }

  /** Resolves when the current life has ended; at once without one. Asks in the caller's turn up to its first wait. */
  async stop(over: AbortSignal): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    // The runtime starts a container before it can be signalled; a namespace whose PID 1 is not yet sexton is not
    // started.
    const pid =
      running.findNow() ?? (await Promise.race([running.pid1().catch(() => {}), aborted(over), running.ended]));
    if (typeof pid === 'number' && this.#running === running) send(pid, 'SIGTERM');
    await Promise.race([running.ended, aborted(over)]);
    await this.kill(running);
  }

  /** The whole namespace at once; nothing when it has ended before. */
  async kill(life: Container | undefined = this.#running): Promise<void> {
    if (life === undefined || this.#running !== life) return;
    this.#killing = life.kill().then(({ wasKilled }) => {
      this.#killed = wasKilled;
    });
    await this.#killing;
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
