/**
 * The host where there is no sexton-init (macOS, no binary for this machine): this process is itself the parent of the
 * application. The same contract as over init, within one life of this process; what is out of Node's reach stands in
 * `limits`. Loaded only when it is needed, because of what execa takes to load.
 *
 * The child gets a session of its own, so a Ctrl-C at the terminal reaches this process only and is forwarded once.
 */
import { execa, type Options } from 'execa';
import { SIGKILL, signalNumber } from '../../core/signals.ts';
import { encodeCommit, ProtocolError } from './frames.ts';
import { HeldSocket } from './held-socket.ts';
import type { Commit, Hello, Host, HostCommand, HostEvent, Program } from './host.ts';
import { takeSignals } from './own-signals.ts';
import { groupIsGone, signalGroup } from './process-group.ts';

/** execa's defaults would KILL after 5 s, and take signals for itself. `verbose`: else NODE_DEBUG=execa writes to stderr. */
const OPTIONS = {
  stdio: 'inherit',
  buffer: false,
  cleanup: false,
  reject: false,
  forceKillAfterDelay: false,
  detached: true,
  extendEnv: false,
  verbose: 'none',
} as const satisfies Options;

const GROUP_POLL_MS = 50;

/** One line, whatever is missing: a warning that fills the screen is not read. */
function limitsOf(why: string | undefined): string {
  const missing = [
    'a signal before Node has started ends sexton',
    'real-time signals are not received, and a program that one ended counts as exit code 0',
    'BUS, FPE, ILL, PIPE, PROF, SEGV, TTIN and TTOU are not forwarded',
    'the sender of a signal and core dumps are not known',
    'orphans are not reaped',
    'if the supervisor crashes the application is killed, if it is killed the application runs on alone',
    'the liveness socket closes with the supervisor',
    'the application has no controlling terminal',
    'the application does not inherit signal dispositions, the limit of open files, descriptors above 2 and what is not UTF-8',
  ];
  return `running without sexton-init${why === undefined ? '' : ` (${why})`}: ${missing.join('; ')}`;
}

type Forwarding = Pick<HostCommand & { type: 'forward' }, 'id' | 'table'>;
type Unnumbered<E> = E extends HostEvent ? Omit<E, 'seq' | 'at'> : never;
type Report = Unnumbered<HostEvent>;

export class ExecaHost implements Host {
  readonly limits: readonly string[];
  readonly #hostId = crypto.randomUUID().replaceAll('-', '');
  readonly #startedAt = Math.floor(monotonicMs() - process.uptime() * 1000);
  readonly #environment = { ...process.env };
  readonly #giveSignalsBack: () => void;
  readonly #killLeftovers = (): void => this.#groups.forEach((pgid) => void signalGroup(pgid, SIGKILL));
  /** Process groups that are not empty, by the id of the child that leads them. */
  readonly #groups = new Map<number, number>();
  readonly #polls = new Map<number, NodeJS.Timeout>();
  readonly #socket = new HeldSocket();
  #queue: HostEvent[] = [];
  #lastSeq = 0;
  #delivered = 0;
  #lastId = 0;
  #memo: string | undefined;
  #forward: Forwarding | undefined;
  #once: Forwarding | undefined;
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
    // Whoever awaits us goes on first, then events flow.
    setImmediate(() => {
      this.#onEvent = onEvent;
      this.#delivered = 0;
      this.#deliver();
    });
    return { hostId: this.#hostId, startedAt: this.#startedAt, memo: this.#memo, isPid1: process.pid === 1 };
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
        return this.#spawn(command.id, command.program);
      case 'kill': {
        const pgid = this.#groups.get(command.id);
        if (pgid !== undefined) signalGroup(pgid, command.signal);
        return;
      }
      case 'forward':
        this.#forward = command;
        return;
      case 'once':
        this.#once = command;
        return;
      case 'fallback':
        // For the time after a supervisor that does not come back; here that is the host itself.
        return;
      case 'exec':
      case 'endHelper':
      case 'sweep':
      case 'single':
      case 'parentDeath':
      case 'tellReaped':
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
    this.#lastId = id;
    const [file, ...words] = program.argv;
    const child = execa(file, words, { ...OPTIONS, env: this.#environment });
    const { pid } = child;
    if (pid === undefined) {
      void child.then((result) => this.#report({ type: 'spawnFailed', id, errno: errnoOf(result.code) }));
      return;
    }
    this.#groups.set(id, pid);
    this.#report({ type: 'spawned', id, pid });
    void child.then((result) => {
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
      this.#report({ type: 'groupGone', id, strays: 0 });
      return true;
    };
    if (!check()) this.#polls.set(id, setInterval(check, GROUP_POLL_MS));
  }

  #take(signal: number): void {
    if (this.#passOn(this.#once, signal)) this.#once = undefined;
    else if (!this.#passOn(this.#forward, signal))
      this.#report({ type: 'signal', signal, senderPid: 0, fromTerminal: false });
  }

  #passOn(forwarding: Forwarding | undefined, signal: number): boolean {
    const as = forwarding?.table[signal];
    const pgid = forwarding === undefined ? undefined : this.#groups.get(forwarding.id);
    if (as === undefined || pgid === undefined) return false;
    signalGroup(pgid, as);
    this.#report({ type: 'forwarded', signal, as, senderPid: 0 });
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

/** Node refuses some names before the kernel can (ERR_INVALID_ARG_VALUE for an empty one); execve(2) says ENOENT to that. */
function errnoOf(code: string | undefined): string {
  if (code === 'ERR_INVALID_ARG_VALUE') return 'ENOENT';
  return code !== undefined && /^E[A-Z0-9]+$/.test(code) ? code : 'EINVAL';
}

/** libuv's clock: CLOCK_MONOTONIC on Linux. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
