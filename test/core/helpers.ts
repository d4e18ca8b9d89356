import type {
  AdaptiveDrain,
  ExecAction,
  MemberConfig,
  Probe,
  ProbeAction,
  ProbeKind,
  ReadyAction,
} from '../../src/core/config.ts';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { SIGINT, SIGTERM } from '../../src/core/signals.ts';
import type { Peer, PeerView } from '../../src/core/state/peer.ts';
import { initialState, type State } from '../../src/core/state/state.ts';
import type { Instant } from '../../src/core/time.ts';
import { readMemo, writeMemo } from '../../src/runtime/memo.ts';
import type { EventOf } from './host.ts';

export const BOOT = '5d7c1b52-0000-4000-8000-000000000001';
export const HOST_ID = '0123456789abcdef0123456789abcdef';
/** When every container of these tests starts, CLOCK_MONOTONIC milliseconds. */
export const START = 1_000_000;

export function instant(mono: number): Instant {
  return { mono, wall: (1_800_000_000_000_000_000n + BigInt(Math.round(mono * 1e6))).toString() };
}

export function mainConfig(change: Partial<MemberConfig> = {}): MemberConfig {
  return {
    name: 'self',
    role: 'main',
    restartPolicy: 'Never',
    restartRules: [],
    mains: [],
    when: 'all',
    startAfter: [],
    startReady: [],
    startTimeoutMs: 60_000,
    startTimeoutAction: 'fail',
    signals: {},
    ladder: undefined,
    stopSignals: [SIGTERM, SIGINT],
    gracePeriodMs: undefined,
    graceFloorMs: undefined,
    platformPreStopMs: undefined,
    hold: { kind: 'always' },
    drain: undefined,
    idleWhen: undefined,
    lingerMs: 0,
    probes: { startup: undefined, readiness: undefined, liveness: undefined },
    notifies: false,
    watchdogMs: undefined,
    postStart: undefined,
    preStop: undefined,
    reload: [],
    quit: [],
    restart: 'never',
    restartPodOn: { codes: [], liveness: false, max: undefined },
    startFailureCode: undefined,
    exitCode: { kind: 'keep' },
    session: undefined,
    solo: false,
    ...change,
  };
}

export function sidecarConfig(change: Partial<MemberConfig> = {}): MemberConfig {
  return mainConfig({ role: 'sidecar', restart: 'auto', exitCode: { kind: 'zero-when-stopped' }, ...change });
}

/** A start gate on a process that is no member. */
export function readyOf(name: string): ReadyAction {
  const call = {
    kind: 'http',
    method: 'GET',
    scheme: 'http',
    host: '127.0.0.1',
    port: 15_021,
    path: '/ready',
  } as const;
  return { kind: 'ready', name, call: { ...call, headers: [] }, optional: false, hint: undefined };
}

/** Without a time there is none. */
/** The host has KILLed the first child by this row of its orders. */
export function killedBy(row: 'grace' | 'deadline'): EventOf {
  return { type: 'ordered', id: 1, row, signal: 0, as: 9, senderPid: 0, receiverPid: 0 };
}

export function fixed(ms: number): MemberConfig['drain'] {
  return ms === 0 ? undefined : { kind: 'fixed', ms };
}

export const ADAPTIVE_DRAIN: AdaptiveDrain = {
  kind: 'adaptive',
  minMs: 1_000,
  quietMs: 2_000,
  maxMs: 15_000,
  ports: [],
  ignore: [],
  neighbours: false,
  newOnly: false,
  inflight: false,
};

export function command(name: string): ExecAction {
  return { kind: 'exec', argv: [name] };
}

/** A probe with the defaults of Kubernetes. */
export function probe(action: ProbeAction, change: Partial<Probe> = {}): Probe {
  return {
    action,
    periodMs: 10_000,
    timeoutMs: 1_000,
    failures: 3,
    successes: 1,
    delayMs: 0,
    graceMs: undefined,
    ...change,
  };
}

