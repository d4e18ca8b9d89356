/** Whether a member is alive, started and ready, for /livez, /startupz and /readyz, and what it waits for, in words. */
import type { MemberConfig } from '../../config.ts';
import { gatesOf } from '../../pod/gates.ts';
import { blockersOf } from '../../pod/order.ts';
import { isRestarting } from '../../pod/restart.ts';
import { signalName } from '../../signals.ts';
import type { Child, State } from '../../state/state.ts';

export interface Verdict {
  readonly ok: boolean;
  /** In a few words, fit for the public. */
  readonly why: string;
}

/** Whether a stop request takes readiness away at once, or only the end of the drain does. */
export type OnDrain = 'keep' | 'fail';

/**
 * Not alive is only a command that survives KILL, as nothing here can repair that. A member that is being stopped or
 * restarted is alive: a platform that killed it now would cut its grace period short.
 */
export function livenessOf({ climb, child, now }: State): Verdict {
  const isStuck = climb?.killed === true && child.is === 'alive' && now.mono - climb.sinceMs >= STUCK_MS;
  return isStuck ? { ok: false, why: 'KILL was sent and the command is still there' } : { ok: true, why: 'ok' };
}

const STUCK_MS = 10_000;

/** Whether the startup probe and post-start of this life are done. */
export function startednessOf({ child, chronicle }: State): Verdict {
  if (child.is !== 'alive') return { ok: false, why: NOT_ALIVE[child.is] };
  return chronicle.started === undefined ? { ok: false, why: 'starting' } : { ok: true, why: 'ok' };
}

export function readinessOf(state: State, onDrain: OnDrain): Verdict {
  const started = startednessOf(state);
  if (!started.ok) return started;
  // The stop signal was sent: the command will soon refuse new connections.
  if (state.climb !== undefined) return { ok: false, why: 'stopping' };
  // In a pod that is not being deleted, only this stops further requests.
  if (isRestarting(state)) return { ok: false, why: 'asked to restart' };
  if (onDrain === 'fail' && (state.stop !== undefined || state.failing !== undefined))
    return { ok: false, why: 'asked to stop' };
  if (state.notified?.stopping === true) return { ok: false, why: 'the command says that it stops' };
  if (state.notified?.reloading === true) return { ok: false, why: 'the command says that it reloads' };
  return state.chronicle.healthy === undefined
    ? { ok: false, why: 'the readiness probe has not succeeded' }
    : { ok: true, why: 'ok' };
}

const NOT_ALIVE: Readonly<Record<Exclude<Child['is'], 'alive'>, string>> = {
  unstarted: 'waiting to start',
  spawning: 'starting',
  roots: 'the command has ended',
  backoff: 'waiting to be restarted',
  gone: 'the command has ended',
};

/** What the member waits for; undefined: it runs and waits for nothing. */
export function waitsFor(config: MemberConfig, state: State): string | undefined {
  const { child, climb, stop } = state;
  switch (child.is) {
    case 'unstarted': {
      if (state.peers === undefined) return 'the first look at the graveyard';
      const gates = gatesOf(config, state);
      return gates.is === 'shut' ? gates.waitsFor : 'the start of the command';
    }
    case 'spawning':
      return 'the start of the command';
    case 'backoff':
      return `the restart of the command in ${Math.max(0, Math.ceil((child.untilMs - state.now.mono) / 1_000))} s`;
    case 'gone':
      return state.tasks.length > 0 ? 'the answers to quit calls' : 'the end of the container';
    case 'roots':
      return 'processes that the command has left behind';
    case 'alive':
      if (climb !== undefined) return `the end of the command after ${lastSignal(state)}`;
      if (stop?.waitsFor !== undefined) return STOP_WAITS[stop.waitsFor](config, state);
      return startWaits(config, state);
    default:
      return child satisfies never;
  }
}

const STOP_WAITS = {
  turn: (config: MemberConfig, state: State) => {
    const { names } = blockersOf(config, state);
    return names.length === 0
      ? 'the other members to appear'
      : `the end of ${names.slice(0, MAX_BLOCKER_NAMES).join(', ')}`;
  },
  drain: () => 'the end of the drain',
  linger: () => 'the end of the linger time',
  'pre-stop': () => 'the pre-stop hook',
} as const;

const MAX_BLOCKER_NAMES = 8;

function startWaits(
  { probes, postStart, notifies }: MemberConfig,
  { chronicle, hooks, vitals, notified }: State,
): string | undefined {
  if (chronicle.healthy !== undefined || notified?.stopping === true) return undefined;
  if (probes.startup !== undefined && vitals.startup?.verdict !== 'up') return 'the startup probe';
  if (postStart !== undefined && hooks.postStart?.ok !== true) return 'the post-start hook';
  if (notifies && (notified?.ready !== true || notified.reloading === true)) return 'READY=1 of the command';
  return 'the readiness probe';
}

function lastSignal({ chronicle }: State): string {
  const signal = chronicle.stages.at(-1)?.signal;
  return signal === undefined ? 'the stop signal' : signalName(signal);
}
