/**
 * A random conversation with init: what its supervisors order, signals, ends and deaths, and what peers and files do.
 * It is drawn by what is possible next in the model of init, and played there.
 *
 * Nothing in it depends on how long a step takes. What init does by the clock is due within the step, or never.
 */

import { constants } from 'node:os';
import type { EndRow } from '../../src/core/end-rows.ts';
import { openTextsOf } from '../../src/core/lifecycle/stop/record.ts';
import type { MainsRow } from '../../src/core/mains-row.ts';
import type { Order, Passed } from '../../src/core/orders.ts';
import { initialState } from '../../src/core/state/state.ts';
import type { HostCommand, HostEvent } from '../../src/runtime/host/host.ts';
import { writeMemo } from '../../src/runtime/memo.ts';
import { HOST_ID, instant, mainConfig } from '../core/helpers.ts';
import { type Actor, actor } from './agenda.ts';
import { Container, type SimSupervisor } from './container.ts';
import { Dice } from './dice.ts';
import { draw } from './draw.ts';
import type { Notice } from './rows.ts';
import { Content, type Holder } from './volume.ts';
import { type Member, World } from './world.ts';

const { SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGTERM, SIGKILL } = constants.signals;
const STEPS = 14;
/** Virtual time for what follows from a step. */
const STEP_MS = 600;
/** Init leaves or gives up its patience within this time. */
const OWN_MS = 2_500;
/** A supervisor that owes an acknowledgement for longer could be taken for one that hangs. */
const OWED_MS = 3_000;
const FAR_MS = 600_000;
/** Far behind the uptime of a machine. */
const FAR_AT_MS = 2 ** 45;
/** Init waits longer before each next start. */
const MOST_LOSSES = 3;

const BOOT = '5f2a9c31-0b7e-4d86-9a14-c3e8d07b6f52';
/** One row of each kind at most. `signal`: what the stop rows send. */
interface Rows {
  readonly stopSignals: readonly number[];
  readonly signal?: number | undefined;
  readonly each?: Passed | undefined;
  readonly first?: Passed | undefined;
  readonly unheardMs?: number | undefined;
  readonly lostAtMs?: number | undefined;
  readonly graceMs?: number | undefined;
  readonly deadlineMs?: number | undefined;
  readonly mains?: MainsRow | undefined;
  readonly ends?: readonly EndRow[];
}

const PATIENT: Rows = { stopSignals: [SIGTERM, SIGINT], unheardMs: FAR_MS };

function ordersBy(id: number, rows: Rows): HostCommand {
  const { stopSignals, signal, each, first, unheardMs, lostAtMs, graceMs, deadlineMs, mains, ends = [] } = rows;
  const all: readonly (Order | false)[] = [
    each !== undefined && { when: 'each', table: each },
    first !== undefined && { when: 'first', table: first },
    unheardMs !== undefined && { when: 'unheard', ms: unheardMs, signal },
    lostAtMs !== undefined && { when: 'lost', atMs: lostAtMs, signal },
    graceMs !== undefined && { when: 'grace', ms: graceMs },
    graceMs !== undefined && { when: 'mains-grace', ms: graceMs + 1_000 },
    deadlineMs !== undefined && { when: 'deadline', atMs: deadlineMs },
    mains ?? false,
    ...ends,
  ];
  return { type: 'orders', id, stopSignals, rows: all.filter((row) => row !== false) };
}

const STATE = initialState({ hostId: HOST_ID, bootId: BOOT, startedAtMs: 0, now: instant(1_000), solo: false });
export const MEMO = writeMemo({ state: STATE, isHeld: false });
const CONFIG = mainConfig({ name: 'main' });
/** What the command does at a signal; it is started so that it does the same. */
/** When untold processes get a rung: never, far in the future, at once. */
type Times = { readonly lateMs: number | undefined; readonly lastMs: number | undefined };
const TIMES: readonly [Times, ...Times[]] = [
  { lateMs: undefined, lastMs: undefined },
  { lateMs: FAR_AT_MS, lastMs: FAR_AT_MS },
  { lateMs: 1, lastMs: 1 },
];
const REACTIONS = { [SIGTERM]: 'ignores', [SIGUSR1]: 'ignores', [SIGHUP]: { afterMs: 5, code: 3 } } as const;
export const WORDS = ['name=main', 'stop=HUP', 'term=5', 'termexit=3', 'ignore=TERM,USR1', 'default=INT,USR2'] as const;
const LOGGED: readonly number[] = [SIGTERM, SIGUSR1, SIGHUP];

