/**
 * What is counted over the whole life of a container, across all supervisors: the counters of /metrics. Nothing is decided by them.
 */
import type { Chronicle } from './chronicle.ts';
import type { ProbeKind } from './config.ts';
import type { Event } from './events.ts';
import type { State } from './state.ts';
import { isProbe } from './tasks.ts';

export type Counter = 'supervisors' | 'signals' | 'oomKills' | `${ProbeKind} ${'success' | 'failure'}`;
export type Tally = Readonly<Partial<Record<Counter, number>>>;

/** The chronicle with this event counted. */
export function counted({ chronicle, tasks }: State, event: Event): Chronicle {
  const counter = counterOf(tasks, event);
  if (counter === undefined) return chronicle;
  const { tally } = chronicle;
  return { ...chronicle, tally: { ...tally, [counter]: (tally[counter] ?? 0) + 1 } };
}

function counterOf(tasks: State['tasks'], event: Event): Counter | undefined {
  switch (event.type) {
    case 'booted':
      return 'supervisors';
    case 'signalReceived':
    case 'signalForwarded':
      return 'signals';
    case 'childExited':
      return event.oom ? 'oomKills' : undefined;
    case 'actionEnded': {
      const key = tasks.find(({ id }) => id === event.id)?.key;
      return key !== undefined && isProbe(key) ? `${key} ${event.ok ? 'success' : 'failure'}` : undefined;
    }
    default:
      return undefined;
  }
}
