/** What the host does on its own equals, byte for byte, what the rules do for the same events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { formatTombstone } from '../../../src/core/format/tombstone.ts';
import { reduce, reduceAll } from '../../../src/core/lifecycle/lifecycle.ts';
import { fillPlaces } from '../../../src/core/lifecycle/prepared/placeholders.ts';
import {
  endOf,
  fill,
  type Line,
  type PreparedEnd,
  preparedEnds,
  preparedStop,
} from '../../../src/core/lifecycle/prepared/prepared-ends.ts';
import { endWithMains, isUnchanged } from '../../../src/core/lifecycle/prepared/reflexes.ts';
import { terminationMessageOf, tombstoneOf } from '../../../src/core/lifecycle/stop/record.ts';
import type { Event } from '../../../src/core/state/events.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import type { State } from '../../../src/core/state/state.ts';
import { rfc3339Milliseconds } from '../../../src/core/time.ts';
import {
  alive,
  command,
  dead,
  fixed,
  instant,
  mainConfig,
  probes,
  START,
  sidecarConfig,
  stopping,
} from '../helpers.ts';
import type { EventOf } from '../host.ts';
import { Life } from '../life.ts';
import { differenceOf } from '../reflex.ts';
import { rows } from '../table/rows.ts';

const CODES = [0, 1, 9, 10, 42, 77, 99, 100, 128, 137, 143, 193, 255];
const NEVER = { untilMs: undefined, needsSupervisor: false, lineOf };

/** Both forms of a time that a log may have. */
function lineOf(line: Line, time: string): string {
  return `${JSON.stringify({ ...line, time })}\n${time.slice(11)} ${line.message}\n`;
}

/** Checks that what the host writes for a prepared end is what the rules make of these events. */
function checkEnd(config: MemberConfig, before: State, end: PreparedEnd, events: readonly Event[], code: number): void {
  let [state, log] = [before, ''];
  const deeds: unknown[] = [];
  for (const event of events) {
    const reduction = reduce(config, state, event);
    state = reduction.state;
    for (const effect of reduction.effects)
      if (effect.type === 'log') log += lineOf(effect, rfc3339Milliseconds(event.at.wall));
      else deeds.push(effect);
  }
  const course = { moments: events.slice(0, -1).map(({ at }) => at), code };
  const what = `${end.prelude} ${code}`;
  assert.equal(fill(end.text, course), formatTombstone(tombstoneOf(config, state)), what);
  assert.equal(fillPlaces(end.log, course), log, what);
  assert.equal(fillPlaces(end.evidence, course), terminationMessageOf(config, state), what);
  assert.deepEqual(deeds, [{ type: 'exit', code: end.code === 'same' ? code : end.code }], what);
  assert.equal(state.child.is === 'gone' && state.child.final, end.final, what);
}

/** The codes that have a prepared end; each of these is checked at several moments. */
function coveredIn(config: MemberConfig, state: State, wakeAtMs: number | undefined): readonly number[] {
  const { child } = state;
  const ends = preparedEnds(config, state, { ...NEVER, untilMs: wakeAtMs });
  const lastMs = wakeAtMs === undefined ? state.now.mono + 90_000_000 : Math.ceil(wakeAtMs) - 1;
  const firstMs = Math.floor(state.now.mono) + 1;
  return CODES.filter((code) => {
    const end = ends.find(({ from, to }) => from <= code && code <= to);
    if (end === undefined || child.is !== 'alive') return false;
    for (const mono of [firstMs, Math.floor((firstMs + lastMs) / 2), lastMs])
      checkEnd(config, state, end, endOf(child, { at: { ...instant(mono), mono }, how: code }), code);
    return true;
  });
}

/** A life of the command under way, 5 s old. */
function lifeOf(config: MemberConfig, peers: readonly PeerView[] = []): Life {
  return new Life({ config, peers }).pass(5_000);
}

function coveredBy(config: MemberConfig, peers: readonly PeerView[] = []): readonly number[] {
  const { state, wakeAtMs } = lifeOf(config, peers);
  return coveredIn(config, state, wakeAtMs);
}

