/**
 * Carries out the effects of the core; nothing else does. A new kind of effect that has no case here does not compile.
 */
import type { Program, SignalTo } from '../config/run-config.ts';
import type { Effect } from '../core/state/events.ts';
import { MAX_OUTPUT_BYTES } from './host/frames.ts';
import type { HostCommand } from './host/host.ts';
import type { Log } from './log/log.ts';
import type { NetworkTasks } from './probes/network-tasks.ts';
import type { TrafficWatcher } from './traffic/traffic.ts';

export interface Means {
  readonly program: Program;
  readonly signalTo: SignalTo;
  readonly log: Log;
  readonly networkTasks: NetworkTasks;
  readonly traffic: TrafficWatcher;
  readonly onExit: (code: number) => void;
}

/** Commands for the commit that belongs to the event, and steps for the time after it. */
type Plan = { readonly commands: readonly HostCommand[]; readonly afterCommit: readonly (() => void)[] };

export function planOf(effects: readonly Effect[], means: Means): Plan {
  const { program, signalTo, log, networkTasks, traffic, onExit } = means;
  const commands: HostCommand[] = [];
  const afterCommit: (() => void)[] = [];
  const plan = (effect: Effect): unknown => {
    switch (effect.type) {
      case 'spawn':
        return commands.push({ ...effect, to: signalTo, program });
      case 'kill':
      case 'stop':
      case 'watchdog':
        return commands.push(effect);
      case 'startTask': {
        const { id, action, timeoutMs } = effect;
        // The host runs commands; what goes over the network is done by this process.
        if (action.kind === 'exec')
          return commands.push({ type: 'exec', id, argv: action.argv, outputLimit: MAX_OUTPUT_BYTES });
        return afterCommit.push(() => void networkTasks.start(id, action, timeoutMs));
      }
      case 'endTask':
        // One of the two knows the task; for the other there is nothing to end.
        afterCommit.push(() => networkTasks.end(effect.id));
        return commands.push({ type: 'endHelper', id: effect.id });
      case 'log':
        return afterCommit.push(() => log.say(effect.level, effect.message, effect.details));
      case 'watchTraffic':
        return afterCommit.push(() => traffic.watch(effect));
      case 'unwatchTraffic':
        return afterCommit.push(() => traffic.close());
      case 'exit':
        return afterCommit.push(() => onExit(effect.code));
      default:
        return effect satisfies never;
    }
  };
  for (const effect of effects) plan(effect);
  return { commands, afterCommit };
}
