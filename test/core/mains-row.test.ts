/** The row `mains` agrees with what the rules do once they have read that the mains have ended. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { type MainsRow, mainsRow } from '../../src/core/mains-row.ts';
import { ordersOf } from '../../src/core/orders.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import type { State } from '../../src/core/state/state.ts';
import { config as anyConfig } from './arbitraries.ts';
import { inEveryLife, socketOf } from './every-life.ts';
import { alive, command, dead, fixed, instant, mainConfig, sidecarConfig } from './helpers.ts';
import { Life } from './life.ts';
import { differenceOf, holdsByTheRules } from './mains-ended.ts';

const nameIn = (path: string): string => path.slice('/g/.'.length, -'.sock'.length);

/** A life of the command under way, 5 s old. */
function lifeOf(config: MemberConfig, peers: readonly PeerView[] = []): Life {
  return new Life({ config, peers }).pass(5_000);
}

/** The row, which is checked against the rules. Init holds a stop request only where a row `end` follows. */
function rowIn(config: MemberConfig, state: State, wakeAtMs?: number): MainsRow | undefined {
  const row = mainsRow(config, state, socketOf);
  if (row === undefined) return undefined;
  const names = row.mains.map(({ path }) => nameIn(path));
  const enough = row.needed === 0 ? [] : row.needed === 1 ? names.map((name) => [name]) : [names];
  const at = instant(state.now.mono + 77);
  for (const mains of enough) assert.equal(differenceOf(config, state, { mains, signal: row.signal, at }), undefined);
  const texts = { untilMs: wakeAtMs, needsSupervisor: false };
  const { rows } = ordersOf(config, state, { socketOf, texts });
  if (rows.some((it) => it.when === 'end' && it.prelude === 'st')) assert.ok(holdsByTheRules(config, state, names));
  return row;
}

const [A, B] = ['a'.repeat(32), 'b'.repeat(32)];
const a = alive('a', { Incarnation: `${A}-1` });
const b = alive('b', { Incarnation: `${B}-1` });
const MAIN_A = { hostId: A, path: '/g/.a.sock' };
const MAIN_B = { hostId: B, path: '/g/.b.sock' };

function rowFor(change: Partial<MemberConfig>, ...peers: readonly PeerView[]): MainsRow | undefined {
  const config = sidecarConfig(change);
  return rowIn(config, lifeOf(config, peers).state);
}

/** Sidecars whose stop may need no supervisor. */
const waitsForNothing = anyConfig.map((random) => {
  const [role, hold] = ['sidecar' as const, { kind: 'always' } as const];
  return { ...random, role, hold, preStop: undefined, drain: undefined, lingerMs: 0, startAfter: [] };
});

describe('the row mains', () => {
  it('init does what the rules would do, in every life', () => {
    const seen = { needed: 0, all: 0, holds: 0 };
    inEveryLife(waitsForNothing, 600, (config, { after, wakeAtMs }) => {
      const row = rowIn(config, after, wakeAtMs);
      if (row !== undefined && row.needed > 0) seen.needed += 1;
      if (row !== undefined && row.needed > 1) seen.all += 1;
      if (row?.holds === true) seen.holds += 1;
    });
    assert.ok(seen.needed > 0 && seen.all > 0 && seen.holds > 0, JSON.stringify(seen));
  });

  it('a sidecar ends with all of its mains, or with any of them', () => {
    const [mains, holds] = [[MAIN_A, MAIN_B], true];
    const common = { when: 'mains', signal: 15, countsLost: true, lingerMs: 0 };
    assert.deepEqual(rowFor({ mains: ['a', 'b'] }, a, b), { ...common, needed: 2, holds, mains });
    assert.deepEqual(rowFor({}, a, b), { ...common, needed: 2, holds, mains });
    assert.deepEqual(rowFor({ mains: ['a', 'b'], when: 'any' }, a, b), { ...common, needed: 1, holds, mains });
    const one = { ...common, needed: 1, mains: [MAIN_A] };
    assert.deepEqual(rowFor({ mains: ['a', 'b'], when: 'any' }, a), { ...one, holds: false });
    assert.deepEqual(rowFor({ mains: ['a', 'b'] }, a, dead('b', 0)), { ...one, holds });
  });

  it('the row sends the first rung of the ladder, unless that is KILL', () => {
    const ladder = [
      { signal: 3, forMs: 1_000 },
      { signal: 15, forMs: undefined },
    ];
    assert.equal(rowFor({ mains: ['a'], ladder }, a)?.signal, 3);
    assert.equal(rowFor({ mains: ['a'], ladder: [{ signal: 9, forMs: undefined }] }, a)?.needed, 0);
  });

  it('a stop request is held only if these mains are all that is waited for', () => {
    const holds = (change: Partial<MemberConfig>, ...peers: readonly PeerView[]): boolean | undefined =>
      rowFor({ mains: ['a'], restartPolicy: 'Always', ...change }, ...peers)?.holds;
    assert.equal(holds({}, a), true);
    assert.equal(holds({ hold: { kind: 'never' } }, a), false);
    assert.equal(holds({ hold: { kind: 'for', ms: 2_000 } }, a), false);
    assert.equal(holds({ drain: fixed(5_000) }, a), false);
    assert.equal(holds({ preStop: command('pre-stop') }, a), false);
    assert.equal(holds({ mains: ['a', 'b'] }, a), undefined, 'one was not seen yet');
  });

  it('the supervisor decides about an end that something else has to wait for', () => {
    for (const change of [{ lingerMs: 1_000 }, { preStop: command('pre-stop') }])
      assert.equal(rowFor({ mains: ['a'], ...change }, a)?.needed, 0, JSON.stringify(change));
    const late = alive('late', { Incarnation: `${B}-1`, StartAfter: ['self'], Role: 'sidecar' });
    assert.equal(rowFor({ mains: ['a'] }, a, late)?.needed, 0, 'one that started after it still lives');
  });

  it('there is no row for mains that the host cannot hear', () => {
    assert.equal(rowFor({ mains: ['a', 'b'] }, a), undefined, 'one was not seen yet');
    assert.equal(rowFor({ mains: ['a'] }, alive('a', { Incarnation: `${A}-1` }, { liveness: 'none' })), undefined);
    assert.equal(rowFor({ mains: ['a'] }, alive('a', { Incarnation: 'of another kind-1' })), undefined);
    const config = sidecarConfig({ mains: ['a'] });
    assert.equal(
      mainsRow(config, lifeOf(config, [a]).state, () => undefined),
      undefined,
      'it holds no connection',
    );
  });

  it('the row is for a sidecar alone, and beside a stop only for the time without a supervisor', () => {
    assert.equal(rowIn(mainConfig(), lifeOf(mainConfig(), [a]).state), undefined);
    const config = sidecarConfig({ mains: ['a'], restartPolicy: 'Never' });
    const beside = rowIn(config, lifeOf(config, [a]).signal(15).state);
    const row = { when: 'mains', needed: 0, signal: 15, holds: false, countsLost: true, lingerMs: 0, mains: [MAIN_A] };
    assert.deepEqual(beside, row);
  });

  it('a child that is stopped in the same moment gets no second signal', () => {
    const life = lifeOf(sidecarConfig({ mains: ['a'] }), [a]);
    const before = life.signal(15).state;
    life.feed({ type: 'ordered', id: 1, row: 'mains', signal: 0, as: 15, senderPid: 0, receiverPid: 101 });
    assert.equal(before.climb, undefined, 'it holds for its main');
    assert.equal(life.state.climb?.rung, 0);
    assert.deepEqual(life.signals, []);
  });
});
