/** Random configurations, worlds and schedules. Times are odd, so that nothing shares a millisecond by accident. */
import fc from 'fast-check';
import type { MemberConfig } from '../../src/core/config.ts';
import { ROWS, TOLD_WHY } from '../../src/core/state/events.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import { alive, dead, fixed, kubexit, lost, mainConfig, START, stopping, waiting } from './helpers.ts';
import type { ChildScript, EventOf, Life } from './life.ts';

/** What the world does to a member; `at` counts from the action before it. */
export type Action =
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'see'; readonly peers: readonly PeerView[] }
  | { readonly do: 'signal'; readonly signal: number; readonly terminal: boolean }
  | { readonly do: 'end'; readonly code: number }
  /** What the watch of a drain tells; `agoMs`: since the last connection. */
  | { readonly do: 'traffic'; readonly agoMs: number | undefined; readonly open: number | undefined }
  /** An event that does not fit: late, doubled or impossible. */
  | { readonly do: 'late'; readonly event: EventOf };

export const NAMES = ['a', 'b', 'constructor'] as const;
const policy = fc.constantFrom('Never' as const, 'OnFailure' as const, 'Always' as const);
const duration = fc.constantFrom(0, 1, 97, 1_013, 4_999, 31_337);
const grace = fc.option(fc.constantFrom(0, 101, 1_009, 5_003, 20_011, 60_013), { nil: undefined });

const adaptive: fc.Arbitrary<MemberConfig['drain']> = fc.record({
  kind: fc.constant('adaptive' as const),
  minMs: fc.constantFrom(0, 1_013),
  quietMs: fc.constantFrom(97, 2_017),
  maxMs: fc.constantFrom(2_017, 31_337),
  ports: fc.constant([]),
  ignore: fc.constant([]),
  neighbours: fc.boolean(),
  newOnly: fc.boolean(),
  inflight: fc.boolean(),
});

export const config: fc.Arbitrary<MemberConfig> = fc
  .record({
    role: fc.constantFrom('main' as const, 'sidecar' as const),
    restartPolicy: policy,
    mains: fc.subarray([...NAMES]),
    when: fc.constantFrom('all' as const, 'any' as const),
    startAfter: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        condition: fc.constantFrom('started' as const, 'completed' as const),
        optional: fc.boolean(),
      }),
      { maxLength: 1 },
    ),
    startTimeoutMs: fc.constantFrom(503, 60_000),
    startTimeoutAction: fc.constantFrom('fail' as const, 'continue' as const),
    signals: fc.constantFrom({}, { 15: 3 }, { 10: 'drop' as const, 1: 12 }, { 2: 'drop' as const }),
    ladder: fc.constantFrom(
      undefined,
      [{ signal: 9, forMs: undefined }],
      [
        { signal: 15, forMs: 1_511 },
        { signal: 2, forMs: 707 },
        { signal: 9, forMs: undefined },
      ],
      [
        { signal: 3, forMs: 907 },
        { signal: 15, forMs: undefined },
      ],
    ),
    gracePeriodMs: grace,
    hold: fc.constantFrom({ kind: 'always' as const }, { kind: 'never' as const }, { kind: 'for' as const, ms: 1_999 }),
    drain: fc.oneof(duration.map(fixed), adaptive),
    lingerMs: duration,
    probes: fc.constant({ startup: undefined, readiness: undefined, liveness: undefined }),
    postStart: fc.constant(undefined),
    preStop: fc.constant(undefined),
    reload: fc.constant([]),
    quit: fc.constant([]),
    restart: fc.constantFrom('auto' as const, 'never' as const, 'on-failure' as const, 'always' as const),
    exitCode: fc.constantFrom(
      { kind: 'keep' as const },
      { kind: 'zero-when-stopped' as const },
      { kind: 'map' as const, codes: { 143: 0, 1: 7 } },
    ),
    session: fc.constantFrom(undefined, 'ours'),
  })
  .map((change) => mainConfig(change));

const reaction = fc.oneof(
  fc.constant('ignores' as const),
  fc.record({ afterMs: fc.constantFrom(0, 11, 2_003, 40_009), code: fc.constantFrom(0, 1, 143) }),
);

export const child: fc.Arbitrary<ChildScript> = fc
  .record(
    {
      endsAfterMs: fc.constantFrom(0, 53, 3_001, 70_001),
      code: fc.constantFrom(0, 1, 3),
      on: fc.record({ 2: reaction, 3: reaction, 15: reaction }, { requiredKeys: [] }),
      leaves: fc.constantFrom('untilKilled' as const, 3, 1_601),
      errno: fc.constantFrom('ENOENT', 'EACCES'),
    },
    { requiredKeys: [] },
  )
  .map(({ errno, ...script }) => ({ ...script, ...(errno !== undefined && script.code === 3 && { errno }) }));

