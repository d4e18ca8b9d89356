/** The table and the picture of `docs/internals/states.md` are what the core does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EVENTS, reduce } from '../../src/core/lifecycle/lifecycle.ts';
import { allCells, regenerate } from './table/markdown.ts';
import { rows } from './table/rows.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/internals/states.md');

describe('docs/internals/states.md', () => {
  it('states.md shows the states and events of the core as they are', () => {
    const document = readFileSync(DOCUMENT, 'utf8');
    const isSame = regenerate(document) === document;
    assert.ok(
      isSame,
      'docs/internals/states.md differs from the core: run `node test/core/table/write.ts` and read what changed',
    );
  });

  it('states.md has a row for each phase and each state of the child', () => {
    const all = rows().map(({ state }) => state);
    const phases = ['waiting', 'starting', 'running', 'holding', 'draining', 'stopping', 'backoff', 'dead'];
    assert.deepEqual([...new Set(all.map(({ phase }) => phase))].toSorted(), phases.toSorted());
    const kinds = ['unstarted', 'spawning', 'alive', 'roots', 'backoff', 'gone'];
    assert.deepEqual([...new Set(all.map(({ child }) => child.is))].toSorted(), kinds.toSorted());
  });

  it('states.md has one row for each state, and a column for each event', () => {
    const titles = rows().map(({ title }) => title);
    assert.equal(new Set(titles).size, titles.length);
    const types = new Set(allCells().flatMap(({ row, column }) => column.events(row).map(({ type }) => type)));
    // Without what the host has done by itself, and what is read once.
    const told = Object.keys(EVENTS).filter(
      (type) => !['overdue', 'stopSent', 'told', 'generationRead'].includes(type),
    );
    assert.deepEqual([...types].toSorted(), told.toSorted());
  });

  it('states.md says `-` only where the same event twice changes nothing, too', () => {
    for (const { row, column, cell } of allCells()) {
      if (cell.text !== '-') continue;
      let { state } = row;
      for (const event of [...column.events(row), ...column.events(row)]) {
        const reduction = reduce(row.config, state, event);
        state = reduction.state;
        const done = reduction.effects.filter(({ type }) => type !== 'log');
        assert.deepEqual(done, [], `${row.title}: ${column.title}`);
      }
      assert.equal(state.phase, row.state.phase);
    }
  });
});
