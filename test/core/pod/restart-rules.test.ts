/** R: restart rules of a container, which start it again whatever the policy, and what its sidecars make of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig, RestartRule } from '../../../src/core/config.ts';
import { alive, dead, lost, mainConfig, START, sidecarConfig } from '../helpers.ts';
import { Life, sidecar } from '../life.ts';

const ON_42: RestartRule = { action: 'restart', codes: [42], except: false };
const ON_FAILURE: RestartRule = { action: 'restart', codes: [0], except: true };
const ALL_ON_88: RestartRule = { action: 'restart-all', codes: [88], except: false };

describe('restart rules', () => {
  it('R01 an end that a rule restarts is not final, whatever the policy', () => {
    assert.equal(finalOf(42, { restartRules: [ON_42] }), false);
    assert.equal(finalOf(88, { restartRules: [ON_42, ALL_ON_88] }), false);
    assert.equal(finalOf(0, { restartPolicy: 'OnFailure', restartRules: [{ ...ON_42, codes: [0] }] }), false);
  });

  it('R02 an end that no rule matches is judged by the policy', () => {
    assert.equal(finalOf(1, { restartRules: [ON_42] }), true);
    assert.equal(finalOf(1, { restartPolicy: 'OnFailure', restartRules: [ON_42] }), false);
    assert.equal(finalOf(0, { restartPolicy: 'OnFailure', restartRules: [ON_42] }), true);
  });

  it('R03 NotIn matches every code but those it names', () => {
    assert.equal(finalOf(0, { restartRules: [ON_FAILURE] }), true);
    assert.equal(finalOf(7, { restartRules: [ON_FAILURE] }), false);
    const neither: RestartRule = { action: 'restart', codes: [0, 3], except: true };
    assert.deepEqual([finalOf(3, { restartRules: [neither] }), finalOf(4, { restartRules: [neither] })], [true, false]);
  });

  it('R04 the policy that a main declares counts for its sidecars', () => {
    assert.equal(finalOf(1, { restartPolicy: 'OnFailure' }), false);
    const life = new Life(sidecar({ restartPolicy: 'Never' }));
    life.see(dead('work', 1, { RestartPolicy: 'OnFailure' })).pass(60_000);
    assert.deepEqual([life.phase, life.signals], ['running', []]);
  });

  it('R01 the rule looks at the code that the container exits with', () => {
    const exitCode = { kind: 'map', codes: { 7: 42, 42: 1 } } as const;
    assert.equal(finalOf(7, { restartRules: [ON_42], exitCode }), false);
    assert.equal(finalOf(42, { restartRules: [ON_42], exitCode }), true);
  });

  it('R01 a tombstone says whether a rule restarts after a KILL', () => {
    const declared = (restartRules: readonly RestartRule[]) =>
      new Life({ config: mainConfig({ restartRules }) }).tombstone.RestartsIfKilled;
    assert.deepEqual([declared([]), declared([ON_42]), declared([ON_FAILURE])], [undefined, undefined, true]);
    for (const [RestartsIfKilled, phase] of [
      [true, 'running'],
      [false, 'dead'],
    ] as const) {
      const life = new Life(sidecar());
      life.see(lost('work', START, { RestartPolicy: 'Never', RestartsIfKilled })).pass(10_000);
      assert.equal(life.phase, phase);
    }
  });

  it('R01 `auto` leaves an end to the platform that a rule restarts', () => {
    const spawnsAfter = (code: number) =>
      new Life(sidecar({ restartRules: [ON_42] })).endChild(code).pass(1_000).spawns.length;
    assert.deepEqual([spawnsAfter(42), spawnsAfter(1)], [1, 2]);
  });
});

describe('a restart of all containers', () => {
  const ours = { Session: 'ours', Final: true } as const;
  const before = { ...ours, DiedMonotonic: START - 500, Generation: 'one' } as const;
  const found = { foundAtStart: true };
  const config = sidecarConfig({ session: 'ours', mains: ['work'] });
  const reborn = { Session: 'ours', Generation: 'two', Incarnation: 'again-1' };

  it('R05 a death of the generation before does not count', () => {
    const life = new Life({ config, generation: 'two', peers: [dead('work', 0, before, found)] }).pass(60_000);
    assert.deepEqual([life.phase, life.signals, life.tombstone.Generation], ['running', [], 'two']);
    life
      .see(alive('work', reborn))
      .pass(1_000)
      .see(dead('work', 0, { ...before, ...reborn, DiedMonotonic: START + 61_000 }));
    assert.equal(life.exitCode, 0);
  });

  const { Generation: _, ...undated } = before;
  const watcher = alive('watch', { Session: 'ours', RestartsAll: true });

  it('R05, R06 a death of this generation counts at once where no rule restarts all', () => {
    for (const [restartRules, generation, death] of [
      [[ALL_ON_88], 'one', before],
      [[ON_42], undefined, undated],
    ] as const) {
      const peers = [dead('work', 0, death, found)];
      const life = new Life({ config: { ...config, restartRules }, peers, ...(generation && { generation }) });
      assert.deepEqual([life.exitCode, life.spawns], [0, []]);
    }
  });

  it('R06 a found death without a generation is doubted for 10 s if all may have been restarted', () => {
    for (const [restartRules, others, generation] of [
      [[ALL_ON_88], [], undefined],
      [[], [watcher], undefined],
      [[], [], 'two'],
    ] as const) {
      const peers = [dead('work', 0, undated, found), ...others];
      const life = new Life({ config: { ...config, restartRules }, peers, ...(generation && { generation }) }).pass(
        9_999,
      );
      assert.deepEqual([life.phase, life.signals], ['running', []]);
      life.see(alive('work', { Session: 'ours', Incarnation: 'again-1' }), ...others).pass(60_000);
      assert.deepEqual([life.phase, life.signals], ['running', []]);
    }
  });

  it('R06 the doubt ends after 10 s, and spares members that were seen alive', () => {
    const doubting = { ...config, restartRules: [ALL_ON_88] };
    const late = new Life({ config: doubting, peers: [dead('work', 0, undated, found)] }).pass(10_001);
    assert.equal(late.exitCode, 0);
    const seen = new Life({ config: doubting, peers: [alive('work', { Session: 'ours' })] });
    assert.equal(seen.pass(100).see(dead('work', 0, { ...undated, DiedMonotonic: START + 100 })).exitCode, 0);
  });
});

describe('a main that is started again when its sidecars have left', () => {
  const departed = { Role: 'sidecar', StopReason: 'mains finished', DiedMonotonic: START - 1, Final: true } as const;
  const found = { foundAtStart: true };
  const errorsOf = (life: Life) => life.logs.filter((line) => line.startsWith('error'));
  const config = mainConfig({ session: 'ours' });
  const ours = { ...departed, Session: 'ours' };

  it('J11 a main names once the sidecars that have left for good', () => {
    const peers = [dead('proxy', 0, ours, found), dead('logs', 0, ours, found)];
    const life = new Life({ config, peers }).pass(10_000).see(...peers);
    assert.equal(errorsOf(life).length, 1);
    assert.match(errorsOf(life)[0] ?? '', /sidecars have left for good .*: proxy, logs; check that --restart-policy/);
  });

  it('J11 a main does not name sidecars that left otherwise or come back', () => {
    for (const change of [
      { Mains: ['other'] },
      { Final: false },
      { StopReason: 'signal TERM' },
      { Mains: [] },
      { Session: 'theirs' },
    ]) {
      const life = new Life({ config, peers: [dead('proxy', 0, { ...ours, ...change }, found)] }).pass(20_000);
      assert.deepEqual(errorsOf(life), [], JSON.stringify(change));
    }
  });

  it('J11 a main without a session waits until the death counts', () => {
    const life = new Life({ config: mainConfig(), peers: [dead('proxy', 0, departed, found)] });
    assert.deepEqual(errorsOf(life.pass(9_999)), []);
    assert.equal(errorsOf(life.pass(2)).length, 1);
  });
});

function finalOf(code: number, change: Partial<MemberConfig>): boolean | undefined {
  return new Life({ config: mainConfig(change) }).endChild(code).tombstone.Final;
}