describe('a prepared end', () => {
  it('a prepared end is what the rules would write, in every state of the table', () => {
    const covered = rows().filter(({ config, state }) => coveredIn(config, state, undefined).length > 0);
    assert.ok(covered.length > 0);
    assert.ok(covered.every(({ state }) => state.child.is === 'alive' && state.stop === undefined));
  });

  it('prepared ends cover every exit code of a main that is not started again', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const)
      assert.deepEqual(coveredBy(mainConfig({ restartPolicy })), CODES);
    assert.deepEqual(coveredBy(mainConfig({ gracePeriodMs: 5_000, session: 'a "quoted" one', name: 'web' })), CODES);
    assert.deepEqual(coveredBy(sidecarConfig({ mains: ['work'], restartPolicy: 'Always' }), [alive('work')]), CODES);
  });

  it('only success has a prepared end where failures are not all alike', () => {
    const rule = { codes: [42], except: false, action: 'restart' } as const;
    assert.deepEqual(coveredBy(mainConfig({ restartRules: [rule] })), [0]);
    assert.deepEqual(coveredBy(mainConfig({ exitCode: { kind: 'map', codes: { 1: 0 } } })), [0]);
  });

  it('an end that something follows is not prepared', () => {
    assert.deepEqual(coveredBy(mainConfig({ restart: 'always' })), []);
    const quit = [{ kind: 'quit', name: 'istio', calls: [CALL], hint: undefined }] as const;
    assert.deepEqual(coveredBy(mainConfig({ quit })), []);
    const draining = mainConfig({ drain: fixed(5_000) });
    const life = lifeOf(draining).signal(15);
    assert.deepEqual(coveredIn(draining, life.state, life.wakeAtMs), []);
    assert.deepEqual(coveredBy(mainConfig({ restart: 'on-failure' })), [0]);
    const config = mainConfig(probes({ liveness: { timeoutMs: 900 } }));
    const probing = new Life({ config, peers: [], child: { actions: { liveness: ['never'] } } }).pass(1_500);
    assert.ok(probing.state.tasks.length > 0);
    assert.deepEqual(coveredIn(config, probing.state, probing.wakeAtMs), []);
  });

  it('a prepared end is exact also where a history leaves no more room', () => {
    const config = mainConfig({ session: 'x'.repeat(200), startAfter: [], name: 'x'.repeat(63) });
    const life = lifeOf(config);
    for (let times = 0; times < 100; times += 1) life.signal(10);
    assert.ok(formatTombstone(tombstoneOf(config, life.state)).trimEnd().length > 7_000);
    coveredIn(config, life.state, life.wakeAtMs);
  });

  it('a prepared end stays as published, whatever was heard before its report', () => {
    const ask = { requestedMs: START + 5_000, by: 'a test', graceMs: 4_000, among: undefined, byRule: undefined };
    const heard: Readonly<Record<string, (life: Life) => unknown>> = {
      'a restart in place': (life) => life.feed({ type: 'restartAsked', ask }),
      'a stop': (life) => life.askToStop(4_000),
      'a stop, and what it has others stop for': (life) => life.askToStop(4_000).see(stopping('work', START + 9_000)),
    };
    const sidecar = sidecarConfig({ gracePeriodMs: 5_000, restartPolicy: 'Always', mains: ['work'] });
    for (const config of [mainConfig({ gracePeriodMs: 5_000, drain: fixed(500) }), sidecar])
      for (const code of [0, 1])
        for (const [what, hear] of Object.entries(heard)) {
          const life = lifeOf(config, [alive('work')]);
          const { state, wakeAtMs, nowMs } = life;
          const ends = preparedEnds(config, state, { ...NEVER, untilMs: wakeAtMs });
          const said = ends.find(({ from, to }) => from <= code && code <= to);
          const at = instant(nowMs);
          hear(life);
          const { child } = life.state;
          if (said === undefined || child.is !== 'alive') throw new Error(`${what}: no end is covered`);
          const word = JSON.parse(fill(said.text, { moments: [at], code }));
          const { state: end, effects } = reduceAll(config, life.state, endOf(child, { at, how: code }, true));
          const record = tombstoneOf(config, end);
          for (const key of ['Died', 'DiedMonotonic', 'ExitCode', 'Reason', 'Final', 'Incarnation'] as const)
            assert.equal(record[key], word[key], `${what}: ${key}`);
          const exits = effects.flatMap((effect) => (effect.type === 'exit' ? [effect.code] : []));
          assert.deepEqual(exits, [said.code === 'same' ? code : said.code], what);
        }
  });

  it('a prepared end has an exit code only where init can do all of it', () => {
    const config = mainConfig();
    const { state } = lifeOf(config);
    const codes = (use: object): unknown[] =>
      preparedEnds(config, state, { ...NEVER, ...use }).map(({ code, log, evidence }) => [
        code,
        log !== '',
        evidence !== '',
      ]);
    // A command that fails by itself leaves no evidence.
    assert.deepEqual(codes({}), [
      ['same', true, true],
      ['same', true, false],
    ]);
    const none = [undefined, false, false];
    assert.deepEqual(codes({ needsSupervisor: true }), [none, none]);
    let times = 0;
    assert.deepEqual(codes({ lineOf: () => `${times++}` }), [none, none]);
    assert.deepEqual(codes({ lineOf: () => 'x'.repeat(2_000) }), [none, none]);
  });

  it('a reflex holds as long as only time has passed', () => {
    const { state } = lifeOf(mainConfig());
    const known = { state, wakeAtMs: 7_000_000 };
    const later = { ...state, now: instant(state.now.mono + 1_000) };
    assert.ok(isUnchanged(known, { state: later, wakeAtMs: 7_000_000 }));
    assert.ok(!isUnchanged(known, { state: later, wakeAtMs: undefined }));
    assert.ok(!isUnchanged(known, { state: { ...state, peers: {} }, wakeAtMs: 7_000_000 }));
  });
});

