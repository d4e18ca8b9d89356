/** Makes a failing run smaller while it fails in the same way: fewer faults and members, simpler members and volume. */
import { mainConfig, sidecarConfig } from '../core/helpers.ts';
import type { Fault, MemberScenario, Scenario } from './scenario.ts';

export async function shrink(
  scenario: Scenario,
  fails: (scenario: Scenario) => boolean | Promise<boolean>,
): Promise<Scenario> {
  let best = scenario;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smaller(best)) {
      if (!(await fails(candidate))) continue;
      best = candidate;
      isSmaller = true;
      break;
    }
  }
  return best;
}

function* smaller(scenario: Scenario): Generator<Scenario> {
  const { faults, members, volume, race } = scenario;
  if (race !== undefined) yield { ...scenario, race: undefined };
  for (const index of faults.keys()) yield { ...scenario, faults: faults.toSpliced(index, 1) };
  for (let index = members.length - 1; index >= 0 && members.length > 1; index -= 1) yield without(scenario, index);
  for (const simpler of simplerOf(volume, VOLUME)) yield { ...scenario, volume: simpler };
  for (const [index, member] of members.entries())
    for (const simpler of simplerMembers(member)) yield { ...scenario, members: members.with(index, simpler) };
}

function without(scenario: Scenario, gone: number): Scenario {
  const name = scenario.members[gone]?.config.name;
  const members = scenario.members.toSpliced(gone, 1).map((member) => {
    const startAfter = member.config.startAfter.filter((gate) => gate.name !== name);
    const mains = member.config.mains.filter((main) => main !== name);
    return { ...member, config: { ...member.config, startAfter, mains } };
  });
  const faults = scenario.faults.flatMap((fault): Fault[] => {
    if (!('who' in fault)) return [fault];
    if (fault.who === gone) return [];
    return [{ ...fault, who: fault.who > gone ? fault.who - 1 : fault.who }];
  });
  const race = scenario.race?.who === gone ? undefined : scenario.race;
  const after = race !== undefined && race.who > gone ? { ...race, who: race.who - 1 } : race;
  const stale = scenario.volume.stale.filter((one) => one.name !== name);
  return { ...scenario, members, faults, race: after, volume: { ...scenario.volume, stale } };
}

/** Sets one option at a time back to its default, but none that members know each other by, or must agree on. */
function* simplerMembers(member: MemberScenario): Generator<MemberScenario> {
  const { config, lives } = member;
  const usual: typeof config = config.role === 'main' ? mainConfig() : sidecarConfig();
  const { name: _name, role: _role, mains: _mains, session: _session, restartPolicy: _policy, ...own } = usual;
  for (const simpler of simplerOf(config, own)) yield { ...member, config: simpler };
  yield* simplerOf(member, MEMBER);
  if (lives.length > 1) yield { ...member, lives: lives.slice(0, -1) };
  for (const [index, life] of lives.entries())
    for (const key of ['children', 'program', 'endsChildren', 'endsWithChildren', 'errno', 'actions', 'on'] as const) {
      const { [key]: dropped, ...rest } = life;
      if (dropped !== undefined) yield { ...member, lives: lives.with(index, rest) };
    }
}

const VOLUME = { stale: [], events: 'prompt', latencyMs: 1, inMemory: false } as const;
const MEMBER = { skewMs: 0, kubeletHookMs: 0, startsAtOnce: false, startMs: 0, bootMs: 20, signalTo: 'tree' } as const;

/** It with one of these values at a time. */
function* simplerOf<T extends object>(of: T, usual: Partial<T>): Generator<T> {
  for (const key of Object.keys(usual) as (keyof T)[])
    if (JSON.stringify(of[key]) !== JSON.stringify(usual[key])) yield { ...of, [key]: usual[key] };
}