/** Probes by commands of their kinds' names, every second unless told otherwise. */
export function probes(declared: Readonly<Partial<Record<ProbeKind, Partial<Probe>>>>): Pick<MemberConfig, 'probes'> {
  const of = (kind: ProbeKind): Probe | undefined => {
    const change = declared[kind];
    return change === undefined ? undefined : probe(command(kind), { periodMs: 1_000, ...change });
  };
  return { probes: { startup: of('startup'), readiness: of('readiness'), liveness: of('liveness') } };
}

export function stateAt(mono: number, change: Partial<State> = {}): State {
  const origin = { hostId: HOST_ID, bootId: BOOT, startedAtMs: START, now: instant(mono), solo: false };
  return { ...initialState(origin), firstLookMs: START, lookedMs: mono, hasCaughtUp: true, ...change };
}

/** Those peers, first seen at the start. */
export function peersOf(...views: readonly PeerView[]): Record<string, Peer> {
  return Object.fromEntries(views.map((view) => [view.tombstone.Name, { ...view, sinceMs: START }]));
}

/** A live member that has started; a main unless told otherwise. */
export function alive(name: string, tombstone: Partial<Tombstone> = {}, view: Partial<PeerView> = {}): PeerView {
  return {
    tombstone: {
      Version: 1,
      Name: name,
      Role: 'main',
      Boot: BOOT,
      Incarnation: `${name}-1`,
      Phase: 'running',
      Born: '2027-01-15T08:00:00.000000000Z',
      Started: '2027-01-15T08:00:00.000000000Z',
      ...tombstone,
    },
    liveness: 'held',
    foundAtStart: false,
    vanished: false,
    ...view,
  };
}

/** Dead in our own lifetime, with that exit code. */
export function dead(
  name: string,
  ExitCode: number,
  tombstone: Partial<Tombstone> = {},
  view: Partial<PeerView> = {},
): PeerView {
  return alive(
    name,
    {
      Phase: 'dead',
      Died: '2027-01-15T09:00:00.000000000Z',
      DiedMonotonic: START + 1,
      Reason: ExitCode === 0 ? 'completed' : 'error',
      ExitCode,
      ...tombstone,
    },
    { liveness: 'none', ...view },
  );
}

/** It waits behind its own start gate. */
export function waiting(name: string, tombstone: Partial<Tombstone> = {}, view: Partial<PeerView> = {}): PeerView {
  return withoutBirth(alive(name, { Phase: 'waiting', Incarnation: `${name}-0`, ...tombstone }, view));
}

/** Its socket was held and is not any more, and it has written no death. */
export function lost(name: string, lostAt: number, tombstone: Partial<Tombstone> = {}): PeerView {
  return alive(name, tombstone, { liveness: 'lost', lostAt });
}

/** Asked to stop; with a deadline when its grace period is declared. */
export function stopping(name: string, Deadline?: number, tombstone: Partial<Tombstone> = {}): PeerView {
  const StopRequested = '2027-01-15T08:30:00.000000000Z';
  return alive(name, {
    Phase: 'stopping',
    StopRequested,
    StopReason: 'signal TERM',
    ...(Deadline !== undefined && { Deadline }),
    ...tombstone,
  });
}

/** A member of the format that knows only Born, Died and ExitCode. */
export function kubexit(name: string, ExitCode?: number): PeerView {
  const Born = '2027-01-15T08:00:00Z';
  const end = ExitCode === undefined ? {} : { Died: '2027-01-15T09:00:00Z', ExitCode };
  const tombstone: Tombstone = { Version: 0, Name: name, Born, ...end };
  return { tombstone, liveness: 'none', foundAtStart: false, vanished: false };
}

/** What a memo gives back of a state, as plain JSON. */
export function revived(state: State): State {
  const memo = readMemo(writeMemo({ state, isHeld: false }), HOST_ID);
  if (memo === undefined) throw new Error('this memo is not read');
  return asJson(memo.state);
}

export function asJson(state: State): State {
  return JSON.parse(JSON.stringify(state)) as State;
}

function withoutBirth(view: PeerView): PeerView {
  const { Born: _born, Started: _started, ...tombstone } = view.tombstone;
  return { ...view, tombstone };
}
