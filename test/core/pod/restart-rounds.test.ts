/**
 * Restarts in place, explored exhaustively. Two or three members read two or three requests, see each other, stop, end,
 * die and are born in all orders. The rules are those that ship; only the world around them is a model. Time stands
 * still, so that no wait is over because it took too long.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Tombstone } from '../../../src/core/format/tombstone.ts';
import { phaseOf } from '../../../src/core/lifecycle/phase.ts';
import { joinRestart, onRestartAsked, startAgain } from '../../../src/core/lifecycle/restarting.ts';
import { tombstoneOf } from '../../../src/core/lifecycle/stop/record.ts';
import { recordStop } from '../../../src/core/lifecycle/stop/record-stop.ts';
import { endForRestart } from '../../../src/core/lifecycle/stop/restart-end.ts';
import { isRestarting, takesPart } from '../../../src/core/pod/restart.ts';
import { NOTHING_WRITTEN } from '../../../src/core/state/chronicle.ts';
import { type Draft, draftOf } from '../../../src/core/state/draft.ts';
import type { Peer } from '../../../src/core/state/peer.ts';
import { type Child, initialState, type RestartAsk, type State } from '../../../src/core/state/state.ts';
import { BOOT, instant, mainConfig } from '../helpers.ts';

type Names = readonly string[] | undefined;

interface Plan {
  readonly members: readonly string[];
  /** The members that each request names; undefined: all. */
  readonly requests: readonly Names[];
  /** The members that each request asks by a file, if not all: the others hear of it by tombstones. */
  readonly asked?: readonly Names[];
  /** How many of these may happen: a file is lost, a container is killed, one member is stopped. */
  readonly faults?: number;
  /** The pod may be deleted. */
  readonly isDeleted?: true;
  /** The files of an earlier request come behind those of a later one: its sender stood still in between. */
  readonly isLate?: true;
}

interface Member {
  readonly state: State;
  readonly isRunning: boolean;
  readonly life: number;
  /** The requests that it has not read yet. */
  readonly files: readonly number[];
  /** The rounds that this life has gone through, by the starts that ended them. */
  readonly started: readonly (readonly RestartAsk[])[];
  /** The rounds that it has gone into since it started last. */
  readonly taken: readonly RestartAsk[];
  /** The members as it has seen them. */
  readonly seen: Readonly<Record<string, Member>>;
  readonly key: string;
}

interface World {
  readonly members: readonly Member[];
  readonly published: number;
  readonly faults: number;
  readonly isDeleted: boolean;
  readonly isLost: boolean;
}

const NOW = instant(1_000);
const ALIVE: Child = { is: 'alive', id: 1, pid: 1, sinceMs: 0 };
const GONE: Child = { is: 'gone', status: 0, code: 0, reason: 'stopped', final: true };
const EXIT = { code: 0, signal: undefined };

const TWO = ['a', 'b'];
const THREE = ['a', 'b', 'c'];
const [A, B, C, AB, BC] = [['a'], ['b'], ['c'], ['a', 'b'], ['b', 'c']];
const ALL = undefined;

const PLANS: readonly Plan[] = [
  { members: TWO, requests: [ALL, ALL], isDeleted: true },
  { members: TWO, requests: [ALL, ALL], faults: 1 },
  { members: TWO, requests: [ALL, A], isDeleted: true },
  { members: TWO, requests: [ALL, A], faults: 1 },
  { members: TWO, requests: [A, ALL], isDeleted: true },
  { members: TWO, requests: [A, ALL], faults: 1 },
  { members: TWO, requests: [A, B], faults: 1, isDeleted: true },
  { members: TWO, requests: [ALL], faults: 2, isDeleted: true },
  { members: THREE, requests: [ALL], asked: [B], faults: 1 },
  { members: THREE, requests: [ALL, ALL], asked: [B, A] },
  { members: THREE, requests: [ALL, AB], asked: [C, A] },
  { members: THREE, requests: [AB, ALL], asked: [A, C] },
  { members: THREE, requests: [AB, BC], asked: [A, C] },
  { members: THREE, requests: [BC, AB], asked: [C, A] },
  { members: TWO, requests: [A, ALL], faults: 1, isLate: true },
  { members: TWO, requests: [ALL, A], faults: 1, isLate: true },
  { members: THREE, requests: [AB, ALL], asked: [A, C], isLate: true },
  { members: TWO, requests: [ALL, A, ALL] },
  { members: TWO, requests: [A, ALL, B], isLate: true },
];