const peer: fc.Arbitrary<PeerView> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    role: fc.constantFrom('main' as const, 'sidecar' as const),
    is: fc.constantFrom('alive', 'dead', 'waiting', 'lost', 'stopping', 'kubexit', 'stale', 'backoff', 'starting'),
    life: fc.integer({ min: 1, max: 3 }),
    code: fc.constantFrom(0, 1, 137),
    final: fc.constantFrom(undefined, true, false),
    session: fc.constantFrom(undefined, undefined, 'ours', 'theirs'),
    dependsOnUs: fc.boolean(),
    ms: fc.constantFrom(0, 2_011, 9_007, 33_013),
  })
  .map(({ name, role, is, life, code, final, session, dependsOnUs, ms }) => {
    const tombstone = {
      Role: role,
      Incarnation: `${name}-${life}`,
      ...(session !== undefined && { Session: session }),
      ...(dependsOnUs && { StartAfter: ['self'] }),
    };
    const end = { ...tombstone, ...(final !== undefined && { Final: final }) };
    switch (is) {
      case 'dead':
        return dead(name, code, { ...end, DiedMonotonic: START + ms });
      case 'stale':
        return dead(name, code, { ...end, DiedMonotonic: START - 1 }, { foundAtStart: true });
      case 'waiting':
        return waiting(name, tombstone);
      case 'lost':
        return lost(name, START + ms, tombstone);
      case 'stopping':
        return stopping(name, START + ms, tombstone);
      case 'kubexit':
        return kubexit(name, ms === 0 ? undefined : code);
      case 'backoff':
        return alive(name, { ...tombstone, Phase: 'backoff' });
      case 'starting':
        return alive(name, { ...tombstone, Phase: 'starting' });
      default:
        return alive(name, tombstone);
    }
  });

export const peers = fc.uniqueArray(peer, { selector: (view) => view.tombstone.Name, maxLength: 3 });

const exit = fc.constantFrom({ code: 0, signal: undefined }, { code: undefined, signal: 9 });
const id = fc.integer({ min: 0, max: 3 });
const late: fc.Arbitrary<EventOf> = fc.oneof(
  fc.record({ type: fc.constant('booted' as const) }),
  fc.record({ type: fc.constant('ticked' as const) }),
  fc.record({ type: fc.constant('trafficUnavailable' as const), why: fc.constant('it cannot be read') }),
  fc.record({ type: fc.constant('rootsGone' as const), id }),
  fc.record({
    type: fc.constant('told' as const),
    id,
    signal: fc.constantFrom(9, 15),
    count: fc.integer({ min: 1, max: 30_000 }),
    pid: fc.nat(),
    why: fc.constantFrom(...TOLD_WHY),
    name: fc.string({ maxLength: 15 }),
    of: fc.constantFrom('', 'sudo'),
  }),
  fc
    .record({
      type: fc.constant('exited' as const),
      id,
      pid: fc.constant(101),
      exit,
      core: fc.boolean(),
      oom: fc.boolean(),
    })
    .map(({ exit, ...event }) => ({ ...event, ...exit })),
  fc.record({ type: fc.constant('spawned' as const), id, pid: fc.nat() }),
  fc.record({ type: fc.constant('spawnFailed' as const), id, errno: fc.constantFrom('ENOENT', 'ECANCELED') }),
  fc.record({
    type: fc.constant('ordered' as const),
    id,
    row: fc.constantFrom(...ROWS),
    signal: fc.integer({ min: 0, max: 64 }),
    as: fc.integer({ min: 1, max: 64 }),
    senderPid: fc.nat(),
    receiverPid: fc.constantFrom(0, 101),
  }),
);

const usual: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(1, 19, 211, 1_709, 9_601, 61_001).map((ms) => ({ do: 'pass' as const, ms })),
  },
  { weight: 3, arbitrary: peers.map((views) => ({ do: 'see' as const, peers: views })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ signal: fc.constantFrom(15, 15, 2, 10, 1, 37), terminal: fc.boolean() })
      .map((from) => ({ do: 'signal' as const, ...from })),
  },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 3).map((code) => ({ do: 'end' as const, code })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ agoMs: fc.constantFrom(undefined, 0, 103, 5_003), open: fc.constantFrom(undefined, 0, 3) })
      .map((told) => ({ do: 'traffic' as const, ...told })),
  },
);

/** What may really happen. */
export const schedule = fc.array(usual, { maxLength: 14 });
/** And what may not. */
export const chaos = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: usual },
    { weight: 1, arbitrary: late.map((event) => ({ do: 'late' as const, event })) },
  ),
  { maxLength: 20 },
);

export function perform(life: Life, action: Action): void {
  if (action.do === 'pass') life.pass(action.ms);
  if (action.do === 'see') life.see(...action.peers);
  if (action.do === 'signal') life.signal(action.signal, { terminal: action.terminal });
  if (action.do === 'end' && life.state.child.is === 'alive') life.endChild(action.code);
  if (action.do === 'late') life.feed(action.event);
  if (action.do !== 'traffic') return;
  const lastMs = action.agoMs === undefined ? undefined : life.nowMs - action.agoMs;
  life.feed({ type: 'trafficSeen', lastMs, connections: 1, ignored: 0, open: action.open, byAddress: 0 });
}
