/** What init records by itself agrees with what the rules make of the same events, in every key that is read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { type EndRow, endOf } from '../../src/core/end-rows.ts';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { reduceAll } from '../../src/core/lifecycle/lifecycle.ts';
import { evidenceOf, openTextsOf, terminationMessageOf, tombstoneOf } from '../../src/core/lifecycle/stop/record.ts';
import { mainsRow } from '../../src/core/mains-row.ts';
import { ordersOf } from '../../src/core/orders.ts';
import type { Event } from '../../src/core/state/events.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import type { State } from '../../src/core/state/state.ts';
import { config as anyConfig } from './arbitraries.ts';
import { closedEvidence, closedTombstone } from './closing.ts';
import { inEveryLife, socketOf } from './every-life.ts';
import { alive, command, dead, fixed, instant, mainConfig, probes, START, sidecarConfig, stopping } from './helpers.ts';
import { Life } from './life.ts';
import { rows } from './table/rows.ts';

interface Situation {
  readonly config: MemberConfig;
  readonly state: State;
  readonly wakeAtMs: number | undefined;
}

function endsIn({ config, state, wakeAtMs }: Situation, needsSupervisor = false): readonly EndRow[] {
  const texts = { untilMs: wakeAtMs, needsSupervisor };
  return ordersOf(config, state, { socketOf, texts }).rows.filter((row) => row.when === 'end');
}

/** Each key once: some readers of kubexit's format refuse a key that comes twice. */
function parse(text: string, keyForm: RegExp): Record<string, unknown> {
  const keys = [...text.matchAll(keyForm)].map(([, key]) => key);
  assert.equal(new Set(keys).size, keys.length, text);
  return JSON.parse(text);
}

/** Checks that what init writes is what the rules make of these events. */
function checkEnd({ config, state }: Situation, end: EndRow, events: readonly Event[], how: number): void {
  const after = reduceAll(config, state, events);
  const deeds = after.effects.filter(({ type }) => type !== 'log');
  const open = openTextsOf(config, state);
  const moments = events.slice(0, -1).map(({ at }) => at);
  const exit = how > 255 ? { code: undefined, signal: how - 256 } : { code: how, signal: undefined };
  const closing = { end, exit, moments, graceMs: config.gracePeriodMs };
  const what = `${end.prelude} ${how}`;
  const tombstone = closedTombstone(open.tombstone, closing);
  assert.equal(Buffer.byteLength(tombstone), 8_192, what);
  const { History: written, ...closed } = parse(tombstone, /^ {2}"(\w+)":/gm);
  const { History, ...own } = JSON.parse(formatTombstone(tombstoneOf(config, after.state)));
  assert.deepEqual(closed, own, what);
  if (Array.isArray(written) && written.length < 20) assert.deepEqual(written, History.slice(0, written.length), what);
  const { Summary: summary, ...evidence } = parse(closedEvidence(open.evidence, closing), /[{,]"(\w+)":/g);
  const { Summary, Phases, ...ownEvidence } = evidenceOf(config, after.state);
  assert.deepEqual(evidence, ownEvidence, what);
  // The phases of a stop are in the words of the supervisor only.
  const shorter = Summary.replace(/(\): ).*?(exit code|ended by)/, '$1$2').replace(/, restarted \d+ times?/, '');
  assert.equal(summary, shorter, what);
  assert.equal(terminationMessageOf(config, after.state) === '', end.reason === 'error' && end.stopReason === '', what);
  const status = how > 255 ? 128 + how - 256 : how;
  assert.deepEqual(deeds, [{ type: 'exit', code: end.code === 'same' ? status : end.code }], what);
}

/** Checks each end at several moments, and after several lengths of its stop. */
function checkEnds(situation: Situation): readonly EndRow[] {
  const { config, state, wakeAtMs } = situation;
  const { child } = state;
  const ends = endsIn(situation);
  if (child.is !== 'alive') return ends;
  const signal = mainsRow(config, state, socketOf)?.signal ?? 15;
  const ordered = { type: 'ordered', id: child.id, senderPid: 0, receiverPid: child.pid };
  const events: Readonly<Record<string, object>> = {
    f: { ...ordered, row: 'first', signal: 15, as: config.ladder?.[0]?.signal ?? config.signals[15] ?? 15 },
    s: { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false },
    t: { ...ordered, row: 'mains', signal: 0, as: signal },
  };
  const firstMs = Math.floor(state.now.mono) + 1;
  const lastMs = wakeAtMs === undefined ? firstMs + 90_000_000 : Math.ceil(wakeAtMs) - 1;
  for (const end of ends)
    for (const how of new Set([end.from, end.to, Math.floor((end.from + end.to) / 2)]))
      for (const sinceMs of [firstMs, Math.floor((firstMs + lastMs) / 2), lastMs])
        for (const ms of end.prelude === '' ? [0] : [0, 1, 50, 99, 350, 999]) {
          if (sinceMs > lastMs || sinceMs < firstMs || ms >= Math.max(1, end.patienceMs)) continue;
          const before = [...end.prelude].map(
            (it, n) => ({ ...events[it], at: instant(sinceMs + Math.floor((n * ms) / 3)) }) as Event,
          );
          checkEnd(situation, end, [...before, ...endOf(child, { at: instant(sinceMs + ms), how })], how);
        }
  return ends;
}

