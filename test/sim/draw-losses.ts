/** Supervisors lost for ever, of one member or of all. Their own dice keep all other seeds what they are. */
import { Dice } from './dice.ts';
import { LOSSES, type Scenario } from './scenario.ts';

export function withLosses(scenario: Scenario): Scenario {
  const dice = new Dice(scenario.seed, 5);
  const { members, faults } = scenario;
  if (!dice.chance(0.12)) return scenario;
  const other = faults[dice.int(faults.length + 1)];
  const atMs = other !== undefined && dice.chance(0.5) ? other.atMs + dice.between(-1_500, 1_500) : dice.int(14_000);
  const one = dice.int(members.length);
  const isOfAll = dice.chance(0.4);
  const how = dice.pick(LOSSES);
  const lost = [...members.keys()].filter((who) => isOfAll || who === one);
  const losses = lost.map((who) => ({ do: 'lose supervisors', atMs: Math.max(0, atMs), who, how }) as const);
  return { ...scenario, faults: [...faults, ...losses].sort((a, b) => a.atMs - b.atMs) };
}
