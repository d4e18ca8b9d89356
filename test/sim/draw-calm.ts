/**
 * Pods that rest until they are deleted. Init passes a held stop on by itself only where nothing else happens, which
 * chance hardly ever draws. Their own dice keep all other seeds what they are.
 */
import { Dice } from './dice.ts';
import type { MemberScenario, Scenario } from './scenario.ts';

export function withCalm(scenario: Scenario): Scenario {
  const dice = new Dice(scenario.seed, 6);
  if (!dice.chance(0.08)) return scenario;
  const members = scenario.members.map((member) => resting(dice, member));
  const atMs = dice.between(8_000, 12_000);
  return {
    ...scenario,
    members,
    faults: [{ do: 'delete', atMs, evicts: false, graceMs: scenario.graceMs }],
    race: undefined,
    volume: { ...scenario.volume, sockets: true, events: 'prompt', stale: [] },
  };
}

function resting(dice: Dice, member: MemberScenario): MemberScenario {
  const { config, lives } = member;
  const quiet = { hold: { kind: 'always' }, drain: undefined, ladder: undefined, signals: {} } as const;
  const none = { postStart: undefined, preStop: undefined, platformPreStopMs: undefined };
  const isDeaf = dice.chance(config.role === 'sidecar' ? 0.4 : 0.1);
  const probes = { startup: undefined, readiness: undefined, liveness: undefined };
  return {
    ...member,
    config: { ...config, ...quiet, ...none, probes, startAfter: [] },
    kubeletHookMs: 0,
    lives: lives.map(({ on, actions = {} }) => ({
      actions,
      on: { ...on, 15: isDeaf ? 'ignores' : { afterMs: dice.short(1_500), code: 0 } },
    })),
  };
}
