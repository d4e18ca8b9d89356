/** One host process for one test, driven over a unix socket and watched from outside. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { Commit, Hello, HostCommand, HostEvent } from '../../../src/runtime/host/host.ts';
import { NODE } from '../../helpers/paths.ts';
import { send } from '../../helpers/process.ts';
import { type Scratch, tempGraveyard } from '../../helpers/scratch.ts';
import { within } from '../../helpers/wait.ts';
import type { Answer, Order } from './driver.ts';

export type HostKind =
  | { readonly name: 'InitHost'; readonly init: string }
  | {
      readonly name: 'ExecaHost';
      readonly asPid1?: boolean;
      /** Node waits before the first line of the program, for somebody to write into `scratch.path('gate')`. */
      readonly isHeld?: boolean;
    };

/** A shell that lives until it is ended, also by a signal that it traps. */
export const FOR_EVER = 'while :; do sleep 1000 & wait $!; done';

type EventOf<T> = Extract<HostEvent, { type: T }>;

/** Things that come one after another, and whoever waits for them. What was not asked for stays. */
class Inbox<T> {
  readonly all: T[] = [];
  readonly #what: string;
  #waiting: T[] = [];
  #wake: (() => void) | undefined;

  constructor(what: string) {
    this.#what = what;
  }

  put(thing: T): void {
    this.all.push(thing);
    this.#waiting.push(thing);
    this.#wake?.();
  }

  /** Takes out the first that fits, when it comes. */
  async next(fits: (thing: T) => boolean): Promise<T> {
    const index = await this.#indexOf(fits);
    return this.#waiting.splice(index, 1)[0] as T;
  }

  /** The same, and drops what came before it. */
  async skipTo(fits: (thing: T) => boolean): Promise<T> {
    const index = await this.#indexOf(fits);
    return this.#waiting.splice(0, index + 1)[index] as T;
  }

  async #indexOf(fits: (thing: T) => boolean): Promise<number> {
    for (;;) {
      const index = this.#waiting.findIndex(fits);
      if (index >= 0) return index;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await within(this.#what, promise);
    }
  }
}

export class HostProcess {
  readonly kind: HostKind;
  readonly scratch: Scratch;
  readonly output = new Inbox<string>('a line of the application');
  readonly errors: string[] = [];
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #process: ChildProcess;
  readonly #server: Server;
  readonly #wires = new Inbox<Socket>('a supervisor');
  #wire: Socket | undefined;
  #answers = new Inbox<Answer>('an answer');
  #hello: Extract<Answer, { type: 'hello' }> | undefined;

  static async start(t: TestContext, kind: HostKind): Promise<HostProcess> {
    let host: HostProcess | undefined;
    // Before the hook of the directory, which needs all processes gone. Hooks run in the order in which they were set.
    t.after(() => host?.end());
    const scratch = await tempGraveyard(t);
    await mkdir(scratch.path('app'));
    await mkdir(scratch.path('bin'));
    const driver = join(import.meta.dirname, 'driver.ts');
    const gate = kind.name === 'ExecaHost' && kind.isHeld ? scratch.path('gate') : undefined;
    if (gate !== undefined) execFileSync('mkfifo', [gate]);
    const wait = gate === undefined ? '' : `require('fs').readFileSync(${JSON.stringify(gate)});`;
    await writeFile(scratch.path('app/main.cjs'), `${wait}import(${JSON.stringify(driver)});\n`);
    await symlink(NODE, scratch.path('bin/node'));
    if (kind.name === 'InitHost') await copyFile(kind.init, scratch.path('sexton'));
    const server = createServer();
    server.listen(scratch.path('wire'));
    await once(server, 'listening');
    host = new HostProcess(kind, scratch, server);
    return host;
  }

