/**
 * The phase is nothing that is kept: it follows from what is, what is wanted and what is being done about it.
 */
import type { State } from './state.ts';
import type { Phase } from './tombstone.ts';

export function phaseOf({ child, stop, climb }: Pick<State, 'child' | 'stop' | 'climb'>): Phase {
  switch (child.is) {
    case 'unborn':
      return 'waiting';
    case 'spawning':
      return 'starting';
    case 'backoff':
      return 'backoff';
    case 'gone':
      return 'dead';
    case 'alive':
    case 'remnant':
      if (climb !== undefined) return 'stopping';
      if (stop === undefined) return 'running';
      return stop.waitsFor === 'drain' ? 'draining' : 'holding';
    default:
      return child satisfies never;
  }
}
