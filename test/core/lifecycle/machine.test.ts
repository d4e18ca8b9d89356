/**
 * The two tables of `src/core/lifecycle/lifecycle.ts` against `reduce`: every state of `table/rows.ts`, and all that
 * follow, get every event of `table/columns.ts`.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENTS, RULES, reduce, type Step } from '../../../src/core/lifecycle/lifecycle.ts';
import type { Draft } from '../../../src/core/state/draft.ts';
import type { Event } from '../../../src/core/state/events.ts';
import { ROWS } from '../../../src/core/state/events.ts';
import type { Child } from '../../../src/core/state/state.ts';
import { instant, mainConfig } from '../helpers.ts';
import type { EventOf } from '../host.ts';
import { GROUPS } from '../table/columns.ts';
import { type Row, row, rows } from '../table/rows.ts';

const DEPTH = 4;
/** Not in the published table: a command that asks for no stop signal, and one that is always started again. */
const MORE: readonly Row[] = [
  row(
    'no stop signals',
    mainConfig({ stopSignals: [], startAfter: [{ name: 'db', condition: 'started', optional: false }] }),
    [
      [0, { type: 'booted' }],
      [0, { type: 'peersSeen', peers: [] }],
    ],
  ),
  row('always started again', mainConfig({ gracePeriodMs: 30_000, restart: 'always' }), [
    [0, { type: 'booted' }],
    [0, { type: 'spawned', id: 1, pid: 101 }],
  ]),
];

/** Events that the columns leave out, whether they fit the state or not. */
function moreEvents({ state }: Row): readonly Event[] {
  const id = state.births;
  const events: readonly EventOf[] = [
    ...['ECANCELED', 'EAGAIN'].map((errno) => ({ type: 'spawnFailed', id, errno }) as const),
    { type: 'spawned', id: Math.max(1, id), pid: 101 },
    { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false },
    ...ROWS.map(
      (by) => ({ type: 'ordered', id, row: by, signal: 15, as: 15, senderPid: 0, receiverPid: 101 }) as const,
    ),
    { type: 'told', id, signal: 15, count: 2, pid: 102, why: 'left', name: 'worker', of: '' },
    { type: 'exited', id, pid: 101, code: undefined, signal: 9, core: false, oom: false },
    { type: 'rootsGone', id },
  ];
  return events.map((event) => ({ ...event, at: state.now }));
}

function eventsOf(row: Row): readonly (readonly Event[])[] {
  const late = [1_000, 60_000].map((ms): Event[] => [{ type: 'ticked', at: instant(row.state.now.mono + ms) }]);
  const columns = GROUPS.flatMap((group) => group.columns.map((column) => column.events(row)));
  return [...columns, ...moreEvents(row).map((event) => [event]), ...late].filter((events) => events.length > 0);
}

/** For this test, two states with the same key have the same moves before them. */
function kindOf({ title, state: { child, stop, climb, failing, tasks, peers } }: Row): string {
  const others = Object.values(peers ?? {}).map(({ tombstone }) => [tombstone.Name, tombstone.Died !== undefined]);
  const keys = tasks.map(({ key }) => key);
  const wish = [stop?.waitsFor, stop?.reason, climb?.why, climb?.killed, failing?.why];
  return JSON.stringify([title, child.is, wish, keys, others]);
}

/** By row of the tables: the states from and to which it has moved the child. */
function movesOf(): ReadonlyMap<Step<never>, ReadonlySet<Child['is']>> {
  const moves = new Map<Step<never>, Set<Child['is']>>();
  const steps: readonly Step<never>[] = [...Object.values(EVENTS), ...RULES];
  const watched = steps.map((step) => {
    const { run } = step;
    moves.set(step, new Set());
    const watch = (draft: Draft, input: never, child: Child): void => {
      run(draft, input, child);
      if (draft.state.child.is !== child.is) moves.get(step)?.add(draft.state.child.is);
    };
    Object.assign(step, { run: watch });
    return () => Object.assign(step, { run });
  });
  const known = new Set<string>();
  let front: readonly Row[] = [...rows(), ...MORE];
  for (let depth = 0; depth < DEPTH; depth += 1) {
    front = front.flatMap((from) =>
      eventsOf(from).flatMap((events) => {
        let next = from;
        for (const event of events) next = { ...next, ...reduce(next.config, next.state, event) };
        const kind = kindOf(next);
        if (known.has(kind)) return [];
        known.add(kind);
        return [next];
      }),
    );
  }
  for (const restore of watched) restore();
  return moves;
}

describe('the tables of the state machine', () => {
  const moves = movesOf();
  const sorted = (states: Iterable<Child['is']> = []): readonly string[] => [...states].toSorted();

  it('the tables name for each event where it moves the child', () => {
    for (const [type, step] of Object.entries(EVENTS)) assert.deepEqual(sorted(moves.get(step)), sorted(step.to), type);
  });

  it('the tables name for each rule where it moves the child', () => {
    for (const [index, step] of RULES.entries())
      assert.deepEqual(sorted(moves.get(step)), sorted(step.to), `rule ${index}`);
  });
});
