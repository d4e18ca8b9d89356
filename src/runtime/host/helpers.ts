/**
 * Helpers, the commands of probes and hooks, for a host that is not init. Each has a session of its own. What it writes
 * to stdout and stderr is read in the order in which it arrives. What exceeds the limit is read and dropped, so that
 * the helper never stalls.
 */
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { SIGKILL, signalNumber } from '../../core/signals.ts';
import type { HostCommand, HostEvent } from './host.ts';
import { groupIsGone, signalGroup } from './process-group.ts';
import { errnoOf, PLAIN } from './spawning.ts';

const GROUP_POLL_MS = 50;
/** A process that is stuck in the kernel must not hold up the end of its helper. */
const MAX_POLL_MS = 1000;
/** Turns of the event loop in which nothing came: then nothing was left in the pipes. */
const QUIET_TURNS = 3;

type Ended = Omit<Extract<HostEvent, { type: 'helperEnded' }>, 'seq' | 'at'>;

export class Helpers {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #onEnd: (ended: Ended) => void;
  /** Process groups of those that run, by id. */
  readonly #running = new Map<number, number>();
  #lastId = 0;

  constructor(environment: NodeJS.ProcessEnv, onEnd: (ended: Ended) => void) {
    this.#environment = environment;
    this.#onEnd = onEnd;
  }

  exec({ id, argv: [file, ...words], outputLimit }: HostCommand & { type: 'exec' }): void {
    if (id <= this.#lastId) return;
    this.#lastId = id;
    const child = execa(file, words, { ...PLAIN, stdin: 'ignore', env: this.#environment });
    const { pid } = child;
    if (pid === undefined) {
      const nothing = { code: undefined, signal: undefined, output: '' };
      void child.then(({ code }) => this.#onEnd({ type: 'helperEnded', id, ...nothing, errno: errnoOf(code) }));
      return;
    }
    this.#running.set(id, pid);
    const output = new Output([child.stdout, child.stderr], outputLimit);
    child.nodeChildProcess.once('exit', async (code, name) => {
      this.#running.delete(id);
      signalGroup(pid, SIGKILL);
      await Promise.all([output.readOut(), emptied(pid)]);
      const signal = name === null ? undefined : signalNumber(name);
      const how = { code: signal === undefined ? (code ?? 0) : undefined, signal, errno: undefined };
      this.#onEnd({ type: 'helperEnded', id, ...how, output: output.text });
    });
  }

  end(id: number): void {
    const pgid = this.#running.get(id);
    if (pgid !== undefined) signalGroup(pgid, SIGKILL);
  }

  endAll(): void {
    for (const id of this.#running.keys()) this.end(id);
  }
}

/** The first bytes of what a helper writes. */
class Output {
  readonly #streams: readonly Readable[];
  readonly #limit: number;
  #bytes = Buffer.alloc(0);
  #arrivals = 0;
  #open: number;

  constructor(streams: readonly Readable[], limit: number) {
    this.#streams = streams;
    this.#open = streams.length;
    this.#limit = limit;
    for (const stream of streams) {
      stream.on('data', (chunk: Buffer) => this.#take(chunk));
      stream.on('error', () => {});
      stream.on('close', () => {
        this.#open -= 1;
      });
    }
  }

  /** NUL as `?`, as over init, where it ends a field. */
  get text(): string {
    return this.#bytes.toString('utf8').replaceAll('\0', '?');
  }

  /** Takes what is in the pipes now, without waiting for a process that escaped with them. */
  async readOut(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS && this.#open > 0 && this.#bytes.length < this.#limit; quiet++) {
      const before = this.#arrivals;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#arrivals > before) quiet = -1;
    }
    for (const stream of this.#streams) stream.destroy();
  }

  #take(chunk: Buffer): void {
    this.#arrivals += 1;
    const room = this.#limit - this.#bytes.length;
    if (room > 0) this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(0, room)]);
  }
}

async function emptied(pgid: number): Promise<void> {
  for (let waited = 0; waited < MAX_POLL_MS && !groupIsGone(pgid); waited += GROUP_POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, GROUP_POLL_MS));
  }
}
