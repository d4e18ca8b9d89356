import { isDeepStrictEqual } from 'node:util';
import type { Phase } from '../../../src/core/format/tombstone.ts';
import { reduce } from '../../../src/core/lifecycle/lifecycle.ts';
import { signalName } from '../../../src/core/signals.ts';
import type { Effect } from '../../../src/core/state/events.ts';
import type { State } from '../../../src/core/state/state.ts';
import { nameOf } from '../host.ts';
import type { Column } from './columns.ts';
import type { Row } from './rows.ts';

export interface Cell {
  readonly from: Phase;
  readonly to: Phase;
  readonly text: string;
}

/** undefined: that cannot come in this state. */
export function cellOf(row: Row, column: Column): Cell | undefined {
  const events = column.events(row);
  if (events.length === 0) return undefined;
  let state = row.state;
  const steps: string[] = [];
  for (const event of events) {
    const before = state;
    const reduction = reduce(row.config, state, event);
    state = reduction.state;
    steps.push(...reduction.effects.flatMap((effect) => wordsOf(before, effect)));
  }
  const [before, after] = [placeOf(row.state), placeOf(state)];
  const place = before === after ? [] : [`**${after}**`];
  const isKept = isDeepStrictEqual(essence(row.state), essence(state));
  const parts = [...place, ...steps];
  const text = parts.length > 0 ? parts.join(', ') : isKept ? '-' : 'noted';
  return { from: row.state.phase, to: state.phase, text };
}

/** Where in its life a member is: finer than its phase. */
export function placeOf(state: State): string {
  const { child, stop, climb, failing } = state;
  switch (child.is) {
    case 'unstarted':
      return 'waiting';
    case 'spawning':
      return 'spawning';
    case 'backoff':
      return 'backoff';
    case 'gone':
      return state.tasks.length > 0 ? 'dead, quitting' : 'dead';
    case 'roots':
      return 'roots left';
    case 'alive':
      if (climb !== undefined) return climb.why === 'failing' ? 'failing' : 'stopping';
      if (failing !== undefined && stop?.waitsFor !== 'pre-stop') return 'failing';
      if (stop === undefined) return state.phase;
      return { turn: 'holding', drain: 'draining', linger: 'lingering', 'pre-stop': 'pre-stop' }[
        stop.waitsFor ?? 'turn'
      ];
    default:
      return child satisfies never;
  }
}

function wordsOf(before: State, effect: Effect): readonly string[] {
  switch (effect.type) {
    case 'spawn':
      return ['spawn'];
    case 'kill':
    case 'stop':
      return [`signal ${signalName(effect.signal).slice(3)}`];
    case 'startTask':
      return [`run ${['quit', 'ready'].includes(effect.action.kind) ? effect.action.kind : nameOf(effect.action)}`];
    case 'endTask':
      return [`end ${wordOf(before, effect.id)}`];
    case 'exit':
      return [`exit ${effect.code}`];
    case 'watchTraffic':
      return ['watch connections'];
    case 'unwatchTraffic':
      return ['watch them no more'];
    // Orders for what init may do later, and texts. Nothing happens by them now.
    case 'watchdog':
    case 'log':
      return [];
    default:
      return effect satisfies never;
  }
}

function wordOf({ tasks }: State, action: number): string {
  const key = tasks.find(({ id }) => id === action)?.key ?? '';
  return key === 'preStop' ? 'pre-stop' : key.replace(/ \d+$/, '');
}

/** The part of a state that decides what comes next: no records and no time. */
function essence(state: State): object {
  const {
    now: _now,
    lookedMs: _looked,
    said: _said,
    chronicle: _chronicle,
    peers: _peers,
    hasCaughtUp: _awake,
    ...rest
  } = state;
  return rest;
}