/** Peers by their host id. The last one is no main. */
export const PEERS = ['one', 'two', 'three'].map((name, n) => ({ name, hostId: `${n + 1}`.repeat(32) }));
const REQUEST = '.main.0123456789ab.stop';
/** Files of the shared directory. */
const CHANGES = ['one', 'quiet', REQUEST] as const;

export type Step =
  | { readonly do: 'signal'; readonly signal: number }
  | { readonly do: 'commit'; readonly acks: boolean; readonly commands: readonly HostCommand[] }
  | { readonly do: 'change'; readonly file: string }
  | { readonly do: 'end peer'; readonly peer: number; readonly says: Notice }
  | { readonly do: 'start' | 'kill the command' | 'kill the supervisor' | 'lose all supervisors' | 'find one again' };

export interface Turn {
  readonly step: Step;
  /** What the supervisor of that time hears, or that init has left. */
  readonly said: readonly string[];
  readonly isAsleep: boolean;
  readonly lives: number;
  /** What the command that lives has got; undefined: none lives. */
  readonly signals: readonly number[] | undefined;
  readonly tombstone: string | undefined;
  /** Init has told its peers that it is gone for good. */
  readonly isFinal: boolean;
  /** The evidence, if it has done the rest of the prepared end as well. */
  readonly evidence: string | undefined;
}

export interface Conversation {
  readonly startsAtOnce: boolean;
  readonly turns: readonly Turn[];
}

const DIFFERENT: ReadonlySet<string> = new Set(['pid', 'senderPid', 'wall', 'oom', 'core', 'name']);

/** Without what cannot be the same. */
export function tell(event: HostEvent): string {
  const { seq, at, ...rest } = event as HostEvent & Record<string, unknown>;
  const told = Object.entries(rest).filter(([key]) => !DIFFERENT.has(key));
  const known = (key: string, value: unknown): unknown => (key === 'receiverPid' ? value !== 0 : value);
  return told.map(([key, value]) => `${key} ${known(key, value)}`).join(', ');
}

/** A supervisor that only listens. */
class Listener implements SimSupervisor {
  readonly actor: Actor;
  readonly state = STATE;
  readonly access = { deafen: () => {} };
  doom: SimSupervisor['doom'];
  readonly #container: Container;
  readonly #said: string[];
  #seq = 0;

  constructor(container: Container, wokenBy: string | undefined, said: string[]) {
    this.actor = actor(container.actor);
    this.#container = container;
    this.#said = said;
    said.push(`hello, ${wokenBy === undefined ? 'not woken' : 'woken'}`);
  }

  start(): void {
    this.awaken();
  }

  awaken(): void {
    for (const queued of this.#container.queue.filter(({ seq }) => seq > this.#seq)) {
      this.#seq = queued.seq;
      this.#said.push(tell(this.#container.hostEventOf(queued)));
    }
  }

  die(): void {
    this.actor.isDead = true;
  }

  watch(): void {}
  hearContact(): void {}
  doomByLoss(): void {}
}

