import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig, Reload } from '../../../src/core/config.ts';
import { command, fixed, mainConfig } from '../helpers.ts';
import type { ChildScript, Run } from '../host.ts';
import { Life, sidecar } from '../life.ts';

const HUP = 1;
const USR1 = 10;
const plain = (path: string, signal = HUP): Reload => ({ path, signal, validate: undefined });
const validated = (path: string): Reload => ({ path, signal: HUP, validate: command('validate') });
const HARDY = { 1: 'ignores', 10: 'ignores' } as const;
function main(reload: readonly Reload[], validate: readonly Run[] = [], change: Partial<MemberConfig> = {}): Life {
  const child: ChildScript = { on: HARDY, actions: { validate } };
  return new Life({ config: mainConfig({ reload, ...change }), peers: [], child }).pass(1_000);
}
const changed = (life: Life, index = 0): Life => life.feed({ type: 'fileChanged', index });

describe('a changed file', () => {
  it('a changed file is announced to the child by its signal, once for each change', () => {
    const life = changed(changed(main([plain('/a'), plain('/b', USR1)])).pass(50), 1).pass(5_000);
    assert.equal(life.sent, '1000 HUP, 1050 USR1');
    const events = life.tombstone.History?.flatMap(({ Event, Path }) => (Event === 'file changed' ? [Path] : []));
    assert.deepEqual(events, ['/a', '/b']);
  });

  it('a changed file is announced in a hold, in a drain and during pre-stop, too', () => {
    const held = new Life(sidecar({ reload: [plain('/a')] }, { on: HARDY }));
    assert.deepEqual(changed(held.signal(15).pass(3_000)).signals, [[3_000, HUP]]);
    const drained = main([plain('/a')], [], { drain: fixed(9_000) })
      .signal(15)
      .pass(500);
    assert.deepEqual(changed(drained).signals, [[1_500, HUP]]);
    const hooked = main([plain('/a')], [], { preStop: { kind: 'sleep', ms: 9_000 } })
      .signal(15)
      .pass(500);
    assert.deepEqual(changed(hooked).signals, [[1_500, HUP]]);
  });

  it('a changed file is not announced to a child that does not run', () => {
    const between = main([plain('/a')], [], { restart: 'always' }).endChild(1);
    assert.deepEqual(changed(between).pass(5_000).signals, []);
    assert.deepEqual(changed(main([plain('/a')]).endChild(0)).signals, []);
  });

  it('a change of an undeclared file changes nothing', () => {
    const life = main([plain('/a')]).feed({ type: 'ticked' });
    const before = life.state;
    assert.deepEqual(changed(life, 3).state, before);
  });
});

describe('a validation', () => {
  it('the signal follows a validation that succeeds', () => {
    const life = changed(main([validated('/a')], [{ afterMs: 300, ok: true }]));
    assert.deepEqual([life.runsOf('validate'), life.signals], [[1_000], []]);
    assert.deepEqual(life.pass(300).signals, [[1_300, HUP]]);
  });

  it('a validation that fails holds the signal back, with a line in the log', () => {
    const life = changed(main([validated('/a')], [{ afterMs: 300, ok: false }])).pass(60_000);
    assert.deepEqual(life.signals, []);
    assert.ok(life.logs.some((line) => line.startsWith('error: not telling the command that /a has changed')));
    assert.equal(life.tombstone.History?.at(-1)?.Event, 'reload refused');
  });

  it('the next change supersedes a validation, and one signal follows both', () => {
    const life = main([validated('/a')], [{ afterMs: 300, ok: true }]);
    changed(changed(life).pass(200)).pass(5_000);
    assert.deepEqual([life.runsOf('validate'), life.endsOf('validate')], [[1_000, 1_200], [1_200]]);
    assert.deepEqual(life.signals, [[1_500, HUP]]);
  });

  it('a validation of one file does not supersede that of another', () => {
    const life = main([validated('/a'), validated('/b')], [{ afterMs: 300, ok: true }]);
    changed(changed(life).pass(200), 1).pass(5_000);
    assert.equal(life.sent, '1300 HUP, 1500 HUP');
  });

  it('a validation that takes longer than 30 s is ended, and fails', () => {
    const life = changed(main([validated('/a')], ['never'])).pass(29_999);
    assert.deepEqual(life.endsOf('validate'), []);
    assert.deepEqual([life.pass(1).endsOf('validate'), life.pass(60_000).signals], [[31_000], []]);
  });

  it('a validation is over with its child, and signals no next one', () => {
    const life = changed(main([validated('/a')], [{ afterMs: 300, ok: true }], { restart: 'always' }));
    life.pass(100).endChild(1).pass(5_000);
    assert.deepEqual([life.endsOf('validate'), life.signals, life.spawns], [[1_100], [], [0, 1_200]]);
  });
});