describe('a restart in place keeps its laws in every order of events', () => {
  for (const plan of PLANS)
    it(`all orders are explored for ${titleOf(plan)}`, (t) => {
      const { states, ends } = explore(plan);
      t.diagnostic(`${states} states, ${ends} of them at rest`);
    });
});

function titleOf({ members, requests, faults = 0, isDeleted, isLate }: Plan): string {
  const names = requests.map((among) => among?.join('+') ?? 'all').join(' then ');
  const order = isLate ? ', dated backwards' : '';
  return `${members.length} members, ${names}${order}, ${faults} faults${isDeleted ? ', deleted' : ''}`;
}

/** Visits every state breadth first, and holds each against the laws. */
function explore(plan: Plan): { readonly states: number; readonly ends: number } {
  const first = firstOf(plan);
  const known = new Map<string, number>([[keyOf(first), 0]]);
  const worlds = [first];
  const nexts: (readonly number[])[] = [];
  for (let index = 0; index < worlds.length; index += 1) {
    const world = worlds[index] as World;
    const progress = progressOf(world, plan).map(numberOf);
    nexts.push(progress);
    if (progress.length === 0) judgeRest(world, plan);
    for (const next of [...faultsOf(world, plan), ...publishes(world, plan)]) numberOf(next);
  }
  judgeOrder(worlds, nexts, plan);
  return { states: worlds.length, ends: nexts.filter(({ length }) => length === 0).length };

  function numberOf(world: World): number {
    const key = keyOf(world);
    const before = known.get(key);
    if (before !== undefined) return before;
    known.set(key, worlds.length);
    return worlds.push(world) - 1;
  }
}

/**
 * Law: without another fault or request all orders end in the same rest. Where a file is lost, whoever reads a later one
 * first may not report it.
 */
function judgeOrder(worlds: readonly World[], nexts: readonly (readonly number[])[], plan: Plan): void {
  const rests: (string | undefined)[] = [];
  const stack = worlds.map((_, index) => index);
  for (let index = stack.at(-1); index !== undefined; index = stack.at(-1)) {
    const next = nexts[index] ?? [];
    const open = next.filter((other) => rests[other] === undefined);
    if (rests[index] !== undefined) stack.pop();
    else if (open.length > 0) stack.push(...open);
    else {
      const ends = new Set(next.length === 0 ? [restOf(worlds[index] as World, plan)] : next.map((it) => rests[it]));
      if (worlds[index]?.isLost !== true)
        assert.equal(ends.size, 1, `law order: ${[...ends].join(' or ')} after ${told(worlds[index] as World)}`);
      rests[index] = [...ends].join(' or ');
      stack.pop();
    }
  }
}

/** Which members live, and the rounds that each has not gone through. */
function restOf({ members, published }: World, plan: Plan): string {
  return members
    .map((member) => (isLiving(member) ? `${missedBy(member, plan, published).map((it) => it.requestedMs)}` : 'dead'))
    .join(' ');
}

function firstOf({ members: names }: Plan): World {
  const blank = names.map((name) => memberOf(name, 0, 1));
  const members = blank.map((member) => ({ ...member, seen: lookAround(blank, nameOf(member)) }));
  return { members, published: 0, faults: 0, isDeleted: false, isLost: false };
}

function memberOf(name: string, life: number, startedAtMs: number): Member {
  const origin = { hostId: `${name}${life}`, bootId: BOOT, startedAtMs, now: NOW, solo: false };
  const state = { ...initialState(origin), lookedMs: NOW.mono, child: ALIVE, hasCaughtUp: true };
  return rekeyed({ state, isRunning: true, life, files: [], started: [], taken: [], seen: {}, key: '' });
}