export function converse(seed: number): Conversation {
  const dice = new Dice(seed, 1);
  const startsAtOnce = dice.chance(0.8);
  /** A prepared stop gives up at once, and the command lives on after each signal of one. */
  const isImpatient = dice.chance(0.3);
  const lingerMs = new Dice(seed, 10).pick([0, 0, 0, 30, FAR_MS]);
  const { world, container, said, peers } = modelOf(seed, startsAtOnce);
  const turns: Turn[] = [];
  const live = (ms: number): void => {
    const untilMs = world.agenda.nowMs + ms;
    for (let n = 0; world.agenda.step(untilMs); n++) if (n > 20000) throw new Error('endless');
    world.agenda.nowMs = untilMs;
  };
  let losses = 0;
  let isLeaving = false;
  let takesBack = false;
  let rows = PATIENT;
  /** The orders before, with this change. */
  const changed = (id: number, change: Partial<Rows>): HostCommand => {
    rows = { ...rows, ...change };
    return ordersBy(id, rows);
  };
  const play = (step: Step, does: () => void, ms = STEP_MS): void => {
    does();
    live(ms);
    // Once the grace period is over, init leaves soon.
    if (isLeaving && container.isRunning && container.command?.exit !== undefined) live(OWN_MS);
    if (!container.isRunning) said.push(`left with ${container.exitCode}`);
    const { isAsleep, isCommandAlive, command, rows } = container;
    const got = isCommandAlive ? command?.first.got.map(({ signal }) => signal) : undefined;
    turns.push({
      step,
      said: said.splice(0),
      isAsleep,
      lives: container.commands.length,
      signals: got?.filter((signal) => LOGGED.includes(signal)),
      tombstone: world.volume.files.get('main')?.text.trimEnd(),
      isFinal: rows.hasSaidFinal,
      evidence: rows.evidence,
    });
  };
  const commit = (commands: readonly HostCommand[], acks = true): void => {
    const back = takesBack && !commands.some(({ type }) => type === 'orders');
    const all = back ? [changed(Math.max(1, container.lastSpawned), { mains: undefined }), ...commands] : commands;
    takesBack = false;
    play({ do: 'commit', acks, commands: all }, () => {
      const ack = acks ? container.queue.at(-1)?.seq : undefined;
      container.commit({ ack, memo: MEMO, commands: all }, STATE);
    });
  };
  const signal = (number: number): void => play({ do: 'signal', signal: number }, () => container.signal(number));
  const mainsRow = (needed: number, mains: readonly (typeof PEERS)[number][]): MainsRow => ({
    when: 'mains',
    needed,
    countsLost: dice.chance(0.5),
    holds: dice.chance(0.7),
    lingerMs,
    signal: isImpatient ? dice.pick([SIGTERM, SIGUSR1]) : dice.pick([SIGTERM, SIGUSR1, SIGHUP]),
    mains: mains.map(({ name, hostId }) => ({ hostId, path: `./.${name}.sock` })),
  });
  const stopRows = (): Rows => {
    const [unheardMs, graceMs] = dice.pick<readonly [number | undefined, number | undefined]>([
      [FAR_MS, undefined],
      [FAR_MS, FAR_MS],
      [FAR_MS, 50],
      [30, FAR_MS],
      [undefined, FAR_MS],
      [undefined, 50],
    ]);
    isLeaving = graceMs === 50;
    const stopSignals = [SIGTERM, dice.pick([SIGINT, SIGINT, SIGUSR2])];
    const signal = dice.pick([undefined, SIGTERM, SIGHUP, SIGUSR1]);
    const atMs = signal !== undefined && dice.chance(0.2) ? FAR_AT_MS : undefined;
    return { stopSignals, signal, unheardMs, graceMs, lostAtMs: atMs };
  };

  play({ do: 'start' }, () => {});
  const connections = (): HostCommand => {
    const held = PEERS.filter((_, n) => dice.chance(peers[n]?.isRunning === true ? 0.9 : 0.1));
    return { type: 'connections', paths: held.map(({ name }) => `./.${name}.sock`) };
  };
  commit([changed(1, {}), connections()]);
  for (let left = STEPS; left > 0 && container.isRunning; left--) {
    const { lastSpawned, isAsleep, isAlone, isCommandAlive, command } = container;
    const id = Math.max(1, lastSpawned);
    const isGone = command === undefined || command.areRootsGone;
    const as = dice.pick([SIGTERM, SIGUSR1, SIGHUP]);
    const calm = isImpatient ? dice.pick([SIGTERM, SIGUSR1]) : as;
    const signals = (): void => signal(dice.pick([SIGTERM, SIGTERM, SIGINT, SIGUSR1, SIGHUP, SIGUSR2]));
    const kills = (): void => play({ do: 'kill the command' }, () => container.killCommand(false));
    const loses = (): void => {
      losses += 1;
      if (losses <= MOST_LOSSES) play({ do: 'kill the supervisor' }, () => container.loseBrain());
    };
    const losesAll = (): void => {
      if (losses > 0 || dice.chance(0.5)) return;
      losses = MOST_LOSSES;
      play({ do: 'lose all supervisors' }, () => container.starve(Number.POSITIVE_INFINITY), 3_000);
    };
    const changes = (): void => {
      const file = dice.pick(CHANGES);
      play({ do: 'change', file }, () => world.volume.put(file, new Content(`${left}`)));
    };
    const endsPeer = (): void => {
      const peer = dice.int(PEERS.length);
      const it = peers[peer];
      if (it?.isRunning !== true || (container.queue.length > 0 && !isAsleep && !isAlone)) return;
      takesBack = true;
      const says = dice.pick<Notice>(['said', 'said', 'ended', 'asked', 'gone']);
      play({ do: 'end peer', peer, says }, () => {
        it.isRunning = false;
        container.hearOfMain(it.hostId, says);
        for (const end of it.ends) end();
      });
      // A stop request may come before a supervisor that is awake has replaced the row.
      if (!isAsleep && !isAlone && container.isRunning && dice.chance(0.5)) signal(SIGTERM);
    };
    const owesSinceMs = container.queue[0]?.atMs ?? Number.POSITIVE_INFINITY;
    const owes = world.agenda.monoMs - owesSinceMs > OWED_MS;
    const acks = owes || dice.chance(0.85);
    const sleep = { type: 'sleep', path: '' } as const;
    // What an ended peer has said and its end may come one after the other, and only a watch takes both.
    const hasPeerEnded = peers.some(({ isRunning }) => !isRunning);
    const looks = (): readonly HostCommand[] => [
      ...(dice.chance(0.8) ? [connections()] : []),
      ...(dice.chance(0.5) || hasPeerEnded ? [watch()] : []),
    ];
    const sleeps = (): void => commit([...looks(), sleep], acks);
    const watches = (): void => commit([...looks(), watch()], acks);
    const spawns = (): void => {
      if (!isGone) return;
      isLeaving = false;
      // It is not KILLed while it starts.
      const spawn = { type: 'spawn', id: lastSpawned + 1, to: 'tree', program: { fromIndex: 0, argv: ['?'] } } as const;
      const calmed = {
        lostAtMs: undefined,
        graceMs: undefined,
        deadlineMs: undefined,
        signal: undefined,
        ends: [],
      } as const;
      commit([changed(id, { ...PATIENT, ...calmed }), spawn], acks);
    };
    const orders = (): void =>
      commit(
        dice.pick<() => readonly HostCommand[]>([
          () => [changed(id, { each: { [SIGUSR2]: as, [SIGHUP]: SIGUSR1, [SIGINT]: as } })],
          () => [changed(id, { each: { [SIGUSR1]: as } })],
          () => [changed(id, { first: { [SIGTERM]: calm, [SIGINT]: SIGTERM } })],
          () => [changed(id, { first: undefined })],
          () => [{ type: 'kill', id, signal: as }],
          () => [{ type: 'stop', id, signal: as, ...dice.pick<Times>(TIMES) }],
          () => [{ type: 'stop', id, signal: as, ...dice.pick<Times>(TIMES) }],
          // It could end in the millisecond of the commit.
          () => [changed(id, { ends: [] }), { type: 'kill', id, signal: SIGKILL }],
          () => [changed(id, { deadlineMs: dice.pick([1, FAR_AT_MS, undefined]) })],
          () => [changed(id, { ...stopRows(), signal: SIGTERM, lostAtMs: 1, deadlineMs: 1 })],
          () => [changed(id, stopRows())],
          () => [TEXTS, changed(id, { ends: endRows(dice, isImpatient) })],
          () => [TEXTS, changed(id, { ends: endRows(dice, isImpatient) })],
          () => [changed(id, { mains: mainsRow(dice.pick([0, 1, 2]), PEERS.slice(0, 2)) })],
          () => [
            TEXTS,
            changed(id, {
              mains: mainsRow(dice.pick([1, 2]), PEERS.slice(0, dice.pick([1, 2]))),
              ends: endRows(dice, isImpatient),
            }),
          ],
        ])(),
        acks,
      );
    const others = dice.pick([changes, endsPeer, endsPeer]);
    const often = [orders, orders, orders, orders];
    if (owes && !isAsleep && !isAlone) orders();
    else if (isAsleep) dice.pick(isCommandAlive ? [signals, signals, kills, others, others] : [signals, others])();
    else if (isAlone) dice.pick([signals, signals, kills, others])();
    else if (isCommandAlive)
      dice.pick([signals, signals, kills, loses, losesAll, sleeps, sleeps, watches, others, ...often])();
    else dice.pick([spawns, spawns, spawns, spawns, signals, loses, losesAll, sleeps, others, orders])();
  }
  if (container.isAlone && container.isRunning && dice.chance(0.3)) {
    const find = (): void => {
      container.starvedUntilMs = 0;
      while (said.length === 0) live(STEP_MS);
    };
    play({ do: 'find one again' }, find);
    rows = PATIENT;
    commit([changed(1, {})]);
  }
  if (container.isAlone && container.isRunning) play({ do: 'kill the command' }, () => container.killCommand(false));
  if (container.isAsleep) signal(SIGUSR2);
  if (container.isAsleep) play({ do: 'change', file: REQUEST }, () => world.volume.put(REQUEST, new Content('')));
  if (container.isRunning && !container.isAlone) commit([{ type: 'exit', code: 7 }]);
  return { startsAtOnce, turns };
}

