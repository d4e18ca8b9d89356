/** A host whose supervisor is late refuses a start after a stop request, and KILLs at the deadline. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reduce } from '../../../src/core/lifecycle/lifecycle.ts';
import { ordersOf } from '../../../src/core/orders.ts';
import { initialState, type State } from '../../../src/core/state/state.ts';
import { alive, BOOT, dead, HOST_ID, instant, killedBy, mainConfig, START, sidecarConfig } from '../helpers.ts';
import type { EventOf } from '../host.ts';
import { Life, main } from '../life.ts';

const OVERTAKEN = { type: 'spawnFailed', id: 1, errno: 'ECANCELED' } as const;
const TERM = { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false } as const;

function after(...events: readonly EventOf[]): { readonly state: State; readonly done: readonly string[] } {
  const config = mainConfig({ solo: true });
  const origin = { hostId: HOST_ID, bootId: BOOT, startedAtMs: START, now: instant(START), solo: true };
  return events.reduce<{ state: State; done: readonly string[] }>(
    ({ state, done }, event) => {
      const step = reduce(config, state, { ...event, at: instant(START) });
      return { state: step.state, done: [...done, ...step.effects.map(tell)] };
    },
    { state: initialState(origin), done: [] },
  );
}

function tell(effect: ReturnType<typeof reduce>['effects'][number]): string {
  if (effect.type === 'spawn') return `spawn ${effect.id}`;
  if (effect.type === 'exit') return `exit ${effect.code}`;
  return effect.type === 'log' ? `${effect.level}: ${effect.message}` : effect.type;
}

describe('a start that a stop request has overtaken', () => {
  it('A5, K03 a start that a stop request prevented is no life, and the container exits 143', () => {
    const { state, done } = after({ type: 'booted' }, TERM, OVERTAKEN);
    assert.deepEqual(done, ['spawn 1', 'info: asked to stop', 'info: dead', 'exit 143']);
    assert.equal(state.births, 0);
    assert.equal(state.child.is === 'gone' && state.child.reason, 'never-started');
    assert.ok(state.chronicle.history.every(({ Event }) => Event !== 'start failed'));
  });

  it('A5 a prevented start is ordered again with the same id if no stop request came', () => {
    const { done } = after({ type: 'booted' }, OVERTAKEN, { type: 'spawned', id: 1, pid: 7 });
    assert.deepEqual(done.slice(0, 3), ['spawn 1', 'spawn 1', 'info: started']);
  });

  it('A5 a prevented start between two lives leaves the exit code of the last one', () => {
    const life = new Life(main({ restart: 'always' }));
    life.endChild(3);
    const { untilMs } = life.state.child.is === 'backoff' ? life.state.child : { untilMs: 0 };
    const config = mainConfig({ restart: 'always' });
    const at = instant(untilMs);
    const born = reduce(config, life.state, { type: 'ticked', at });
    assert.deepEqual(born.effects.filter(({ type }) => type === 'spawn').map(tell), ['spawn 2']);
    const asked = reduce(config, born.state, { ...TERM, at });
    const taken = reduce(config, asked.state, { ...OVERTAKEN, id: 2, at });
    assert.deepEqual(taken.effects.filter(({ type }) => type !== 'log').map(tell), ['exit 3']);
  });
});

function atOf({ config, state }: Life, when: 'deadline' | 'leave'): number | undefined {
  const row = ordersOf(config, state).rows.find((one) => one.when === when);
  return row !== undefined && 'atMs' in row ? row.atMs : undefined;
}

const killAtMs = (life: Life): number | undefined => atOf(life, 'deadline');

describe('the KILL of the host', () => {
  const config = mainConfig({ gracePeriodMs: 10_000 });

  it('A3 the KILL of the host is due after a declared grace period, and never without one', () => {
    assert.equal(killAtMs(new Life({ config, peers: [] })), undefined);
    const deaf = { on: { 15: 'ignores' } } as const;
    assert.equal(killAtMs(new Life({ config, child: deaf, peers: [] }).signal(15)), START + 10_000);
    assert.equal(killAtMs(new Life(main({}, deaf)).signal(15)), undefined);
  });

  it('A3 the host KILLs after a lost supervisor, also in a stop that sexton decided on', () => {
    const child = { on: { 15: 'ignores' } } as const;
    const life = new Life({ config: sidecarConfig(), child, peers: [alive('work')] }).see(dead('work', 0));
    const ownMs = life.state.climb?.killAtMs ?? 0;
    assert.ok(ownMs > 0);
    const atMs = killAtMs(life) ?? 0;
    assert.ok(atMs > ownMs && atMs <= ownMs + 1_000, `${atMs - ownMs} ms`);
    assert.equal(atOf(life, 'leave'), undefined);
    assert.equal(killAtMs(life.pass(atMs - START - 1)), undefined);
  });

  it('A3 the KILL of the host counts as our own, and no other follows', () => {
    const life = new Life({ config, child: { on: { 15: 'ignores' } }, peers: [] }).signal(15).loseSupervisor();
    life.pass(10_000).feed(killedBy('deadline'));
    life.feed({ type: 'exited', id: 1, pid: 101, code: undefined, signal: 9, core: false, oom: false });
    life.feed({ type: 'rootsGone', id: 1 }).feed({ type: 'booted' });
    assert.equal(life.exitCode, 137);
    assert.equal(life.sent, '0 TERM');
    assert.ok(life.logs.includes('warn: killed by init: the deadline has come'));
    assert.equal(life.tombstone.History?.find(({ Event }) => Event === 'exited')?.By, 'sexton');
  });
});
