/**
 * Every interleaving of what can happen to small pods whose members look at each other at any time. A step is a stop
 * request, an end, a kill, the death of a supervisor, a look, or time. Two pods with the same future are one: only the
 * first is followed.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { endOfWaiting, lastTurnMs } from '../../src/core/pod/deadline.ts';
import type { TaskKey } from '../../src/core/state/state.ts';
import { command, fixed, mainConfig, probes, sidecarConfig } from '../core/helpers.ts';
import { isSoundStep } from '../core/invariants.ts';
import type { ChildScript, Life, Step } from '../core/life.ts';
import { type LaggingMember, LaggingPod } from './lagging.ts';

const GRACE = { gracePeriodMs: 10_000 };
const MAIN = mainConfig({ ...GRACE, name: 'work' });
const PROXY = sidecarConfig({ ...GRACE, name: 'proxy', mains: ['work'] });
const LOGS = sidecarConfig({
  ...GRACE,
  name: 'logs',
  mains: ['work'],
  startAfter: [{ name: 'proxy', condition: 'started', optional: false }],
});
const CHILD: ChildScript = { on: { 15: { afterMs: 300, code: 0 } }, actions: { bye: ['never'], liveness: ['never'] } };
/** With hooks, a probe, a drain and restarts in place. */
const BUSY = { preStop: command('bye'), drain: fixed(500) };
const BUSY_MAIN = mainConfig({ ...MAIN, ...BUSY, restart: 'on-failure' });
const BUSY_PROXY = sidecarConfig({
  ...PROXY,
  ...BUSY,
  ...probes({ liveness: { failures: 1, periodMs: 1_000, timeoutMs: 1_000 } }),
});
/** All turns of all sidecars, and what a loss takes to be believed. */
const MAX_TURNS = 200;

type Letter = readonly [name: string, act: (pod: LaggingPod) => void];

const look = (name: string): Letter => [`${name} looks`, (pod) => pod.look(name)];
/** Another signal the second time, as the same one at once is the same request. */
const term = (name: string): Letter => [
  `TERM to ${name}`,
  (pod) => pod.act(name, (life) => life.signal(life.state.stop?.asked === undefined ? 15 : 2)),
];
const end = (name: string, code = 0): Letter => [
  `the command of ${name} ends with ${code}`,
  (pod) => pod.act(name, (life) => void (life.state.child.is === 'alive' && life.endChild(code))),
];
const task = (key: TaskKey, ok: boolean): Letter => [
  `${key} ends, ${ok}`,
  (pod) => each(pod, (life) => endTask(life, key, ok)),
];
const stopAll: Letter = ['sexton stop', (pod) => each(pod, (life) => life.askToStop(6_000))];
const kill = (name: string): Letter => [`${name} is killed`, (pod) => pod.kill(name)];
const crash = (name: string): Letter => [
  `${name}'s supervisor dies`,
  (pod) => pod.act(name, (life) => life.loseSupervisor().feed({ type: 'booted' })),
];
const time: Letter = ['time', (pod) => pod.passOn(2_000)];

describe('every interleaving', () => {
  it('keeps the rules with a main and a sidecar, 10 deep', (test) => {
    const letters = [...['proxy', 'work'].map(look), ...['work', 'proxy'].map(term), end('work'), kill('work')];
    explore(test, [MAIN, PROXY], [...letters, crash('proxy'), time], 10);
  });

  it('keeps the rules with a main and a sidecar with hooks, a probe and restarts, 7 deep', (test) => {
    const letters = [look('proxy'), term('work'), term('proxy'), stopAll, end('work'), end('work', 1), end('proxy', 1)];
    explore(test, [BUSY_MAIN, BUSY_PROXY], [...letters, task('liveness', false), task('preStop', true), time], 7);
  });

  it('keeps the rules with a main and two sidecars, one after the other, 8 deep', (test) => {
    const letters = [...['proxy', 'logs'].map(look), ...['work', 'proxy', 'logs'].map(term), end('work'), kill('work')];
    explore(test, [MAIN, PROXY, LOGS], [...letters, crash('logs'), time], 8);
  });
});