/** A peer as the model has it. */
interface Peer extends Holder {
  readonly hostId: string;
  isRunning: boolean;
  readonly ends: (() => void)[];
}

function modelOf(seed: number, startsAtOnce: boolean) {
  const times = { startMs: 0, bootMs: 2, skewMs: 0, kubeletHookMs: 0 };
  const only = { ...times, config: CONFIG, startsAtOnce, signalTo: 'tree', lives: [{ on: REACTIONS }] } as const;
  const volume = { sockets: true, events: 'prompt', latencyMs: 0, inMemory: false, stale: [] } as const;
  const scenario = { ...draw(1), seed, members: [only], faults: [], race: undefined, volume };
  const world = new World(scenario, () => {});
  const member = world.members[0] as Member;
  const said: string[] = [];
  const peers = PEERS.map(({ name, hostId }) => {
    const peer: Peer = { hostId, isRunning: true, ends: [] };
    world.volume.sockets.set(name, peer);
    return peer;
  });
  world.parts = { ...world.parts, onEnd: (holder, then) => void (holder as Peer).ends.push(then) };
  const container = new Container(world, member, (_, by, wokenBy) => new Listener(by, wokenBy, said));
  member.container = container;
  return { world, container, said, peers };
}

function watch(): HostCommand {
  return { type: 'watch', number: 1, dir: '.', ownName: 'main', quiet: ['quiet'] };
}

