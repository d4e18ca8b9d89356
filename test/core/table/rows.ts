/** Every state that a member can be in, led there by events: a main and a sidecar with all declared that matters. */
import type { MemberConfig } from '../../../src/core/config.ts';
import { reduce } from '../../../src/core/lifecycle/lifecycle.ts';
import { initialState, type State } from '../../../src/core/state/state.ts';
import {
  ADAPTIVE_DRAIN,
  alive,
  BOOT,
  command,
  dead,
  fixed,
  HOST_ID,
  instant,
  mainConfig,
  probes,
  readyOf,
  START,
  sidecarConfig,
} from '../helpers.ts';
import type { EventOf } from '../host.ts';
import { restartAsked } from './columns.ts';

export interface Row {
  readonly title: string;
  readonly config: MemberConfig;
  readonly state: State;
  readonly wakeAtMs: number | undefined;
}

const COMMON = {
  gracePeriodMs: 30_000,
  preStop: command('pre-stop'),
  reload: [{ path: '/etc/app.conf', signal: 1, validate: undefined }],
} as const;
const MAIN = mainConfig({
  ...COMMON,
  ...probes({ startup: { failures: 1 }, liveness: { failures: 1 } }),
  startAfter: [{ name: 'db', condition: 'started', optional: false }],
  drain: fixed(5_000),
  restart: 'on-failure',
  quit: [
    {
      kind: 'quit',
      name: 'proxy',
      calls: [{ kind: 'http', method: 'POST', scheme: 'http', host: '127.0.0.1', port: 1, path: '/quit', headers: [] }],
      hint: undefined,
    },
  ],
});
const MESHED = mainConfig({ gracePeriodMs: 30_000, startReady: [readyOf('proxy')] });
const ADAPTIVE = mainConfig({ gracePeriodMs: 30_000, drain: ADAPTIVE_DRAIN });
const FREE = mainConfig({ gracePeriodMs: 30_000 });
const SIDECAR = sidecarConfig({
  ...COMMON,
  ...probes({ liveness: { failures: 1, timeoutMs: 60_000 } }),
  mains: ['work'],
  lingerMs: 2_000,
});

type Told = readonly (readonly [afterMs: number, event: EventOf])[];
const TERM: EventOf = { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false };
const BOOTED: EventOf = { type: 'booted' };
const OPEN: EventOf = { type: 'peersSeen', peers: [alive('db'), alive('work')] };
const SHUT: EventOf = { type: 'peersSeen', peers: [] };
const OVER: EventOf = { type: 'peersSeen', peers: [dead('work', 0)] };
const SPAWNED: EventOf = { type: 'spawned', id: 1, pid: 101 };
const GONE: EventOf = { type: 'rootsGone', id: 1 };
const ASKED = restartAsked(START + 200);
const ended = (id: number, ok: boolean): EventOf => ({ type: 'taskEnded', id, ok, detail: '', output: '' });
const exited = (code: number): EventOf => {
  return { type: 'exited', id: 1, pid: 101, code, signal: undefined, core: false, oom: false };
};
const WAITING: Told = [[0, BOOTED], [0, SHUT]]; // biome-ignore format: a path is a line
const SPAWNING: Told = [[0, BOOTED], [0, OPEN]]; // biome-ignore format: a path is a line
const STARTING: Told = [...SPAWNING, [0, SPAWNED]];
const RUNNING: Told = [...STARTING, [100, ended(1, true)]];
const DRAINING: Told = [...RUNNING, [100, TERM]];
const RESTING: Told = [...RUNNING, [100, ASKED], [0, exited(0)], [0, GONE]];
const FAILING: Told = [...RUNNING, [100, ended(2, false)]];
const HOLDING: Told = [...STARTING, [100, TERM]];

export function rows(): readonly Row[] {
  return [
    row('main, waiting at its gate', MAIN, WAITING),
    row('main, waiting for a sidecar to be ready', MESHED, SPAWNING),
    row('main, being spawned', MAIN, SPAWNING),
    row('main, starting', MAIN, STARTING),
    row('main, running', MAIN, RUNNING),
    row('main, running, nothing to wait for', FREE, STARTING),
    row('main, draining', MAIN, DRAINING),
    row('main, draining until it is quiet', ADAPTIVE, [...STARTING, [100, TERM]]),
    row('main, in pre-stop', MAIN, [...DRAINING, [5_000, { type: 'ticked' }]]),
    row('main, on the ladder', MAIN, [...DRAINING, [5_000, { type: 'ticked' }], [100, ended(3, true)]]),
    row('main, failed, in pre-stop', MAIN, FAILING),
    row('main, failed, on the ladder', MAIN, [...FAILING, [100, ended(3, true)]]),
    row('main, roots left behind', MAIN, [...RUNNING, [100, exited(1)]]),
    row('main, between two lives', MAIN, [...RUNNING, [100, exited(1)], [0, GONE]]),
    row('main, ended for a restart', MAIN, RESTING),
    row('main, dead, quit calls under way', MAIN, [...RUNNING, [100, exited(0)], [0, GONE]]),
    row('main, dead', FREE, [...STARTING, [100, exited(0)], [0, GONE]]),
    row('sidecar, running', SIDECAR, STARTING),
    row('sidecar, holding', SIDECAR, HOLDING),
    row('sidecar, holding, failed, in pre-stop', SIDECAR, [...HOLDING, [100, ended(1, false)]]),
    row('sidecar, holding, between two lives', SIDECAR, [...HOLDING, [100, exited(0)], [0, GONE]]),
    row('sidecar, lingering', SIDECAR, [...STARTING, [100, OVER]]),
    row('sidecar, in pre-stop', SIDECAR, [...HOLDING, [100, OVER], [2_000, { type: 'ticked' }]]),
  ];
}

export function row(title: string, config: MemberConfig, told: Told): Row {
  const now = instant(START);
  let state = initialState({ hostId: HOST_ID, bootId: BOOT, startedAtMs: START, now, solo: false });
  let wakeAtMs: number | undefined;
  for (const [afterMs, event] of told) {
    ({ state, wakeAtMs } = reduce(config, state, { ...event, at: instant(state.now.mono + afterMs) }));
  }
  return { title, config, state, wakeAtMs: nextTurn(config, state, wakeAtMs) };
}

/** A tick may do nothing, so this returns the first moment at which something happens. */
function nextTurn(config: MemberConfig, state: State, wakeAtMs: number | undefined): number | undefined {
  if (wakeAtMs === undefined) return undefined;
  const next = reduce(config, state, { type: 'ticked', at: instant(wakeAtMs) });
  const isNews = next.effects.length > 0 || next.state.phase !== state.phase || next.state.stop !== state.stop;
  return isNews ? wakeAtMs : nextTurn(config, state, next.wakeAtMs);
}