function nameOf({ state }: Member): string {
  return state.hostId.slice(0, 1);
}

/** What it says of itself, and whether it lives. */
function rekeyed(member: Member): Member {
  const { state, isRunning, life, files, started, taken } = member;
  const own = [
    state.restart,
    state.stop?.reason,
    state.stop?.among,
    state.child.is,
    state.deadline,
    state.startedAtMs,
    isRunning,
    life,
    files,
    started,
    taken,
  ];
  return { ...member, key: JSON.stringify(own) };
}

const numbers = new Map<string, number>();

/** Short keys for long texts: there are few texts and many worlds. */
function short(text: string): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}

/** Without what a member writes for the record only. */
function keyOf({ members, ...world }: World): string {
  const views = members.map(({ key, seen }) => [
    short(key),
    ...Object.values(seen).map((other) => short(viewKeyOf(other))),
  ]);
  return `${world.published} ${world.faults} ${world.isDeleted} ${world.isLost} ${views.join(';')}`;
}

function viewKeyOf({ state, isRunning, life }: Member): string {
  return JSON.stringify([state.restart, state.stop?.reason, state.child.is, isRunning, life]);
}

const tombstones = new Map<string, Tombstone>();

function writtenBy(member: Member): Tombstone {
  const key = `${nameOf(member)} ${member.key}`;
  const known = tombstones.get(key);
  if (known !== undefined) return known;
  const { state } = member;
  const chronicle = {
    ...NOTHING_WRITTEN,
    stopRequested: state.stop && 'then',
    ...(state.child.is === 'gone' && { died: 'then', diedMonotonic: NOW.mono }),
  };
  const tombstone = tombstoneOf(configOf(nameOf(member)), { ...state, phase: phaseOf(state), chronicle });
  tombstones.set(key, tombstone);
  return tombstone;
}

function configOf(name: string) {
  return CONFIGS[name] ?? CONFIGS.a;
}

const CONFIGS = Object.fromEntries(
  ['a', 'b', 'c'].map((name) => [name, mainConfig({ name, session: 'pod', gracePeriodMs: 30_000 })]),
) as Record<string, ReturnType<typeof mainConfig>> & { a: ReturnType<typeof mainConfig> };

function peerOf(member: Member): Peer {
  const life = { tombstone: writtenBy(member), foundAtStart: false, vanished: false, sinceMs: 0 };
  if (member.state.child.is === 'gone') return { ...life, liveness: 'none' };
  return member.isRunning ? { ...life, liveness: 'held' } : { ...life, liveness: 'lost', lostAt: -10_000 };
}

/** Lets the rules of one member act on what it has just heard. */
function act(world: World, member: Member, change: (draft: Draft) => void): World {
  const name = nameOf(member);
  const peers = Object.fromEntries(
    Object.entries(member.seen).flatMap(([other, it]) => (other === name ? [] : [[other, peerOf(it)]])),
  );
  const draft = draftOf(configOf(name), { ...member.state, peers });
  change(draft);
  let rounds = 0;
  let { taken } = member;
  for (let before: State | undefined; before !== draft.state; ) {
    before = draft.state;
    rounds += 1;
    assert.ok(rounds < 10, 'law once: it goes into the same round again and again');
    if (draft.state.child.is === 'gone') break;
    joinRestart(draft);
    const { restart } = draft.state;
    const isIn = restart === undefined || taken.some(({ requestedMs }) => requestedMs === restart.requestedMs);
    if (isRestarting(draft.state) && !isIn) taken = [...taken, restart];
    // All members are seen from the start here, so the time in which they become known is over.
    if (restart?.restUntilMs !== undefined)
      draft.state = { ...draft.state, restart: { ...restart, restUntilMs: undefined } };
    if (draft.state.child.is === 'unstarted' && isRestarting(draft.state)) startAgain(draft);
  }
  const isBeaten = draft.state.stop !== undefined && !isRestarting(draft.state);
  const isStarted = draft.state.child.is === 'unstarted' && draft.state.stop === undefined;
  const child =
    draft.state.child.is !== 'unstarted' ? draft.state.child : isBeaten ? GONE : isStarted ? ALIVE : draft.state.child;
  const state = { ...draft.state, child, peers: undefined, said: [], chronicle: NOTHING_WRITTEN, effects: undefined };
  const after = {
    ...member,
    state,
    taken: isStarted ? [] : taken,
    started: isStarted ? [...member.started, taken] : member.started,
  };
  judgeStep(world, { ...member, taken }, after);
  return replaced(world, after);
}

