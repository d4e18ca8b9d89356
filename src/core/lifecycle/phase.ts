/** The phase in the tombstone. It is not stored: it follows from the actual state, the desired state and the climb. */
import type { Phase } from '../format/tombstone.ts';
import type { State } from '../state/state.ts';

type Known = Pick<State, 'child' | 'stop' | 'climb' | 'failing' | 'chronicle'>;

export function phaseOf({ child, stop, climb, failing, chronicle }: Known): Phase {
  switch (child.is) {
    case 'unstarted':
      return 'waiting';
    case 'spawning':
      return 'starting';
    case 'backoff':
      return 'backoff';
    case 'gone':
      return 'dead';
    case 'alive':
    case 'roots':
      if (climb !== undefined || failing !== undefined) return 'stopping';
      // What a stop waits for is unknown before the supervisor has seen the others.
      if (stop?.waitsFor === undefined) return chronicle.started === undefined ? 'starting' : 'running';
      return stop.waitsFor === 'drain' || stop.waitsFor === 'pre-stop' ? 'draining' : 'holding';
    default:
      return child satisfies never;
  }
}
