/** The counters of /metrics, over the whole life of a container and all its supervisors. They decide nothing. */
import type { Chronicle, Counter } from '../state/chronicle.ts';
import type { Event } from '../state/events.ts';
import type { State } from '../state/state.ts';
import { isProbe } from './tasks.ts';

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
    case 'signal':
      return 'signals';
    case 'ordered':
      return event.signal === 0 ? undefined : 'signals';
    case 'exited':
      return event.oom ? 'oomKills' : undefined;
    case 'taskEnded': {
      const key = tasks.find(({ id }) => id === event.id)?.key;
      return key !== undefined && isProbe(key) ? `${key} ${event.ok ? 'success' : 'failure'}` : undefined;
    }
    default:
      return undefined;
  }
}