function replaced(world: World, member: Member): World {
  const next = rekeyed(member);
  return { ...world, members: world.members.map((it) => (nameOf(it) === nameOf(next) ? next : it)) };
}

/** What goes on by itself. */
function progressOf(world: World, plan: Plan): readonly World[] {
  return world.members.flatMap((member) => {
    const { state, isRunning, files, seen } = member;
    if (!isRunning || state.child.is === 'gone') return [];
    const reads = files.map((file) =>
      act(world, { ...member, files: files.filter((it) => it !== file) }, (draft) =>
        onRestartAsked(draft, { type: 'restartAsked', at: NOW, ask: askOf(plan, file) }),
      ),
    );
    const news = world.members.filter((other) => {
      const before = seen[nameOf(other)];
      return other !== member && (before === undefined || viewKeyOf(before) !== viewKeyOf(other));
    });
    // Where there are three members, a look shows all others at once.
    const groups = world.members.length <= 2 ? news.map((other) => [other]) : news.length > 0 ? [news] : [];
    const looks = groups.map((group) =>
      act(world, { ...member, seen: { ...seen, ...lookAround(group, '') } }, () => {}),
    );
    const ends = state.child.is === 'alive' && state.stop !== undefined ? [act(world, member, endCommand)] : [];
    const stops =
      world.isDeleted && (state.stop === undefined || isRestarting(state)) ? [act(world, member, stop)] : [];
    return [...reads, ...looks, ...ends, ...stops];
  });
}

function endCommand(draft: Draft): void {
  if (isRestarting(draft.state)) endForRestart(draft, EXIT, 'stopped');
  else draft.state = { ...draft.state, child: GONE };
}

function stop(draft: Draft): void {
  recordStop(draft, { origin: 'platform', reason: 'signal TERM', signal: 15, requests: 1 }, NOW);
}

function faultsOf(world: World, plan: Plan): readonly World[] {
  const isOver = world.faults >= (plan.faults ?? 0);
  const after = { ...world, faults: world.faults + 1 };
  const faults = world.members.flatMap((member) => {
    const { state, files } = member;
    if (!isLiving(member)) return world.isDeleted ? [] : [born(world, member, plan)];
    if (isOver) return [];
    const isFree = state.stop === undefined || isRestarting(state);
    return [
      replaced(after, { ...member, isRunning: false, files: [] }),
      ...files.map((file) =>
        replaced({ ...after, isLost: true }, { ...member, files: files.filter((it) => it !== file) }),
      ),
      ...(isFree ? [act(after, member, stop)] : []),
    ];
  });
  return plan.isDeleted && !world.isDeleted ? [...faults, { ...world, isDeleted: true }] : faults;
}

/** The kubelet starts its container again; it looks around at once. */
function born(world: World, member: Member, plan: Plan): World {
  const nowMs = Math.max(0, ...publishedIn(plan, world.published).map((ask) => ask.requestedMs));
  const next = memberOf(nameOf(member), member.life + 1, nowMs + 5);
  return act(world, { ...next, seen: lookAround(world.members, nameOf(member)) }, () => {});
}

function lookAround(members: readonly Member[], name: string): Member['seen'] {
  const others = members.filter((member) => nameOf(member) !== name);
  return Object.fromEntries(others.map((member) => [nameOf(member), { ...member, seen: {} }]));
}

