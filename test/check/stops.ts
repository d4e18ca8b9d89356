/** Random pods, and what their containers do within the known bounds. The prediction must contain the outcome. */
import assert from 'node:assert/strict';
import { type Interval, ZERO } from '../../src/check/stop/interval.ts';
import { type ContainerPlan, type PodPlan, timelineOf } from '../../src/check/stop/timeline.ts';
import { lastTurnMs } from '../../src/core/pod/deadline.ts';
import { Dice } from '../sim/dice.ts';
import { type Actual, playStop } from './kubelet.ts';

export interface DrawnPod {
  readonly plan: PodPlan;
  readonly actual: readonly Actual[];
}

export function drawPod(seed: number): DrawnPod {
  const dice = new Dice(seed);
  const graceMs = dice.pick([2_000, 5_000, 10_000, 30_000]);
  const size = dice.between(1, 5);
  const plans: ContainerPlan[] = [];
  const actual: Actual[] = [];
  for (let index = 0; index < size; index += 1) {
    const name = `c${index}`;
    const isNative = index > 0 && dice.chance(0.4);
    const hook = dice.chance(0.4) ? drawInterval(dice, graceMs) : undefined;
    const drain = dice.chance(0.3) ? drawInterval(dice, graceMs) : ZERO;
    const response = dice.chance(0.2) ? { minMs: 0, maxMs: Number.POSITIVE_INFINITY } : drawInterval(dice, graceMs);
    const [first, ...others] = plans.filter((one) => !one.isNative).map((one) => one.name);
    const waits = !isNative && first !== undefined && dice.chance(0.4);
    const waitsFor = waits ? [dice.pick([first, ...others])] : [];
    const linger = waitsFor.length > 0 && dice.chance(0.5) ? drawInterval(dice, 3_000) : ZERO;
    const waitsAtMostMs = dice.chance(0.3) ? Math.max(500, graceMs - 2_000) : Number.POSITIVE_INFINITY;
    const ownKillMs = dice.chance(0.3) ? graceMs - 100 : Number.POSITIVE_INFINITY;
    const peer = dice.chance(0.3) ? dice.pick([undefined, ...actual]) : undefined;
    const deadlines = peer === undefined ? [] : [{ of: peer.name, graceMs: dice.int(graceMs) }];
    // The peer may have ended before it could write its deadline.
    const isTold = dice.chance(0.8);
    plans.push({
      name,
      isNative,
      hook,
      mayEndInHook: false,
      drain,
      waitsFor,
      linger,
      waitsAtMostMs,
      deadlines,
      response,
      ownKillMs,
      mayKillLast: false,
    });
    const chosen = { drain: choose(dice, drain), linger: choose(dice, linger), response: choose(dice, response) };
    actual.push({
      name,
      isNative,
      hookMs: hook === undefined ? undefined : choose(dice, hook),
      lastsMs: (termMs, endOf) => {
        const turns = deadlines.map(({ graceMs: theirsMs }) => {
          const atMs = Math.min(peer?.hookMs ?? 0, graceMs) + theirsMs;
          return isTold && atMs >= termMs ? lastTurnMs({ sinceMs: termMs, atMs }) : Number.POSITIVE_INFINITY;
        });
        const capMs = Math.min(termMs + waitsAtMostMs, ...turns);
        const ends = waitsFor.map((other) => endOf(other));
        // While it waits, only what ends the waiting decides when it ends.
        const isWaiting = ends.some((end) => end === undefined);
        if (isWaiting && !Number.isFinite(capMs)) return Number.isFinite(ownKillMs) ? ownKillMs : undefined;
        const waited = isWaiting ? capMs : Math.max(termMs, ...ends.map((end) => (end ?? 0) + chosen.linger));
        const toldMs = Math.min(Math.max(waited, termMs + chosen.drain), capMs);
        return Math.min(toldMs + chosen.response - termMs, ownKillMs);
      },
    });
  }
  return { plan: { graceMs, containers: plans }, actual };
}

/** Half of the times are whole seconds, as in manifests. */
function drawInterval(dice: Dice, mostMs: number): Interval {
  const draw = (): number => (dice.chance(0.5) ? dice.int(Math.floor(mostMs / 500)) * 1_000 : dice.int(2 * mostMs));
  const [a, b] = [draw(), draw()];
  return dice.chance(0.5) ? { minMs: a, maxMs: a } : { minMs: Math.min(a, b), maxMs: Math.max(a, b) };
}

function choose(dice: Dice, { minMs, maxMs }: Interval): number {
  if (maxMs === Number.POSITIVE_INFINITY) return dice.chance(0.3) ? maxMs : minMs + dice.int(60_000);
  const at = dice.pick([0, 1, 2]);
  return at === 0 ? minMs : at === 1 ? maxMs : minMs + dice.int(maxMs - minMs + 1);
}

/** Throws where the outcome was not predicted. Returns how many were killed, and how many for certain. */
export function compare({ plan, actual }: DrawnPod): { readonly killed: number; readonly certain: number } {
  const outcome = playStop(plan.graceMs, actual);
  let killed = 0;
  let certain = 0;
  for (const stop of timelineOf(plan).containers) {
    const real = outcome.get(stop.name);
    assert.ok(real, stop.name);
    const told = JSON.stringify({ stop, real });
    assert.ok(real.termMs >= stop.term.minMs && real.termMs <= stop.term.maxMs, `TERM of ${stop.name}: ${told}`);
    assert.ok(real.endMs >= stop.end.minMs && real.endMs <= stop.end.maxMs, `end of ${stop.name}: ${told}`);
    if (stop.killed !== 'maybe') assert.equal(real.isKilled, stop.killed === 'always', `KILL of ${stop.name}: ${told}`);
    if (real.isKilled) killed += 1;
    if (stop.killed !== 'maybe') certain += 1;
  }
  return { killed, certain };
}

// node test/check/stops.ts [PODS [FIRST SEED]]: as many as one likes.
if (process.argv[1] === import.meta.filename) {
  const [count = 10_000, first = 1] = process.argv.slice(2).map(Number);
  const sum = { killed: 0, certain: 0 };
  for (let seed = first; seed < first + count; seed += 1) {
    const { killed, certain } = compare(drawPod(seed));
    sum.killed += killed;
    sum.certain += certain;
  }
  process.stdout.write(
    `${count} pods: ${sum.killed} containers were killed, ${sum.certain} were certain, all as predicted\n`,
  );
}
