/**
 * From a seed to a scenario. Small pods are drawn far more often than large ones, and few faults more often than many.
 * Most defects show in small ones, and those run fast.
 */
import type { RestartPolicy } from '../../src/core/config.ts';
import { Dice } from './dice.ts';
import { drawFaults } from './draw-faults.ts';
import { drawMembers } from './draw-members.ts';
import { drawRace, withCalm, withLosses, withRestarts, withTypos } from './draw-more.ts';
import { withTrees } from './draw-trees.ts';
import { lengthOf, type MemberScenario, type Scenario, type Stale, type VolumeScenario } from './scenario.ts';

export function draw(seed: number): Scenario {
  const dice = new Dice(seed);
  const policy = dice.pick<RestartPolicy>(['Never', 'Never', 'Never', 'OnFailure', 'OnFailure', 'Always']);
  const graceMs = dice.pick([2_000, 5_000, 5_000, 10_000, 30_000]);
  const session = dice.chance(0.7) ? `pod-${seed}` : undefined;
  const begins = dice.chance(0.3);
  const members = drawMembers(dice, { policy, graceMs, session, hasRules: dice.chance(0.3) });
  const faults = drawFaults(dice, { members, graceMs, session, begins });
  const lastMs = Math.max(14_000 + dice.int(12_000), ...faults.map((fault) => fault.atMs + lengthOf(fault) + 4_000));
  const volume = drawVolume(dice, members, session !== undefined);
  const backoffMs = dice.pick([100, 1_000, 5_000]);
  const race = drawRace(seed, members);
  const plain = { seed, policy, graceMs, backoffMs, begins, volume, members, faults, race, lastMs };
  return withTrees(withTypos(withCalm(withLosses(withRestarts(plain)))));
}

function drawVolume(dice: Dice, members: readonly MemberScenario[], hasSession: boolean): VolumeScenario {
  return {
    sockets: dice.chance(0.95),
    events: dice.pick(['prompt', 'prompt', 'prompt', 'slow', 'lossy', 'none']),
    latencyMs: dice.pick([1, 1, 4, 20]),
    inMemory: dice.chance(0.3),
    stale: dice.chance(0.25) ? members.flatMap((member) => drawStale(dice, member, hasSession)) : [],
  };
}

function drawStale(dice: Dice, { config }: MemberScenario, hasSession: boolean): readonly Stale[] {
  if (dice.chance(0.4)) return [];
  const is = dice.pick<Stale['is']>(['dead', 'dead', 'alive', 'garbage', 'empty', 'half', 'kubexit']);
  const other = hasSession ? 'another session' : 'another boot';
  const of = dice.pick<Stale['of']>(['another boot', 'an earlier life', other]);
  return [{ name: config.name, is, of }];
}
