/**
 * Restarts in place, added to a scenario that was drawn without them. They come from `sexton restart` at any moment,
 * two at once, for the pod or for some members, and from what a main declares. They have dice of their own, so that all
 * other seeds stay what they are.
 */
import { Dice } from './dice.ts';
import { RESTART_ALL_CODE } from './draw-members.ts';
import type { Fault, MemberScenario, Scenario } from './scenario.ts';

/** What two restarts may take: a grace period of 30 s each, and 30 s in which the platform may restart all. */
export const RESTARTED_MS = 120_000;

export function withRestarts(scenario: Scenario): Scenario {
  const dice = new Dice(scenario.seed, 3);
  if (!dice.chance(0.3)) return scenario;
  const members = scenario.members.map((member) => withCauses(dice, member));
  const isQuiet = dice.chance(0.4);
  const kept = isQuiet ? [] : scenario.faults;
  const restarts = Array.from({ length: dice.pick([0, 1, 1, 1, 1, 2, 2, 3]) }, () => drawRestart(dice, members, kept));
  const [first] = restarts;
  const close =
    first !== undefined && dice.chance(0.2)
      ? [{ ...drawRestart(dice, members, kept), atMs: first.atMs + dice.int(30) }]
      : [];
  const faults = [...kept, ...restarts, ...close].sort((a, b) => a.atMs - b.atMs);
  return { ...scenario, members, faults, lastMs: scenario.lastMs + RESTARTED_MS };
}

function withCauses(dice: Dice, member: MemberScenario): MemberScenario {
  const { config } = member;
  if (config.role !== 'main' || !dice.chance(0.25)) return member;
  const restartPodOn = {
    codes: dice.chance(0.7) ? [7] : [],
    liveness: config.probes.liveness !== undefined,
    max: undefined,
  };
  return { ...member, config: { ...config, restartPodOn } };
}

function drawRestart(dice: Dice, members: readonly MemberScenario[], faults: readonly Fault[]): Fault {
  const other = faults[dice.int(faults.length + 1)];
  const atMs =
    other === undefined || dice.chance(0.4) ? dice.int(14_000) : Math.max(0, other.atMs + dice.between(-1_500, 1_500));
  const some = members.filter(() => dice.chance(0.6)).map(({ config }) => config.name);
  const isForSome = some.length > 0 && dice.chance(0.25);
  return {
    do: 'sexton restart',
    atMs,
    graceMs: dice.chance(0.5) ? undefined : dice.pick([1_500, 4_000]),
    among: isForSome ? some : undefined,
    byRule: !isForSome && dice.chance(0.15) ? RESTART_ALL_CODE : undefined,
  };
}
