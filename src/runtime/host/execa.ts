/**
 * The host where there is no sexton-init (macOS, no binary for this machine): this process is itself the parent of the
 * application. The same contract as over init, within one life of this process; what is out of Node's reach stands in
 * `limits`. Loaded only when it is needed, because of what execa takes to load.
 *
 * The child gets a session of its own, so a Ctrl-C at the terminal reaches this process only and is forwarded once.
 */
import { execa } from 'execa';
import type { Program } from '../../config/run-config.ts';
import { OVERTAKEN } from '../../core/exit.ts';
import type { Orders } from '../../core/orders.ts';
import { SIGINT, SIGKILL, SIGTERM, signalNumber } from '../../core/signals.ts';
import { encodeCommit, ProtocolError } from './frames.ts';
import { HeldSocket } from './held-socket.ts';
import { Helpers } from './helpers.ts';
import type { Commit, Hello, Host, HostCommand, HostEvent } from './host.ts';
import { takeSignals } from './own-signals.ts';
import { groupIsGone, signalGroup, signalProcess } from './process-group.ts';
import { errnoOf, PLAIN } from './spawning.ts';

const GROUP_POLL_MS = 50;

/** One line, whatever is missing: a warning that fills the screen is not read. */
function limitsOf(why: string | undefined): string {
  const missing = [
    'a signal before Node has started ends sexton',
    'real-time signals are not received, and a program that one ended counts as exit code 0',
    'BUS, FPE, ILL, PIPE, PROF, SEGV, TTIN and TTOU are not forwarded',
    'the sender of a signal and core dumps are not known',
    'orphans are not reaped, counted or swept',
    'the death of the parent is not noticed',
    'if the supervisor crashes the application is killed, if it is killed the application runs on alone',
    'the liveness socket closes with the supervisor',
    'the application has no controlling terminal',
    'the application does not inherit signal dispositions, the limit of open files, descriptors above 2 and what is not UTF-8',
  ];
  return `running without sexton-init${why === undefined ? '' : ` (${why})`}: ${missing.join('; ')}`;
}

type Unnumbered<E> = E extends HostEvent ? Omit<E, 'seq' | 'at'> : never;
type Report = Unnumbered<HostEvent>;

export class ExecaHost implements Host {
  readonly limits: readonly string[];
  readonly #hostId = crypto.randomUUID().replaceAll('-', '');
  readonly #startedAt = Math.floor(monotonicMs() - process.uptime() * 1000);
  readonly #environment = { ...process.env };
  readonly #giveSignalsBack: () => void;
  readonly #helpers = new Helpers(this.#environment, (ended) => this.#report(ended));
  readonly #killLeftovers = (): void => {
    for (const pgid of this.#groups.values()) signalGroup(pgid, SIGKILL);
    this.#helpers.endAll();
  };
  /** Process groups that are not empty, by the id of the child that leads them. */
  readonly #groups = new Map<number, number>();
  readonly #living = new Set<number>();
  readonly #polls = new Map<number, NodeJS.Timeout>();
  readonly #socket = new HeldSocket();
  #queue: HostEvent[] = [];
  #lastSeq = 0;
  #delivered = 0;
  #lastId = 0;
  #memo: string | undefined;
  #orders: Orders = { id: 1, stopSignals: [SIGTERM, SIGINT], rows: [] };
  /** The row `first` of these orders is done. */
  #isFirstDone = false;
  #firstOnly: number | undefined;
  #onEvent: ((event: HostEvent) => void) | undefined;