function publishes(world: World, plan: Plan): readonly World[] {
  const file = world.published;
  if (file >= plan.requests.length || world.isDeleted) return [];
  const after = { ...world, published: file + 1 };
  const ask = askOf(plan, file);
  const members = world.members.map((member) =>
    member.isRunning && member.state.child.is !== 'gone' && takesPart(plan.asked?.[file] ?? ask.among, nameOf(member))
      ? rekeyed({ ...member, files: [...member.files, file] })
      : member,
  );
  return [{ ...after, members }];
}

function askOf({ requests, isLate }: Plan, file: number): RestartAsk {
  const requestedMs = (isLate ? requests.length - file : file + 1) * 10;
  return { requestedMs, by: 'a test', graceMs: undefined, among: requests[file], byRule: undefined };
}

function publishedIn(plan: Plan, count: number): readonly RestartAsk[] {
  return plan.requests.slice(0, count).map((_, file) => askOf(plan, file));
}

/** Whether it has started again in this round, or in a later one of all its members, or was born after it. */
function isThrough({ state, started }: Member, { requestedMs, among }: RestartAsk): boolean {
  if (state.startedAtMs > requestedMs) return true;
  const names = among ?? ['a', 'b', 'c'];
  return started.flat().some((round) => {
    const isLater = round.requestedMs > requestedMs && names.every((name) => takesPart(round.among, name));
    return isLater || round.requestedMs === requestedMs;
  });
}

function missedBy(member: Member, plan: Plan, published: number): readonly RestartAsk[] {
  const mine = publishedIn(plan, published).filter(({ among }) => takesPart(among, nameOf(member)));
  return mine.filter((ask) => !isThrough(member, ask));
}

function isLiving({ state, isRunning }: Member): boolean {
  return isRunning && state.child.is !== 'gone';
}

function judgeStep(world: World, before: Member, after: Member): void {
  const { stop: wish } = after.state;
  const name = nameOf(after);
  if (before.state.stop !== undefined && !isRestarting(before.state)) {
    assert.ok(wish !== undefined && !isRestarting(after.state), 'law a stop wins: it restarts');
    assert.equal(after.started, before.started, 'law a stop wins: it starts');
  }
  if (after.started === before.started) return;
  const rounds = after.started.flat().map(({ requestedMs }) => requestedMs);
  assert.equal(new Set(rounds).size, rounds.length, `law once: ${rounds}`);
  assert.ok(Math.min(...rounds) >= after.state.startedAtMs, `law born later: ${name} of ${after.key}`);
  for (const other of world.members)
    for (const ask of before.taken) {
      if (other.state.child.is !== 'alive' || !isLiving(other) || isThrough(other, ask)) continue;
      if (nameOf(other) === name || !takesPart(ask.among, nameOf(other))) continue;
      // Its new life is not known yet.
      if (after.seen[nameOf(other)]?.life !== other.life) continue;
      assert.fail(`law all end before any starts: ${name} starts in ${ask.requestedMs} while ${other.key} runs`);
    }
}

/** Nothing goes on any more. */
function judgeRest({ members, published, isDeleted, faults }: World, plan: Plan): void {
  for (const member of members.filter(isLiving)) {
    const { state, started, key, files } = member;
    assert.ok(!isDeleted, `law a stop wins: ${key} runs`);
    assert.equal(
      state.stop,
      undefined,
      `law no member waits for ever: ${nameOf(member)} in ${members.map((it) => it.key).join(' ')}`,
    );
    const mine = publishedIn(plan, published).filter(({ among }) => takesPart(among, nameOf(member)));
    assert.ok(started.length <= mine.length, `law once: ${started.length} starts for ${mine.length} requests`);
    if (faults === 0) assert.deepEqual(missedBy(member, plan, published), [], `law each is heard: ${key}`);
    assert.deepEqual(files, []);
  }
}

function told({ members }: World): string {
  return members.map(({ key, seen }) => `${key} sees ${Object.values(seen).map(viewKeyOf).join(' ')}`).join('\n');
}
