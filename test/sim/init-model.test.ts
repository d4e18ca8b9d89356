/** The model of init in the simulator against sexton-init: both have to answer each conversation in the same way. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { SIGKILL } from '../../src/core/signals.ts';
import { decodeEvent, decodeHello, encodeCommit } from '../../src/runtime/host/frames.ts';
import type { HostCommand } from '../../src/runtime/host/host.ts';
import { buildFixtures } from '../helpers/fixture.ts';
import { childrenOf, send } from '../helpers/process.ts';
import { sendFromOutside } from '../helpers/program.ts';
import { waitFor } from '../helpers/wait.ts';
import { BUILDS } from '../init/builds.ts';
import type { Supervisor } from '../init/connection.ts';
import { type Bench, connected, type Init, onBench } from '../init/scripted.ts';
import { type Conversation, converse, MEMO, PEERS, type Turn, tell, WORDS } from './conversation.ts';
import { inMacrotask } from './microtasks.ts';
import type { Notice } from './rows.ts';

const { TEST_SEED: SEED = 1, TEST_ROUNDS: ROUNDS = 40 } = process.env;
/** Init and its model once disagreed in these. */
const ON_RECORD = [9_000_984, 9_001_911];

/** A peer that holds its socket until it ends. */
class Peer {
  readonly #server: Server;
  readonly #connections: Socket[] = [];
  readonly #hostId: string;

  constructor(hostId: string) {
    this.#hostId = hostId;
    this.#server = createServer((socket) => this.#connections.push(socket.on('error', () => {})));
  }

