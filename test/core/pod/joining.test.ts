/**
 * Who is started while a restart in place is under way.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Tombstone } from '../../../src/core/format/tombstone.ts';
import { alive, START, sidecarConfig } from '../helpers.ts';
import { Life } from '../life.ts';

const config = sidecarConfig({ mains: ['work'] });
const told = { RestartRequested: START - 5_000, RestartBy: 'a test' };
const rests = (name: string) => {
  const asked: Partial<Tombstone> = { StopRequested: 'before', StopReason: 'restart requested', Phase: 'waiting' };
  return alive(name, { ...told, ...asked }, { foundAtStart: true });
};

describe('who is started while a restart in place is under way', () => {
  it('takes part', () => {
    const life = new Life({ config, peers: [alive('work', {}, { foundAtStart: true }), rests('other')] }).pass(2_000);
    assert.equal(life.state.stop?.reason, 'restart requested');
  });

  it('does not when another has started again: all had ended then, and its own life is later', () => {
    const again = alive('work', { ...told, PodRestarts: 1 }, { foundAtStart: true });
    const life = new Life({ config, peers: [again, rests('other')] }).pass(60_000);
    assert.deepEqual([life.state.stop, life.spawns, life.signals], [undefined, [0], []]);
  });
});
