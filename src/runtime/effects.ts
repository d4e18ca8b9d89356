/**
 * From what the core wants done to what the host is told, and from what the host reports to what the core understands.
 */
import type { MemberConfig } from '../core/config.ts';
import { ladderOf } from '../core/ladder.ts';
import { SIGTERM } from '../core/signals.ts';
import type { Effect, Event } from '../core/state.ts';
import type { Instant } from '../core/time.ts';
import type { HostCommand, HostEvent, Program } from './host/host.ts';

export function commandsOf(effects: readonly Effect[], program: Program): readonly HostCommand[] {
  return effects.flatMap((effect): HostCommand[] => {
    switch (effect.type) {
      case 'spawnChild':
        return [{ type: 'spawn', id: effect.id, program }];
      case 'signalChild':
        return [{ type: 'kill', id: effect.id, signal: effect.signal }];
      case 'forwardStopOnce':
        return [{ type: 'once', id: effect.id, table: effect.table }];
      case 'forwardSignals':
        return [{ type: 'forward', id: effect.id, table: effect.table }];
      case 'sweepStrays':
        return [{ type: 'sweep', signal: effect.signal }];
      case 'runAction':
      case 'endAction':
      // Said and done by the supervisor itself; leaving waits for the tombstone.
      case 'log':
      case 'exitContainer':
        return [];
      default:
        return effect satisfies never;
    }
  });
}

/** What the host does should no supervisor ever come back: the ladder has but its first rung then. */
export function fallbackOf(config: MemberConfig): HostCommand {
  const [{ signal }] = ladderOf(config, SIGTERM);
  return {
    type: 'fallback',
    stopSignals: config.stopSignals,
    signal: config.ladder === undefined && signal === SIGTERM ? undefined : signal,
    graceMs: config.gracePeriodMs,
  };
}

export function coreEventOf(event: HostEvent, at: Instant): Event {
  switch (event.type) {
    case 'signal':
      return {
        type: 'signalReceived',
        at,
        signal: event.signal,
        senderPid: event.senderPid,
        fromTerminal: event.fromTerminal,
      };
    case 'forwarded':
      return { type: 'signalForwarded', at, signal: event.signal, as: event.as, senderPid: event.senderPid };
    case 'spawned':
      return { type: 'childSpawned', at, id: event.id, pid: event.pid };
    case 'spawnFailed':
      return { type: 'childSpawnFailed', at, id: event.id, errno: event.errno };
    case 'exited':
      return {
        type: 'childExited',
        at,
        id: event.id,
        exit: { code: event.code, signal: event.signal },
        core: event.core,
        oom: false,
      };
    case 'groupGone':
      return { type: 'groupEmptied', at, id: event.id, strays: event.strays };
    case 'straysGone':
      return { type: 'straysGone', at };
    case 'helperEnded':
      return { type: 'actionEnded', at, id: event.id, ok: event.code === 0, detail: '', output: event.output };
    default:
      return event satisfies never;
  }
}
