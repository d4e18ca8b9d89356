/**
 * Every interleaving of what can happen to a main and its sidecar, 12 deep. Two pods that are in the same state and have the same before
 * them are one: only the first is followed.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { endOfWaiting, lastTurnMs } from '../../src/core/deadline.ts';
import type { TaskKey } from '../../src/core/state.ts';
import { due, essence } from './essence.ts';
import { command, fixed, mainConfig, probes, START, sidecarConfig } from './helpers.ts';
import { isSoundStep } from './invariants.ts';
import type { ChildScript, Life } from './life.ts';
import { Pod } from './pod.ts';

const DEPTH = 12;
const GRACE_MS = 10_000;
const COMMON = { gracePeriodMs: GRACE_MS, preStop: command('bye') };
const MAIN = mainConfig({ ...COMMON, name: 'work', drain: fixed(500), restart: 'on-failure' });
const SIDECAR = sidecarConfig({ ...COMMON, name: 'proxy', mains: ['work'] });
const LIVE = probes({ liveness: { failures: 1, periodMs: 1_000, timeoutMs: 1_000 } });
const CHILD: ChildScript = { on: { 15: { afterMs: 300, code: 0 } }, actions: { bye: ['never'], liveness: ['never'] } };

interface Letter {
  readonly name: string;
  readonly act: (pod: Pod) => Pod;
}

const TERM: Letter = { name: 'TERM to the main', act: (pod) => pod.act('work', ask) };
const TERM_PROXY: Letter = { name: 'TERM to the sidecar', act: (pod) => pod.act('proxy', ask) };
const MAIN_ENDS: Letter = {
  name: 'the main’s command ends with 0',
  act: (pod) => pod.act('work', (life) => end(life, 0)),
};
const MAIN_CRASHES: Letter = {
  name: 'the main’s command crashes',
  act: (pod) => pod.act('work', (life) => end(life, 1)),
};
const CRASH: Letter = { name: 'the sidecar’s command crashes', act: (pod) => pod.act('proxy', (life) => end(life, 1)) };
const PROBE: Letter = {
  name: 'the sidecar’s liveness probe fails',
  act: (pod) => pod.act('proxy', (life) => endTask(life, 'liveness', false)),
};
const HOOKS: Letter = {
  name: 'the pre-stop hooks end',
  act: (pod) => each(pod, (life) => endTask(life, 'preStop', true)),
};
const TIME: Letter = { name: 'time passes until something happens', act: (pod) => pod.passOn() };
const ASK: Letter = { name: 'sexton stop', act: (pod) => each(pod, (life) => life.askToStop(6_000)) };

describe(`every interleaving, ${DEPTH} deep,`, () => {
  it('of stop requests to either, the end of the main, crashes of the sidecar, the ends of hooks, and time', (test) => {
    const count = explore(SIDECAR, [TERM, TERM_PROXY, MAIN_ENDS, CRASH, HOOKS, TIME]);
    test.diagnostic(`${count} states`);
    assert.ok(count > 10_000);
  });

  it('of stop requests to either, a liveness probe that fails, the ends of hooks, and time', (test) => {
    const count = explore(sidecarConfig({ ...SIDECAR, ...LIVE }), [TERM, TERM_PROXY, PROBE, HOOKS, TIME]);
    test.diagnostic(`${count} states`);
    assert.ok(count > 10_000);
  });

  it('of sexton stop, a stop request to the main, crashes of the main, the ends of hooks, and time', (test) => {
    const count = explore(SIDECAR, [ASK, TERM, MAIN_CRASHES, HOOKS, TIME]);
    test.diagnostic(`${count} states`);
    assert.ok(count > 1_000);
  });
});

interface Node {
  readonly pod: Pod;
  readonly path: readonly string[];
}

/** Breadth first; how many different states there were. */
function explore(sidecar: MemberConfig, letters: readonly Letter[]): number {
  const root = new Pod(
    [MAIN, sidecar].map((config) => ({ config, child: CHILD, observe: (step) => isSoundStep(config, step) })),
  );

  const seen = new Set([keyOf(root)]);
  let level: readonly Node[] = [{ pod: root, path: [] }];
  for (let depth = 1; depth <= DEPTH; depth += 1) {
    const next: Node[] = [];
    for (const { pod, path } of level) {
      for (const { name, act } of letters) {
        const node = { pod: pod.fork(), path: [...path, name] };
        try {
          act(node.pod);
          isSound(node.pod);
        } catch (error) {
          throw new Error(`after: ${node.path.join(', ')}`, { cause: error });
        }
        const key = keyOf(node.pod);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(node);
      }
    }
    level = next;
  }
  return seen.size;
}

/** What holds of the pod as a whole. */
function isSound(pod: Pod): void {
  for (const [name, life] of pod.lives) {
    const rungs = signalsOfThisLife(life);
    assert.equal(new Set(rungs).size, rungs.length, `${name}: a signal twice to one child`);
  }
  const [work, proxy] = [pod.of('work'), pod.of('proxy')];
  const { stop, climb, now } = proxy.state;
  const end = endOfWaiting(proxy.config, proxy.state);
  const isStopping = climb?.why === 'stop' && proxy.state.child.is === 'alive';
  const isLastTurn = end !== undefined && now.mono >= lastTurnMs(end);
  if (isStopping && work.exitCode === undefined) assert.ok((stop?.requests ?? 0) >= 2 || isLastTurn, 'out of turn');
  if (work.exitCode !== undefined && stop === undefined) assert.fail('the mains have finished unnoticed');
  for (const { state, exitCode } of [work, proxy])
    if (state.deadline !== undefined && state.now.mono >= state.deadline.atMs) assert.notEqual(exitCode, undefined);
  assert.ok(pod.nowMs < START + 60_000, 'lives of 60 s are not told apart here');
}

function signalsOfThisLife({ done, state }: Life): readonly number[] {
  return done.flatMap(({ effect }) =>
    effect.type === 'signalChild' && effect.id === state.births ? [effect.signal] : [],
  );
}

/** Another signal the second time, as the same one at once is the same request. */
function ask(life: Life): Life {
  return life.signal(life.state.stop?.asked === undefined ? 15 : 2);
}

function end(life: Life, code: number): void {
  if (life.state.child.is === 'alive') life.endChild(code);
}

function endTask(life: Life, wanted: TaskKey, ok: boolean): void {
  const task = life.state.tasks.find(({ key }) => key === wanted);
  if (task !== undefined) life.feed({ type: 'actionEnded', id: task.id, ok, detail: '', output: '' });
}

function each(pod: Pod, does: (life: Life) => void): Pod {
  for (const name of pod.lives.keys()) pod.act(name, does);
  return pod;
}

function keyOf(pod: Pod): string {
  return JSON.stringify(
    [...pod.lives.values()].map((life) => [
      essence(life.state, life.state.now.mono),
      life.host.dueFrom(life.nowMs).map(due),
      signalsOfThisLife(life),
    ]),
  );
}