const CALL = {
  kind: 'http',
  method: 'POST',
  scheme: 'http',
  host: '127.0.0.1',
  port: 15_020,
  path: '/quitquitquit',
  headers: [],
} as const;

/** The prepared stop, with each of its ends checked for several lengths of the stop. */
function checkedStop(config: MemberConfig, peers: readonly PeerView[] = []): ReturnType<typeof preparedStop> {
  const { state, wakeAtMs } = lifeOf(config, peers);
  const { child } = state;
  const endWith = endWithMains(config, state);
  const stop = preparedStop(config, state, { ...NEVER, untilMs: wakeAtMs }, endWith);
  if (stop === undefined || child.is !== 'alive') return undefined;
  const ordered = { type: 'ordered', id: child.id, senderPid: 0, receiverPid: child.pid } as const;
  const heard: Readonly<Record<string, EventOf>> = {
    f: { ...ordered, row: 'first', signal: 15, as: config.ladder?.[0]?.signal ?? 15 },
    s: { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false },
    t: { ...ordered, row: 'mains', signal: 0, as: endWith?.signal ?? 0 },
  };
  const sinceMs = Math.floor(state.now.mono) + 1;
  const spans = [0, 1, 49, 50, 99, 350, 999].filter((ms) => ms < stop.patienceMs);
  for (const end of stop.ends)
    for (const how of [end.from, end.to, Math.floor((end.from + end.to) / 2)])
      for (const ms of spans) {
        const before = [...end.prelude].map(
          (it, index) => ({ ...heard[it], at: instant(sinceMs + 10 * index) }) as Event,
        );
        const at = instant(sinceMs + 10 * before.length + ms);
        checkEnd(config, state, end, [...before, ...endOf(child, { at, how })], how > 255 ? 128 + how - 256 : how);
      }
  return stop;
}

describe('the prepared stop', () => {
  const work = alive('work', { Incarnation: `${'a'.repeat(32)}-1` });
  const held = { mains: ['work'], gracePeriodMs: 30_000 } as const;

  function rangesOf(stop: ReturnType<typeof preparedStop>): readonly string[] {
    return (stop?.ends ?? []).map(({ prelude, from, to, code }) => `${prelude} ${from}-${to} ${code}`);
  }

  it('a prepared stop covers every end of a main without a drain', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const)
      for (const gracePeriodMs of [undefined, 30_000]) {
        const stop = checkedStop(mainConfig({ restartPolicy, ...(gracePeriodMs !== undefined && { gracePeriodMs }) }));
        // By this policy a failure is not the end of the member.
        const codes = restartPolicy === 'OnFailure' ? ['f 0-0 same', 'f 1-255 same'] : ['f 0-255 same'];
        assert.deepEqual(rangesOf(stop), [...codes, 'f 271-271 143'], restartPolicy);
        assert.equal(stop?.patienceMs, 1_000);
      }
  });

  it('a prepared stop covers the end of a sidecar that holds, or whose mains finish', () => {
    const ends = (prelude: string): readonly string[] =>
      ['0-0 same', '1-255 0', '271-271 0'].map((range) => `${prelude} ${range}`);
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const) {
      const stop = checkedStop(sidecarConfig({ ...held, restartPolicy }), [work]);
      assert.deepEqual(rangesOf(stop), [...ends('st'), ...ends('t')], restartPolicy);
      assert.equal(stop?.patienceMs, 5_000);
    }
  });

  it('a prepared stop lasts half of the grace period at most, and to the next rung', () => {
    assert.equal(checkedStop(mainConfig({ gracePeriodMs: 1_000 }))?.patienceMs, 500);
    const ladder = [
      { signal: 3, forMs: 400 },
      { signal: 15, forMs: undefined },
    ];
    assert.equal(checkedStop(mainConfig({ ladder }))?.patienceMs, 400);
    assert.equal(checkedStop(sidecarConfig({ ...held, gracePeriodMs: 6_000 }), [work])?.patienceMs, 3_000);
  });

  it('a stop with a decision on the way is not prepared', () => {
    assert.equal(checkedStop(mainConfig({ drain: fixed(5_000) })), undefined);
    assert.equal(checkedStop(mainConfig({ preStop: command('pre-stop') })), undefined);
    assert.equal(checkedStop(mainConfig({ platformPreStopMs: 0 })), undefined, 'a lone stop is recognized');
    assert.equal(checkedStop(sidecarConfig({ ...held, hold: { kind: 'never' } }), [work])?.ends[0]?.prelude, 't');
    assert.equal(checkedStop(sidecarConfig({ mains: ['work', 'late'] }), [work]), undefined);
  });
});