  /** `why`: why there is no sexton-init, for `limits`. */
  constructor(why?: string) {
    this.limits = [limitsOf(why)];
    this.#giveSignalsBack = takeSignals((signal) => this.#take(signal));
    process.on('exit', this.#killLeftovers);
  }

  /** Opened again, it gives again what was not acknowledged. */
  async open(onEvent: (event: HostEvent) => void): Promise<Hello> {
    this.#onEvent = undefined;
    // The caller of `open` goes on first, then events flow.
    setImmediate(() => {
      this.#onEvent = onEvent;
      this.#delivered = 0;
      this.#deliver();
    });
    return {
      hostId: this.#hostId,
      startedAt: this.#startedAt,
      memo: this.#memo,
      isPid1: process.pid === 1,
      killed: 0,
    };
  }

  commit(commit: Commit): void {
    // What init would refuse is refused here, and before anything is applied.
    encodeCommit(commit);
    const { ack, memo, commands } = commit;
    if (ack !== undefined && ack > this.#lastSeq)
      throw new ProtocolError(`cannot acknowledge ${ack}: it has not happened`);
    if (ack !== undefined) this.#queue = this.#queue.filter((event) => event.seq > ack);
    if (memo !== undefined) this.#memo = memo;
    for (const command of commands) this.#apply(command);
    // Wherever it stands, it comes last, as with init.
    const exit = commands.find((command) => command.type === 'exit');
    if (exit !== undefined) process.exit(exit.code);
  }

  async close(): Promise<void> {
    this.#onEvent = undefined;
    this.#killLeftovers();
    for (const poll of this.#polls.values()) clearInterval(poll);
    this.#socket.close();
    this.#giveSignalsBack();
    process.off('exit', this.#killLeftovers);
  }

  #apply(command: HostCommand): void {
    switch (command.type) {
      case 'spawn':
        this.#firstOnly = command.to === 'first' ? command.id : undefined;
        return this.#spawn(command.id, command.program);
      case 'kill':
      case 'stop':
        // This process adopts no orphans, so it signals the group in place of the tree.
        this.#signal(command.id, command.signal);
        return;
      case 'orders':
        // All but the tables is for the time after a supervisor that does not come back; here that is the host itself.
        this.#orders = command;
        this.#isFirstDone = false;
        return;
      case 'due':
        // Only another process could keep them for this one when it hangs.
        return;
      case 'exec':
        return this.#helpers.exec(command);
      case 'endHelper':
        return this.#helpers.end(command.id);
      case 'notify':
      case 'watchdog':
      case 'watch':
      case 'connections':
      case 'sleep':
        // Out of reach, as `limits` says.
        return;
      case 'texts':
        // This process is awake, and decides by itself.
        return;
      case 'listen':
        return this.#socket.listen(command.path);
      case 'exit':
        return;
      default:
        command satisfies never;
    }
  }

  #spawn(id: number, program: Program): void {
    if (id <= this.#lastId) return;
    if (this.#hasStop) return this.#report({ type: 'spawnFailed', id, errno: OVERTAKEN });
    this.#lastId = id;
    const [file, ...words] = program.argv;
    const child = execa(file, words, { ...PLAIN, stdio: 'inherit', env: this.#environment });
    const { pid } = child;
    if (pid === undefined) {
      void child.then((result) => this.#report({ type: 'spawnFailed', id, errno: errnoOf(result.code) }));
      return;
    }
    this.#groups.set(id, pid);
    this.#living.add(id);
    this.#report({ type: 'spawned', id, pid });
    void child.then((result) => {
      this.#living.delete(id);
      const signal = result.signal === undefined ? undefined : signalNumber(result.signal);
      const code = signal === undefined ? (result.exitCode ?? 0) : undefined;
      this.#report({ type: 'exited', id, pid, code, signal, core: false });
      this.#awaitEmptyGroup(id, pid);
    });
  }

  #awaitEmptyGroup(id: number, pgid: number): void {
    const check = (): boolean => {
      if (!groupIsGone(pgid)) return false;
      clearInterval(this.#polls.get(id));
      this.#polls.delete(id);
      this.#groups.delete(id);
      this.#report({ type: 'rootsGone', id });
      return true;
    };
    if (!check()) this.#polls.set(id, setInterval(check, GROUP_POLL_MS));
  }

  /** Whether a stop request waits. */
  get #hasStop(): boolean {
    const { stopSignals } = this.#orders;
    return this.#queue.some((event) => {
      return (event.type === 'signal' || event.type === 'ordered') && stopSignals.includes(event.signal);
    });
  }

  #take(signal: number): void {
    if (!this.#isFirstDone && !this.#hasStop && this.#passOn('first', signal)) this.#isFirstDone = true;
    else if (!this.#passOn('each', signal)) this.#report({ type: 'signal', signal, senderPid: 0, fromTerminal: false });
  }

  #passOn(when: 'first' | 'each', signal: number): boolean {
    const { id, rows } = this.#orders;
    const row = rows.find((order) => order.when === when);
    const as = row !== undefined && 'table' in row ? row.table[signal] : undefined;
    if (as === undefined || !this.#signal(id, as)) return false;
    this.#report({
      type: 'ordered',
      id,
      row: when,
      signal,
      as,
      senderPid: 0,
      receiverPid: 0,
      wall: String(BigInt(Date.now()) * 1_000_000n),
    });
    return true;
  }

  /** False when the group is gone. */
  #signal(id: number, signal: number): boolean {
    const pgid = this.#groups.get(id);
    if (pgid === undefined) return false;
    // What KILL ends cannot tell its workers, which would live on.
    if (id === this.#firstOnly && this.#living.has(id) && signal !== SIGKILL) signalProcess(pgid, signal);
    else signalGroup(pgid, signal);
    return true;
  }

  #report(report: Report): void {
    this.#lastSeq += 1;
    this.#queue.push({ ...report, seq: this.#lastSeq, at: Math.floor(monotonicMs()) });
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    for (;;) {
      const next = this.#queue.find((event) => event.seq > this.#delivered);
      if (next === undefined || this.#onEvent === undefined) return;
      this.#delivered = next.seq;
      this.#onEvent(next);
    }
  }
}

/** libuv's clock: CLOCK_MONOTONIC on Linux. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