  async listen(bench: Bench, name: string): Promise<void> {
    // Node removes the socket where it was bound: one that is gone leaves its own behind.
    await new Promise<void>((resolve) => this.#server.listen(bench.path(name), resolve));
    // A test that fails does not keep the process.
    this.#server.unref();
    renameSync(bench.path(name), bench.path(`grave/.${name}.sock`));
  }

  async end(says: Notice): Promise<void> {
    const notice = says === 'gone' ? '' : `dead ${this.#hostId} ${{ ended: 0, said: 1, asked: 2 }[says]}\n`;
    this.#server.close();
    await new Promise((resolve) => setImmediate(resolve));
    for (const socket of this.#connections) socket.end(notice, () => socket.destroy());
  }
}

/** A text without what differs by the clock. */
function timeless(text: string | undefined): string | undefined {
  return text
    ?.replace(/("(?:Died|StopRequested)": ?)"[^"]*"/g, '$1TIME')
    .replace(/("(?:DiedMonotonic|Deadline|StopMs|GraceLeftMs)": ?)\d+/g, '$1MS')
    .replace(/\d+(?:\.\d)? m?s\b/g, 'SPAN');
}

/** Plays the steps with sexton-init. */
class Play {
  readonly #bench: Bench;
  readonly #command: readonly [string, ...string[]];
  readonly #peers = PEERS.map(({ hostId }) => new Peer(hostId));
  #init: Init | undefined;
  #supervisor: Supervisor | undefined;
  #seq = 0;
  #notices = '';

  constructor(bench: Bench, member: string) {
    this.#bench = bench;
    this.#command = [member, ...WORDS, `log=${bench.path('log')}`];
  }

  async begin(t: TestContext, startsAtOnce: boolean): Promise<void> {
    mkdirSync(this.#bench.path('grave'));
    appendFileSync(this.#bench.path('log'), '');
    for (const [n, peer] of this.#peers.entries()) await peer.listen(this.#bench, PEERS[n]?.name ?? '');
    t.after(() => Promise.all(this.#peers.map((peer) => peer.end('gone'))));
    const words = ['--graveyard', this.#bench.path('grave'), '--name', 'main', '--', ...this.#command];
    this.#init = this.#bench.start(startsAtOnce ? words : ['--frobnicate', ...words]);
  }

  async do({ step, isAsleep }: Turn): Promise<void> {
    if (step.do === 'signal') await this.#signal(step.signal);
    if (step.do === 'kill the command') send(Number(/pid=(\d+)/.exec(this.#lives.at(-1) ?? '')?.[1]), SIGKILL);
    if (step.do === 'kill the supervisor') await this.#supervisor?.kill();
    if (step.do === 'lose all supervisors') await this.#loseAll();
    if (step.do === 'find one again') renameSync(this.#bench.path('bin/away'), this.#bench.path('bin/node'));
    if (step.do === 'change') await this.#change(step.file);
    if (step.do === 'end peer') await this.#peers[step.peer]?.end(step.says);
    if (step.do !== 'commit') return;
    const ack = step.acks && this.#seq > 0 ? this.#seq : undefined;
    const isLast = isAsleep || step.commands.some(({ type }) => type === 'exit');
    const own = step.commands.map((command) => this.#ownOf(command));
    const applied = this.#bench.path('applied');
    const sync: readonly HostCommand[] = isLast ? [] : [{ type: 'listen', path: applied }];
    this.#supervisor?.raw(encodeCommit({ ack, memo: MEMO, commands: [...own, ...sync] }));
    if (!isLast) await this.#hasApplied(applied);
  }

  get #started(): Init {
    if (this.#init === undefined) throw new Error('init is not started');
    return this.#init;
  }

  /** From outside, as the model has it: else a stop request is not the platform's. */
  async #signal(signal: number): Promise<void> {
    await sendFromOutside(this.#started.pid, signal);
    await this.#untilRead();
  }

  /** The kernel signals a change, too. */
  async #change(file: string): Promise<void> {
    appendFileSync(this.#bench.path(`grave/${file}`), 'x');
    await this.#untilRead();
  }

  /** Init reads the lowest of several pending signals first, so each is awaited. */
  async #untilRead(): Promise<void> {
    const status = `/proc/${this.#started.pid}/status`;
    const isRead = (): boolean => !existsSync(status) || /ShdPnd:\s*0+\n/.test(readFileSync(status, 'utf8'));
    await waitFor('init has read the signal', isRead);
  }

  async #loseAll(): Promise<void> {
    renameSync(this.#bench.path('bin/node'), this.#bench.path('bin/away'));
    await this.#supervisor?.kill();
    await waitFor('init goes on alone', () => this.#started.stderr().includes('cannot start the supervisor'));
  }

  async #hasApplied(applied: string): Promise<void> {
    await waitFor('the commit is applied', () => existsSync(applied));
    if (this.#notices === '') {
      this.#notices = ' ';
      (await connected(applied)).on('data', (bytes) => {
        this.#notices += bytes;
      });
    }
    rmSync(applied);
    const appliedMs = performance.now();
    // What it has prepared holds from the next millisecond on.
    await waitFor('the next millisecond', () => performance.now() > appliedMs + 1);
  }

  /** The command with the paths of this play. */
  #ownOf(command: HostCommand): HostCommand {
    const at = (path: string): string => this.#bench.path(`grave/${path}`);
    if (command.type === 'spawn') return { ...command, program: { fromIndex: 0, argv: this.#command } };
    if (command.type === 'watch') return { ...command, dir: at('.') };
    if (command.type === 'connections') return { ...command, paths: command.paths.map(at) };
    if (command.type === 'orders')
      return {
        ...command,
        rows: command.rows.map((row) =>
          row.when === 'mains' ? { ...row, mains: row.mains.map((main) => ({ ...main, path: at(main.path) })) } : row,
        ),
      };
    if (command.type !== 'texts') return command;
    return { ...command, path: at('main'), terminationLog: { path: this.#bench.path('evidence'), isNamed: true } };
  }

  /** What it says next; `like`: what it is to say. */
  async hear(like: string): Promise<string> {
    if (like.startsWith('left')) return `left with ${(await this.#started.ended).code}`;
    if (like.startsWith('hello')) {
      this.#supervisor = await this.#started.supervisor();
      const { wokenBy } = decodeHello(['hello', ...this.#supervisor.hello]);
      return `hello, ${wokenBy === undefined ? 'not woken' : 'woken'}`;
    }
    const event = decodeEvent((await this.#supervisor?.next()) ?? []);
    this.#seq = event.seq;
    return tell(event);
  }

  /** What shows besides. */
  async compare({ step, isAsleep, lives, signals, tombstone, isFinal, evidence }: Turn): Promise<void> {
    if (isAsleep && step.do === 'commit') {
      await this.#supervisor?.closed();
      await waitFor('init has reaped the supervisor', () => childrenOf(this.#started.pid).length <= 1);
    }
    if (signals !== undefined) {
      await waitFor('the command is ready for signals', () => this.#lives.length > lives);
      const got = (): readonly number[] =>
        [...(this.#lives.at(-1) ?? '').matchAll(/ Signal (\d+)/g)].map(([, number]) => Number(number));
      await waitFor('the command has got its signals', () => got().length >= signals.length, 20_000).catch(() => {});
      assert.deepEqual(got(), signals);
    }
    const path = this.#bench.path('grave/main');
    assert.equal(timeless(existsSync(path) ? readFileSync(path, 'utf8').trimEnd() : undefined), timeless(tombstone));
    if (isFinal) await waitFor('the peers hear that it is gone for good', () => / 1\n/.test(this.#notices));
    else assert.doesNotMatch(this.#notices, / 1\n/);
    const left = this.#bench.path('evidence');
    assert.equal(timeless(existsSync(left) ? readFileSync(left, 'utf8') : undefined), timeless(evidence));
    if (evidence !== undefined) assert.match(this.#started.stderr(), / main: dead reason=.* summary=/);
  }

  get #lives(): readonly string[] {
    return readFileSync(this.#bench.path('log'), 'utf8').split(' Starting ');
  }

  get unheard(): number {
    return this.#supervisor?.pending ?? 0;
  }
}

for (const seed of [...ON_RECORD, ...Array.from({ length: Number(ROUNDS) }, (_, n) => Number(SEED) + n)])
  onBench(
    `the model of init says in conversation ${seed} what sexton-init says`,
    async (bench, t) => {
      let conversation: Conversation = { startsAtOnce: true, turns: [] };
      await inMacrotask(
        () => {
          conversation = converse(seed);
        },
        (reason) => assert.fail(String(reason)),
      );
      const { startsAtOnce, turns } = conversation;
      const play = new Play(bench, (await buildFixtures()).member);
      await play.begin(t, startsAtOnce);
      for (const [index, turn] of turns.entries()) {
        const steps = turns.slice(0, index + 1).map(({ step, said }) => `${JSON.stringify(step)} ${said.join('; ')}`);
        try {
          await play.do(turn);
          for (const like of turn.said) assert.equal(await play.hear(like), like);
          await play.compare(turn);
        } catch (cause) {
          throw new Error(`${cause instanceof Error ? cause.message : cause}\nin\n${steps.join('\n')}`, { cause });
        }
      }
      assert.equal(play.unheard, 0, 'it has said more');
    },
    [BUILDS[0] as (typeof BUILDS)[number]],
  );