describe('the end with the mains', () => {
  const [A, B] = ['a'.repeat(32), 'b'.repeat(32)];
  const a = alive('a', { Incarnation: `${A}-1` });
  const b = alive('b', { Incarnation: `${B}-1` });

  function endFor(change: Partial<MemberConfig>, ...peers: readonly PeerView[]): ReturnType<typeof endWithMains> {
    const config = sidecarConfig(change);
    const { state } = lifeOf(config, peers);
    const end = endWithMains(config, state);
    if (end === undefined || end.needed === 0) return undefined;
    const names = end.mains.map(({ name }) => name);
    const enough = end.needed === 1 ? names.map((name) => [name]) : [names];
    for (const mains of enough)
      assert.equal(
        differenceOf(config, state, { mains, signal: end.signal, at: instant(state.now.mono + 77) }),
        undefined,
      );
    return end;
  }

  it('a sidecar ends with all of its mains, or with any of them', () => {
    const mains = [
      { name: 'a', hostId: A },
      { name: 'b', hostId: B },
    ];
    assert.deepEqual(endFor({ mains: ['a', 'b'] }, a, b), { needed: 2, signal: 15, holds: true, mains });
    assert.deepEqual(endFor({}, a, b), { needed: 2, signal: 15, holds: true, mains });
    assert.deepEqual(endFor({ mains: ['a', 'b'], when: 'any' }, a, b), { needed: 1, signal: 15, holds: true, mains });
    assert.deepEqual(endFor({ mains: ['a', 'b'], when: 'any' }, a), {
      needed: 1,
      signal: 15,
      holds: false,
      mains: [mains[0]],
    });
    assert.deepEqual(endFor({ mains: ['a', 'b'] }, a, dead('b', 0)), {
      needed: 1,
      signal: 15,
      holds: true,
      mains: [mains[0]],
    });
  });

  it('the end with the mains sends the first rung of the ladder', () => {
    const ladder = [
      { signal: 3, forMs: 1_000 },
      { signal: 15, forMs: undefined },
    ];
    assert.equal(endFor({ mains: ['a'], ladder }, a)?.signal, 3);
    assert.equal(endFor({ mains: ['a'], ladder: [{ signal: 9, forMs: undefined }] }, a), undefined);
  });

  it('a reflex holds a stop request only if these mains are all that is waited for', () => {
    const holds = (change: Partial<MemberConfig>, ...peers: readonly PeerView[]): boolean | undefined => {
      const config = sidecarConfig({ mains: ['a'], restartPolicy: 'Always', ...change });
      return endWithMains(config, lifeOf(config, peers).state)?.holds;
    };
    assert.equal(holds({}, a), true);
    assert.equal(holds({ hold: { kind: 'never' } }, a), false);
    assert.equal(holds({ hold: { kind: 'for', ms: 2_000 } }, a), false);
    assert.equal(holds({ drain: fixed(5_000) }, a), false);
    assert.equal(holds({ preStop: command('pre-stop') }, a), false);
    assert.equal(holds({ mains: ['a', 'b'] }, a), undefined, 'one was not seen yet');
  });

  it('an end with the mains that has to wait is left to the supervisor', () => {
    for (const change of [{ lingerMs: 1_000 }, { preStop: command('pre-stop') }])
      assert.equal(endFor({ mains: ['a'], ...change }, a), undefined, JSON.stringify(change));
    assert.equal(endFor({ mains: ['a', 'b'] }, a), undefined, 'one was not seen yet');
    assert.equal(endFor({ mains: ['a'] }, alive('a', { Incarnation: `${A}-1` }, { liveness: 'none' })), undefined);
    assert.equal(endFor({ mains: ['a'] }, alive('a', { Incarnation: 'of another kind-1' })), undefined);
    const late = alive('late', { Incarnation: `${B}-1`, StartAfter: ['self'], Role: 'sidecar' });
    assert.equal(endFor({ mains: ['a'] }, a, late), undefined, 'one that started after it still lives');
  });

  it('the end with the mains is for a sidecar alone, and not beside a stop', () => {
    assert.equal(endWithMains(mainConfig(), lifeOf(mainConfig(), [a]).state), undefined);
    const config = sidecarConfig({ mains: ['a'] });
    const beside = endWithMains(config, lifeOf(config, [a]).signal(15).state);
    assert.deepEqual(beside, { needed: 0, signal: 15, holds: false, mains: [{ name: 'a', hostId: A }] });
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
