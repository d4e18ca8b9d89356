/**
 * Every order of a few things that can happen, to the depth at which nothing new is seen: one main, one sidecar.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { alive, dead, fixed, lost, mainConfig, START, sidecarConfig } from './helpers.ts';
import { type ChildScript, Life } from './life.ts';

const GRACE_MS = 10_000;

/** What the invariants know of the world besides the life itself; times since the start. */
interface World {
  readonly path: readonly string[];
  readonly askedAt: readonly number[];
  /** The main of a sidecar: since when it is dead for good; undefined while it may live. */
  readonly deadSince: number | undefined;
  readonly incarnation: number;
}

interface Letter {
  readonly name: string;
  readonly act: (life: Life, world: World) => Partial<World>;
}

const ask: Letter = {
  name: 'TERM',
  act(life, { askedAt }) {
    const now = life.nowMs - START;
    life.signal(15);
    // Within a second it is the same request.
    const isSame = askedAt[0] !== undefined && now - askedAt[0] < 1_000;
    return isSame ? {} : { askedAt: [...askedAt, now] };
  },
};
const wait = (ms: number): Letter => ({
  name: `${ms} ms`,
  act(life) {
    life.pass(ms);
    return {};
  },
});
const crash: Letter = {
  name: 'the child crashes',
  act(life) {
    if (life.state.child.is === 'alive') life.endChild(1);
    return {};
  },
};
const mainEnds: Letter = {
  name: 'the main ends',
  act(life, { incarnation, deadSince }) {
    life.see(dead('work', 0, { Incarnation: `work-${incarnation}` }));
    return { deadSince: deadSince ?? life.nowMs - START };
  },
};
const mainFlickers: Letter = {
  name: 'the main vanishes and comes back',
  act(life, { incarnation, deadSince }) {
    if (deadSince !== undefined) return {};
    life.see(lost('work', life.nowMs, { Incarnation: `work-${incarnation}` })).pass(1_500);
    life.see(alive('work', { Incarnation: `work-${incarnation + 1}` }));
    return { incarnation: incarnation + 1 };
  },
};
const look: Letter = {
  name: 'a late tick and another look',
  act(life, { deadSince, incarnation }) {
    const Incarnation = `work-${incarnation}`;
    life
      .feed({ type: 'ticked' })
      .see(deadSince === undefined ? alive('work', { Incarnation }) : dead('work', 0, { Incarnation }));
    return {};
  },
};

describe('every order of events', () => {
  it('to a sidecar under Never, 7 letters, 6 deep', () => {
    const child: ChildScript = { on: { 15: { afterMs: 700, code: 3 } } };
    const config = sidecarConfig({ gracePeriodMs: GRACE_MS, lingerMs: 400 });
    const alphabet = [ask, crash, mainEnds, mainFlickers, look, wait(600), wait(9_000)];
    const count = explore(config, child, alphabet, 6, (life, { askedAt, deadSince }) => {
      const now = life.nowMs - START;
      isSound(life);
      const [first, second] = askedAt;
      if (first === undefined && deadSince === undefined) {
        assert.deepEqual(life.signals, []);
        assert.equal(life.exitCode, undefined);
      }
      for (const [at, signal] of life.signals) {
        assert.equal(signal, 15, 'it takes its TERM well');
        const isTurn = deadSince !== undefined && at >= Math.min(deadSince + 400, first ?? Number.POSITIVE_INFINITY);
        const isLastTurn = first !== undefined && at >= first + GRACE_MS - 2_000;
        assert.ok(isTurn || isLastTurn || (second !== undefined && at >= second), `TERM at ${at}`);
      }
      if (life.exitCode !== undefined) assert.equal(life.exitCode, 0);
      if (deadSince !== undefined && now > deadSince + 400 + 700 + 20) assert.notEqual(life.exitCode, undefined);
      if (first !== undefined && now > first + GRACE_MS) assert.notEqual(life.exitCode, undefined);
    });
    assert.equal(count, 137_257);
  });

  it('to a main that ignores TERM and is restarted in place, 4 letters, 7 deep', () => {
    const config = mainConfig({ gracePeriodMs: GRACE_MS, restart: 'always', drain: fixed(500) });
    const child: ChildScript = { on: { 15: 'ignores' } };
    const count = explore(config, child, [ask, crash, wait(450), wait(9_200)], 7, (life, { askedAt }) => {
      isSound(life);
      const [first, second] = askedAt;
      if (first === undefined) {
        assert.equal(life.exitCode, undefined);
        assert.deepEqual(life.signals, []);
        return;
      }
      for (const [at, signal] of life.signals) {
        if (signal === 9) assert.equal(at, first + GRACE_MS - 500);
        else assert.equal(at, Math.min(first + 500, second ?? Number.POSITIVE_INFINITY));
      }
      for (const at of life.spawns) assert.ok(at <= first, 'a start after the stop');
      if (life.nowMs - START >= first + GRACE_MS) assert.notEqual(life.exitCode, undefined);
      const isKilled = life.signals.some(([, signal]) => signal === 9);
      if (life.exitCode !== undefined) assert.equal(life.exitCode, isKilled ? 137 : 1);
    });
    assert.equal(count, 21_845);
  });

  it('to a sidecar between restarts, 4 letters, 7 deep', () => {
    const child: ChildScript = { endsAfterMs: 130, code: 1 };
    const alphabet = [ask, mainEnds, wait(55), wait(2_350)];
    const count = explore(
      sidecarConfig({ gracePeriodMs: GRACE_MS }),
      child,
      alphabet,
      7,
      (life, { askedAt, deadSince }) => {
        isSound(life);
        const [first, second] = askedAt;
        const over = Math.min(deadSince ?? Number.POSITIVE_INFINITY, second ?? Number.POSITIVE_INFINITY);
        for (const at of life.spawns) assert.ok(at <= over && (first === undefined || at < first + GRACE_MS - 900));
        if (life.exitCode !== undefined) assert.equal(life.exitCode, 0);
        if (over <= life.nowMs - START) assert.notEqual(life.exitCode, undefined);
      },
    );
    assert.equal(count, 21_845);
  });
});

/** What holds in every moment of every life. */
function isSound(life: Life): void {
  assert.ok(life.exits.length <= 1, 'two exits');
  const { exitedAtMs } = life;
  if (exitedAtMs !== undefined) {
    for (const { atMs, effect } of life.done) assert.ok(effect.type === 'log' || atMs <= exitedAtMs, effect.type);
    assert.equal(life.tombstone.Phase, 'dead');
  }
  const sent = life.done.flatMap(({ effect }) =>
    effect.type === 'signalChild' ? [`${effect.id} ${effect.signal}`] : [],
  );
  assert.equal(new Set(sent).size, sent.length, 'a signal twice to one child');
}

/** Depth first; returns how many nodes there were. */
function explore(
  config: MemberConfig,
  child: ChildScript,
  alphabet: readonly Letter[],
  depth: number,
  check: (life: Life, world: World) => void,
): number {
  let count = 0;
  const visit = (life: Life, world: World, left: number): void => {
    count += 1;
    try {
      check(life, world);
    } catch (error) {
      throw new Error(`after: ${world.path.join(', ')}`, { cause: error });
    }
    if (left === 0) return;
    for (const letter of alphabet) {
      const next = life.fork();
      const change = letter.act(next, world);
      visit(next, { ...world, ...change, path: [...world.path, letter.name] }, left - 1);
    }
  };
  const life = new Life({ config, child, peers: [alive('work')] });
  visit(life, { path: [], askedAt: [], deadSince: undefined, incarnation: 1 }, depth);
  return count;
}
