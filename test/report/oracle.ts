/** Compares reports with what the simulator knows: `node test/report/oracle.ts [PODS] [FIRST SEED]`. */
import assert from 'node:assert/strict';
import { formatEvidence } from '../../src/core/format/evidence.ts';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../src/core/format/tombstone-parse.ts';
import { evidenceOf, tombstoneOf } from '../../src/core/lifecycle/stop/record.ts';
import { SIGKILL, signalName } from '../../src/core/signals.ts';
import { stopOfEvidence } from '../../src/report/evidence.ts';
import { forcedOf, type MemberStop, podsOf } from '../../src/report/stop.ts';
import { stopOfTombstone } from '../../src/report/tombstones.ts';
import { chainOf } from '../../src/report/words.ts';
import { type Command, statusOf } from '../sim/command.ts';
import type { Container } from '../sim/container.ts';
import { Coverage } from '../sim/coverage.ts';
import { draw } from '../sim/draw.ts';
import { inMacrotask } from '../sim/microtasks.ts';
import { World } from '../sim/world.ts';

/** 0 of the simulator's clock. */
const EPOCH_MS = 1_800_000_000_000;

export interface Compared {
  readonly members: number;
  readonly forced: number;
  readonly stopped: number;
  readonly pods: number;
  /** Containers without a supervisor at the end, or whose command never ran: they leave nothing to report. */
  readonly silent: number;
}

export async function comparePod(seed: number): Promise<Compared> {
  const scenario = draw(seed);
  // What a command leaves behind outside of its group gets its signals in a sweep, which only the log of the run has.
  const swept = new Set<string>();
  const world = new World(scenario, new Coverage().count, (_, who, what) => {
    if (what === `does sweep ${SIGKILL}`) swept.add(who);
  });
  await inMacrotask(
    () => world.run(),
    (reason) => {
      throw reason;
    },
  );
  // A clock that is turned, or another boot, moves what was written before.
  const isTurned = scenario.faults.some((fault) => fault.do === 'turn clock' || fault.do === 'reboot');
  const told = world.containers.flatMap((container) => tell(container) ?? []);
  for (const one of told) compareMember(one, { isTurned, swept }, `seed ${seed}, ${one.container.member.name}`);
  const last = new Map(told.map((one) => [one.container.member.name, one]));
  const isWhole = !isTurned && world.containers.length === told.length && told.length === world.members.length;
  if (isWhole) compareWhole([...last.values()], `seed ${seed}`);
  return {
    members: told.length,
    forced: told.filter(({ tombstone }) => tombstone.forcedBy !== undefined).length,
    stopped: told.filter(({ tombstone }) => tombstone.requestedMs !== undefined).length,
    pods: isWhole ? 1 : 0,
    silent: world.containers.length - told.length,
  };
}

interface Told {
  readonly container: Container;
  readonly command: Command & { readonly exit: NonNullable<Command['exit']>; readonly diedAtMs: number };
  readonly tombstone: MemberStop;
  readonly evidence: MemberStop;
}

/** What the container has left, both ways, as it is written and read again. */
function tell(container: Container): Told | undefined {
  const { memo, command, member } = container;
  const state = memo?.state;
  if (state?.child.is !== 'gone' || command?.exit === undefined || command.diedAtMs === undefined) return undefined;
  // After a restart in place the command was not started again, so no end of it is recorded.
  if (state.child.reason === 'never-started') return undefined;
  // Init exited before the supervisor had written the end.
  if (container.hasLeftUnrecorded) return undefined;
  // Init may have started another one that its supervisor has not heard of.
  if (state.births !== command.id) return undefined;
  const parsed = parseTombstone(member.name, formatTombstone(tombstoneOf(member.config, state)));
  assert.ok(parsed.ok);
  const written = JSON.parse(formatEvidence(evidenceOf(member.config, state)));
  const evidence = stopOfEvidence(written, { pod: '', workload: '' });
  assert.ok(evidence !== undefined);
  const { exit, diedAtMs } = command;
  return {
    container,
    command: { ...command, exit, diedAtMs },
    tombstone: stopOfTombstone(parsed.tombstone, { ms: 0 }),
    evidence,
  };
}

interface Known {
  readonly isTurned: boolean;
  /** Members whose leftovers were swept by KILL. */
  readonly swept: ReadonlySet<string>;
}