/** A life of the command under way, 5 s old. */
function lifeOf(config: MemberConfig, found: readonly PeerView[] = []): Life {
  return new Life({ config, peers: found }).pass(5_000);
}

/** `prelude from-to code reason` of each end. */
function rangesOf(ends: readonly EndRow[]): readonly string[] {
  return ends.map(({ prelude, from, to, code, reason }) => `${prelude} ${from}-${to} ${code} ${reason}`.trim());
}

function ownEndsOf(config: MemberConfig, found?: readonly PeerView[]): readonly string[] {
  return rangesOf(checkEnds(lifeOf(config, found)).filter(({ prelude }) => prelude === ''));
}

const ALL = ['0-0 same completed', '1-255 same error'];

/** Those whose stop may need no supervisor. */
const waitsForNothing = anyConfig.map((random) => ({ ...random, drain: undefined, lingerMs: 0, startAfter: [] }));

describe('rows of an end', () => {
  it('a closed text is what the rules would write, in every state of the table', () => {
    const covered = rows().filter(({ config, state }) => checkEnds({ config, state, wakeAtMs: undefined }).length > 0);
    assert.ok(covered.length > 0);
    assert.ok(covered.every(({ state }) => state.child.is === 'alive' && state.stop === undefined));
  });

  it('a closed text is what the rules would write, in every life', () => {
    const seen = new Set<string>();
    inEveryLife(waitsForNothing, 300, (config, { after: state, wakeAtMs }) => {
      for (const { prelude } of checkEnds({ config, state, wakeAtMs })) seen.add(prelude);
    });
    assert.ok(seen.has('') && seen.has('f') && seen.has('t'), [...seen].join());
  });

  it('every exit code of a member that is not started again has a row', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const)
      assert.deepEqual(ownEndsOf(mainConfig({ restartPolicy })), ALL);
    assert.deepEqual(ownEndsOf(mainConfig({ gracePeriodMs: 5_000, session: 'a "quoted" one', name: 'web' })), ALL);
    assert.deepEqual(ownEndsOf(sidecarConfig({ mains: ['work'], restartPolicy: 'Always' }), [alive('work')]), ALL);
  });

  it('only success has a row where failures are not all alike', () => {
    const rule = { codes: [42], except: false, action: 'restart' } as const;
    assert.deepEqual(ownEndsOf(mainConfig({ restartRules: [rule] })), ALL.slice(0, 1));
    assert.deepEqual(ownEndsOf(mainConfig({ exitCode: { kind: 'map', codes: { 1: 0 } } })), ALL.slice(0, 1));
  });

  it('an end that something follows has no row', () => {
    assert.deepEqual(ownEndsOf(mainConfig({ restart: 'always' })), []);
    assert.deepEqual(
      ownEndsOf(mainConfig({ quit: [{ kind: 'quit', name: 'istio', calls: [CALL], hint: undefined }] })),
      [],
    );
    const draining = lifeOf(mainConfig({ drain: fixed(5_000) })).signal(15);
    assert.deepEqual(endsIn(draining), []);
    assert.deepEqual(ownEndsOf(mainConfig({ restart: 'on-failure' })), ALL.slice(0, 1));
    const config = mainConfig(probes({ liveness: { timeoutMs: 900 } }));
    const probing = new Life({ config, peers: [], child: { actions: { liveness: ['never'] } } }).pass(1_500);
    assert.ok(probing.state.tasks.length > 0);
    assert.deepEqual(endsIn(probing), []);
  });

  it('an open tombstone leaves room for its end, however long its history is', () => {
    const mains = Array.from({ length: 16 }, (_, n) => `${'x'.repeat(60)}${n}`);
    const config = mainConfig({ session: 'x'.repeat(200), name: 'x'.repeat(63), mains });
    const life = new Life({ config, peers: [], child: { on: { 35: 'ignores' } } }).pass(5_000);
    for (let times = 0; times < 100; times += 1) life.signal(35, { pid: 4_000_000 });
    const { History } = JSON.parse(`${openTextsOf(config, life.state).tombstone}}`);
    assert.ok(History.length < life.state.chronicle.history.length);
    assert.ok(checkEnds(life).length > 0);
  });

  it('an end by a row stays as published, whatever was heard before its report', () => {
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
          const end = endsIn(life).find(({ from, to }) => from <= code && code <= to);
          const at = instant(life.nowMs);
          const open = openTextsOf(config, life.state);
          hear(life);
          const { child } = life.state;
          if (end === undefined || child.is !== 'alive') throw new Error(`${what}: no end is covered`);
          const exit = { code, signal: undefined };
          const written = JSON.parse(closedTombstone(open.tombstone, { end, exit, moments: [at], graceMs: 5_000 }));
          const { state, effects } = reduceAll(config, life.state, endOf(child, { at, how: code }, true));
          const record = tombstoneOf(config, state);
          for (const key of ['Died', 'DiedMonotonic', 'ExitCode', 'Reason', 'Final', 'Incarnation'] as const)
            assert.equal(record[key], written[key], `${what}: ${key}`);
          const exits = effects.flatMap((effect) => (effect.type === 'exit' ? [effect.code] : []));
          assert.deepEqual(exits, [end.code === 'same' ? code : end.code], what);
        }
  });

  it('a row has no exit code where a supervisor has something left to do', () => {
    const life = lifeOf(mainConfig());
    const ends = rangesOf(endsIn(life, true));
    assert.deepEqual(ends, ['0-0 undefined completed', '1-255 undefined error']);
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

describe('rows of a stop and its end', () => {
  const work = alive('work', { Incarnation: `${'a'.repeat(32)}-1` });
  const held = { mains: ['work'], gracePeriodMs: 30_000 } as const;

  function stopOf(config: MemberConfig, found: readonly PeerView[] = []): readonly EndRow[] {
    return checkEnds(lifeOf(config, found)).filter(({ prelude }) => prelude !== '');
  }

  const patienceOf = (config: MemberConfig, found: readonly PeerView[] = []): readonly number[] => [
    ...new Set(stopOf(config, found).map(({ patienceMs }) => patienceMs)),
  ];

  it('rows cover every end of a main without a drain', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const)
      for (const gracePeriodMs of [undefined, 30_000]) {
        const stop = stopOf(mainConfig({ restartPolicy, ...(gracePeriodMs !== undefined && { gracePeriodMs }) }));
        const ends = ['f 0-0 same stopped', 'f 1-255 same stopped', 'f 271-271 143 stopped'];
        assert.deepEqual(rangesOf(stop), ends, restartPolicy);
        assert.ok(stop.every(({ patienceMs }) => patienceMs === 1_000));
      }
  });

  it('rows cover the end of a sidecar that holds, or whose mains finish', () => {
    const ends = (prelude: string): readonly string[] =>
      ['0-0 same', '1-255 0', '271-271 0'].map((range) => `${prelude} ${range} stopped`);
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const) {
      const stop = stopOf(sidecarConfig({ ...held, restartPolicy }), [work]);
      assert.deepEqual(rangesOf(stop), [...ends('st'), ...ends('t')], restartPolicy);
      assert.ok(stop.every(({ prelude, patienceMs }) => patienceMs === (prelude === 'st' ? 15_000 : 5_000)));
    }
  });

  it('a row covers half of the grace period at most, and the time to the next rung', () => {
    assert.deepEqual(patienceOf(mainConfig({ gracePeriodMs: 1_000 })), [500]);
    const ladder = [
      { signal: 3, forMs: 400 },
      { signal: 15, forMs: undefined },
    ];
    assert.deepEqual(patienceOf(mainConfig({ ladder })), [400]);
    assert.deepEqual(patienceOf(sidecarConfig({ ...held, gracePeriodMs: 6_000 }), [work]), [3_000]);
    assert.deepEqual(patienceOf(sidecarConfig({ mains: ['work'] }), [work]), [5_000], 'none is declared');
    const floor = sidecarConfig({ ...held, graceFloorMs: 2_000 });
    assert.deepEqual(patienceOf(floor, [work]), [1_500, 5_000], 'a floor ends only the hold');
  });

  it('a stop with a decision on the way has no row', () => {
    const preludesOf = (config: MemberConfig, ...found: readonly PeerView[]): readonly string[] => [
      ...new Set(stopOf(config, found).map(({ prelude }) => prelude)),
    ];
    assert.deepEqual(preludesOf(mainConfig({ drain: fixed(5_000) })), []);
    assert.deepEqual(preludesOf(mainConfig({ preStop: command('pre-stop') })), []);
    assert.deepEqual(preludesOf(mainConfig({ platformPreStopMs: 0 })), [], 'a lone stop is recognized');
    assert.deepEqual(preludesOf(sidecarConfig({ ...held, hold: { kind: 'never' } }), work), ['t']);
    assert.deepEqual(preludesOf(sidecarConfig({ mains: ['work', 'late'] }), work), []);
    const hurried = stopping('other', START + 9_000, { Role: 'sidecar' });
    assert.deepEqual(preludesOf(sidecarConfig(held), work, hurried), ['t'], 'the deadline of another ends a hold');
    assert.deepEqual(preludesOf(sidecarConfig(held), dead('work', 0)), [], 'its main is over');
  });
});