function explore(test: TestContext, configs: readonly MemberConfig[], letters: readonly Letter[], depth: number): void {
  const members = configs.map(
    (config): LaggingMember => ({ config, child: CHILD, observe: (step) => isSoundStep(config, step) }),
  );
  const root = new LaggingPod(members);
  for (const { name } of configs) root.look(name);
  const seen = new Set([root.key]);
  let level: readonly { readonly pod: LaggingPod; readonly path: readonly string[] }[] = [{ pod: root, path: [] }];
  for (let at = 1; at <= depth; at += 1) {
    const next: (typeof level)[number][] = [];
    for (const { pod, path } of level) {
      for (const [name, act] of letters) {
        const node = { pod: pod.fork(), path: [...path, name] };
        try {
          act(node.pod);
          const { key } = node.pod;
          isSound(pod, node.pod);
          if (seen.has(key)) continue;
          seen.add(key);
          if (seen.size % 5 === 0) comesToItsEnd(node.pod);
        } catch (error) {
          throw new Error(`after: ${node.path.join(', ')}`, { cause: error });
        }
        next.push(node);
      }
    }
    level = next;
  }
  test.diagnostic(`${seen.size} states`);
  assert.ok(seen.size > 3_000);
}

/** What the last letter has done to each. */
function isSound(before: LaggingPod, after: LaggingPod): void {
  for (const [name, life] of after.lives) {
    const sent = life.done.flatMap(({ effect }) => (effect.type === 'kill' ? [`${effect.id} ${effect.signal}`] : []));
    assert.equal(new Set(sent).size, sent.length, `${name}: a signal twice to one child`);
    const { deadline, now } = life.state;
    if (deadline !== undefined && now.mono >= deadline.atMs)
      assert.ok(!after.runs(name), `${name} outlives its deadline`);
    const was = before.of(name).state;
    if (isStopping(life.state) && !isStopping(was) && life.state.child.is === 'alive') isInTurn(after, name);
  }
}

function isStopping({ climb }: Step['after']): boolean {
  return climb?.why === 'stop';
}

/** Those who need it are dead in truth, unless there is no time left or it was asked twice. */
function isInTurn(pod: LaggingPod, name: string): void {
  const { state, config } = pod.of(name);
  const { stop } = state;
  const end = endOfWaiting(config, state);
  if ((stop?.requests ?? 0) >= 2 || (end !== undefined && pod.nowMs >= lastTurnMs(end))) return;
  const needs = [...pod.lives.values()].filter((other) => other.config.startAfter.some((gate) => gate.name === name));
  const mains = config.role === 'sidecar' ? [pod.of('work')] : [];
  for (const other of [...needs, ...mains]) {
    const isAlive = pod.runs(other.config.name) && other.state.child.is === 'alive';
    const isSeen = state.peers?.[other.config.name]?.tombstone.Born !== undefined;
    assert.ok(!isAlive || !isSeen, `${name} is stopped before ${other.config.name}`);
  }
}

function each(pod: LaggingPod, does: (life: Life) => unknown): void {
  for (const name of pod.lives.keys()) pod.act(name, (life) => void does(life));
}

function endTask(life: Life, wanted: TaskKey, ok: boolean): void {
  const task = life.state.tasks.find(({ key }) => key === wanted);
  if (task !== undefined) life.feed({ type: 'taskEnded', id: task.id, ok, detail: '', output: '' });
}

/** Once the main is over and everybody looks now and then, nothing is left. */
function comesToItsEnd(pod: LaggingPod): void {
  if (pod.runs('work')) return;
  const rest = pod.fork();
  const names = [...rest.lives.keys()];
  for (let turn = 0; turn < MAX_TURNS && names.some((name) => rest.runs(name)); turn += 1) {
    for (const name of names) rest.look(name);
    rest.passOn(1_000);
  }
  for (const name of names) assert.ok(!rest.runs(name), `${name} runs on without its main`);
}