function compareMember(
  { container, command, tombstone, evidence }: Told,
  { isTurned, swept }: Known,
  who: string,
): void {
  const { exit } = command;
  const wasKilled = exit.signal === SIGKILL;
  for (const [how, stop] of [
    ['tombstone', tombstone],
    ['evidence', evidence],
  ] as const) {
    const at = `${who}, by its ${how}`;
    assert.equal(stop.exitCode, statusOf(exit), at);
    assert.equal(stop.signal, exit.signal === undefined ? undefined : signalName(exit.signal), at);
    if (wasKilled) assert.ok(stop.forcedBy !== undefined, `${at}: killed, and not forced`);
    // Our own KILL may have ended only what the command had left behind.
    const isOurs =
      swept.has(container.member.name) ||
      command.signals.some(({ signal }) => signal === SIGKILL) ||
      container.hasKilled;
    if (stop.forcedBy !== undefined && !wasKilled) assert.ok(isOurs, `${at}: forced by ${stop.forcedBy}`);
    if (stop.forcedBy === 'sexton') assert.ok(isOurs, `${at}: no KILL was sent`);
    const wallMs = (ms: number) => EPOCH_MS + ms + container.member.wallOffMs;
    if (!isTurned && stop.diedMs !== undefined) {
      // The report has the moment when the last of the group had gone. The container ends then or later.
      const [from, until] = [wallMs(command.diedAtMs), wallMs(container.world.agenda.nowMs)];
      assert.ok(stop.diedMs >= from - 1 && stop.diedMs <= until + 1, `${at}: ended at ${stop.diedMs - wallMs(0)}`);
    }
    const [asked] = container.asked;
    if (!isTurned && stop.stopReason?.startsWith('signal ') && asked !== undefined && stop.requestedMs !== undefined) {
      const isKnown = container.asked.some(({ atMs }) => Math.abs(wallMs(atMs) - (stop.requestedMs ?? 0)) <= 1);
      assert.ok(isKnown, `${at}: asked at ${stop.requestedMs - wallMs(0)}`);
    }
    checkSpans(stop, at);
  }
  for (const fact of ['diedMs', 'requestedMs', 'stopReason', 'forcedBy'] as const)
    assert.equal(evidence[fact], tombstone[fact], `${who}: ${fact}`);
}

/** Bars of one member never overlap, and those of its stop add up to it. */
export function checkSpans({ spans, requestedMs, diedMs }: MemberStop, at: string): void {
  for (const [index, span] of spans.entries()) {
    assert.ok(span.untilMs >= span.fromMs, at);
    const next = spans[index + 1];
    if (next !== undefined) assert.ok(next.fromMs >= span.untilMs - 0.001, `${at}: ${span.activity} ${next.activity}`);
  }
  if (requestedMs === undefined || diedMs === undefined || requestedMs > diedMs) return;
  // One that was asked before it was born waits, runs and is stopped in its stop.
  const stop = spans.filter(({ fromMs }) => fromMs >= requestedMs);
  const sum = stop.reduce((total, span) => total + span.untilMs - span.fromMs, 0);
  const stopMs = diedMs - requestedMs;
  assert.ok(Math.abs(sum - stopMs) <= 5, `${at}: phases of ${sum} ms in a stop of ${stopMs}`);
}

/** Clocks that go apart change who seems to be last, so each member is put on the simulator's. */
function compareWhole(told: readonly Told[], seed: string): void {
  const members = told.map(({ tombstone, container }) => shifted(tombstone, -container.member.wallOffMs));
  const [pod] = podsOf(members, EPOCH_MS);
  assert.ok(pod !== undefined, seed);
  const forced = told.filter(({ tombstone }) => tombstone.forcedBy !== undefined);
  const names = forced.map(({ container }) => container.member.name);
  assert.deepEqual(new Set(forcedOf(pod).map(({ name }) => name)), new Set(names), seed);
  const lastMs = Math.max(...members.map(({ diedMs }) => diedMs ?? 0));
  assert.equal(pod.endedMs, lastMs, seed);
  assert.equal(chainOf(pod)[0]?.member.diedMs, lastMs, seed);
}

function shifted(member: MemberStop, byMs: number): MemberStop {
  const move = (ms: number | undefined) => (ms === undefined ? undefined : ms + byMs);
  const spans = member.spans.map((span) => ({ ...span, fromMs: span.fromMs + byMs, untilMs: span.untilMs + byMs }));
  return {
    ...member,
    spans,
    requestedMs: move(member.requestedMs),
    diedMs: move(member.diedMs),
    deadlineMs: move(member.deadlineMs),
  };
}

export async function comparePods(count: number, first: number): Promise<Compared> {
  const total = { members: 0, forced: 0, stopped: 0, pods: 0, silent: 0 };
  for (let seed = first; seed < first + count; seed += 1) {
    const compared = await comparePod(seed);
    for (const key of ['members', 'forced', 'stopped', 'pods', 'silent'] as const) total[key] += compared[key];
  }
  return total;
}

if (import.meta.main) {
  const [pods = '10000', first = '1'] = process.argv.slice(2);
  console.log(JSON.stringify(await comparePods(Number(pods), Number(first))));
}