  private constructor(kind: HostKind, scratch: Scratch, server: Server) {
    this.kind = kind;
    this.scratch = scratch;
    this.#server = server;
    server.on('connection', (wire) => this.#wires.put(wire));
    const [file = '', ...words] = commandLine(kind, scratch);
    // With a variable SEXTON_* init leaves the start to the supervisor, which is what the contract is about.
    const env = { ...process.env, SEXTON_STOP: 'TERM', TEST_WIRE: scratch.path('wire'), SCRATCH: scratch.dir };
    this.#process = spawn(file, [...words, ...OWN_COMMAND], { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.ended = once(this.#process, 'close').then(([code, signal]) => ({ code, signal }));
    onLines(this.#process.stdout, (line) => this.output.put(line));
    onLines(this.#process.stderr, (line) => this.errors.push(line));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** The pid of the driver, which runs in place of the supervisor. */
  get supervisorPid(): number {
    return this.#hello?.pid ?? 0;
  }

  get limits(): readonly string[] {
    return this.#hello?.limits ?? [];
  }

  /** The first supervisor, or the next one that init starts by itself. */
  async supervisor(): Promise<Hello> {
    const wire = await this.#wires.next(() => true);
    const answers = new Inbox<Answer>('an answer');
    onLines(wire, (line) => answers.put(JSON.parse(line) as Answer));
    this.#wire = wire;
    this.#answers = answers;
    return this.#awaitHello();
  }

  /** The one that comes after this: init starts it once this one is dead; ExecaHost is opened again. */
  async nextSupervisor(): Promise<Hello> {
    if (this.kind.name === 'InitHost') {
      send(this.supervisorPid, 'SIGKILL');
      return this.supervisor();
    }
    await this.order({ type: 'reopen' });
    return this.#awaitHello();
  }

  /** How many events this supervisor heard in the turn of the loop after `hello`. */
  async heardAtOnce(): Promise<number> {
    const answer = await this.#answers.next((it) => it.type === 'heard');
    return answer.type === 'heard' ? answer.count : 0;
  }

  async commit(commit: Partial<Commit>): Promise<void> {
    const error = await this.order({
      type: 'commit',
      commit: { ack: undefined, memo: undefined, commands: [], ...commit },
    });
    if (error !== undefined) throw new Error(error);
  }

  async shell(id: number, script: string): Promise<EventOf<'spawned'>> {
    await this.commit({ commands: [spawnOf(id, '/bin/sh', '-c', script)] });
    return this.event('spawned');
  }

  /** What the host threw, if it did. */
  async order(order: Order): Promise<string | undefined> {
    this.say(order);
    const answer = await this.#answers.next((it) => it.type === 'done');
    return answer.type === 'done' ? answer.error : undefined;
  }

  /** The next event but `told`, whatever it is; an error when it is not of this type. */
  async event<T extends HostEvent['type']>(type: T): Promise<EventOf<T>> {
    const answer = await this.#answers.next((it) => it.type === 'event' && it.event.type !== 'told');
    if (answer.type !== 'event' || answer.event.type !== type) {
      throw new Error(`wanted ${type}, got ${JSON.stringify(answer)}`);
    }
    return answer.event as EventOf<T>;
  }

  async #awaitHello(): Promise<Hello> {
    // What the supervisor before it has left unread is not for this one.
    const answer = await this.#answers.skipTo((it) => it.type === 'hello');
    if (answer.type !== 'hello') throw new Error('internal error: no hello');
    this.#hello = answer;
    // JSON leaves out what is undefined.
    return { ...answer.hello, memo: answer.hello.memo };
  }

  /** Alone for what gets no answer: a crash, an exit, a commit that ends the connection. */
  say(order: Order): void {
    this.#wire?.write(`${JSON.stringify(order)}\n`);
  }

  private async end(): Promise<void> {
    // Asked first, so that the groups are ended too; then without asking.
    this.say({ type: 'commit', commit: { ack: undefined, memo: undefined, commands: [{ type: 'exit', code: 0 }] } });
    await within('the host ends', this.ended, 5_000).catch(() => send(this.pid, 'SIGKILL'));
    for (const wire of this.#wires.all) wire.destroy();
    this.#server.close();
  }
}

export async function start(t: TestContext, kind: HostKind): Promise<HostProcess> {
  const host = await HostProcess.start(t, kind);
  await host.supervisor();
  return host;
}

/** Whether the host's `limits` have this sentence. The case then tests that the sentence is true. */
export function declares(host: HostProcess, sentence: RegExp): boolean {
  return host.limits.flatMap((limits) => limits.split(/: |; /)).some((it) => sentence.test(it));
}

/** Stands for the user's command on the host's own command line. */
const OWN_COMMAND = ['--', '/bin/sh', '-c', 'echo own command line'];

function commandLine(kind: HostKind, scratch: Scratch): string[] {
  if (kind.name === 'InitHost') return [scratch.path('sexton')];
  const node = [scratch.path('bin/node'), scratch.path('app/main.cjs')];
  if (!kind.asPid1) return node;
  const rootless = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  return ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child=KILL', ...rootless, '--', ...node];
}

export function stopOf(id: number, signal: number): HostCommand {
  return { type: 'stop', id, signal, lateMs: undefined, lastMs: undefined };
}

export function spawnOf(id: number, ...argv: readonly [string, ...string[]]): HostCommand & { type: 'spawn' } {
  return { type: 'spawn', id, to: 'tree', program: { fromIndex: 0, argv } };
}

/** The other end may be killed at any time: that shows elsewhere. */
function onLines(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  if (stream === null) throw new Error('internal error: no pipe');
  // readline passes the errors of its input on.
  createInterface({ input: stream })
    .on('line', onLine)
    .on('error', () => {});
}