/** Each of them has another reason. */
function endRows(dice: Dice, isImpatient: boolean): readonly EndRow[] {
  const reasons = { '': isImpatient ? 'error' : 'completed', f: 'stopped', t: 'lost', st: 'killed' } as const;
  const patienceMs = isImpatient ? 20 : FAR_MS;
  return (['', 'f', 't', 'st'] as const).flatMap((prelude): readonly EndRow[] => {
    if (dice.chance(0.2)) return [];
    const isByKill = prelude === '' && dice.chance(0.3);
    const range = isByKill ? { from: 256 + SIGKILL, to: 256 + SIGKILL } : { from: 0, to: dice.pick([0, 255, 255]) };
    // An end by a signal has no code of its own.
    const same = isByKill ? 9 : 'same';
    const code = dice.pick([undefined, same, same, same, 9] as const);
    const words = {
      signal: isByKill ? 'SIGKILL' : '',
      reason: reasons[prelude],
      stopReason: prelude === '' ? '' : `reason ${prelude}`,
    };
    return [{ when: 'end', prelude, patienceMs, ...range, final: dice.chance(0.7), code, ...words }];
  });
}

const TEXTS: HostCommand = {
  type: 'texts',
  path: '?',
  terminationLog: { path: '?', isNamed: true },
  ...openTextsOf(CONFIG, STATE),
  log: ' info  main: dead',
  errorLog: ' error main: dead',
};
