/**
 * What is added to a scenario that was drawn without it. Each part has dice of its own, so that all other seeds stay
 * what they are.
 */
import { Dice } from './dice.ts';
import { byTime, drawGrace, drawNames } from './draw-faults.ts';
import { RESTART_ALL_CODE } from './draw-members.ts';
import { type Fault, LOSSES, type MemberScenario, type Race, type Scenario } from './scenario.ts';

/**
 * Pods that rest until they are deleted. Init passes a held stop on by itself only where nothing else happens, which
 * chance hardly ever draws.
 */
export function withCalm(scenario: Scenario): Scenario {
  const dice = new Dice(scenario.seed, 6);
  if (!dice.chance(0.08)) return scenario;
  const members = scenario.members.map((member) => resting(dice, member));
  const atMs = dice.between(8_000, 12_000);
  const returns = scenario.policy !== 'Never' && dice.chance(0.4);
  const calm: Scenario = {
    ...scenario,
    members,
    faults: [{ do: 'delete', atMs, evicts: false, graceMs: scenario.graceMs }],
    race: undefined,
    volume: { ...scenario.volume, sockets: true, events: 'prompt', stale: [] },
  };
  return returns ? withReturn(dice, calm, atMs) : calm;
}

/** One of them fails out of its rest, and the pod is deleted as soon as it is back. */
function withReturn(dice: Dice, scenario: Scenario, endsAfterMs: number): Scenario {
  const who = dice.int(scenario.members.length);
  const members = scenario.members.map((member, index) => {
    const [life = {}] = member.lives;
    return index === who ? { ...member, lives: [{ ...life, endsAfterMs, code: 7 }, life] } : member;
  });
  return { ...scenario, members, backoffMs: 100, faults: [], race: { fromMs: 0, who, at: 'return', what: 'delete' } };
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

/** Sidecars whose roster has wrong names only. They end with the pod alone, and serve on for its mains until then. */
export function withTypos(scenario: Scenario): Scenario {
  const dice = new Dice(scenario.seed, 8);
  if (!dice.chance(0.04)) return scenario;
  const members = scenario.members.map((member) => {
    const { config } = member;
    const isWrong = config.role === 'sidecar' && dice.chance(0.7);
    return isWrong ? { ...member, config: { ...config, mains: ['wrok'] } } : member;
  });
  return { ...scenario, members };
}

/** Supervisors lost for ever, of one member or of all. */
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
  return { ...scenario, faults: [...faults, ...losses].sort(byTime) };
}

/** What comes at the worst moment. */
export function drawRace(seed: number, members: readonly MemberScenario[]): Race | undefined {
  const dice = new Dice(seed, 4);
  const isByInit = dice.chance(0.1);
  if (!isByInit && !dice.chance(0.05)) return undefined;
  const fromMs = dice.short(5_000);
  if (!isByInit) return { fromMs, who: dice.int(members.length), at: 'return', what: 'delete' };
  const isOfEnd = dice.chance(0.5);
  // A command that would not end by itself has no prepared end.
  const ending = [...members.keys()].filter((index) => members[index]?.lives[0]?.endsAfterMs !== undefined);
  const [first = 0, ...others] = isOfEnd && ending.length > 0 ? ending : members.keys();
  const who = dice.pick([first, ...others]);
  if (isOfEnd) {
    const what = dice.pick<'sexton stop' | 'sexton restart'>(['sexton stop', 'sexton restart']);
    const graceMs = drawGrace(dice);
    const among = dice.chance(0.7) ? undefined : [members[who]?.config.name ?? ''];
    return { fromMs, who, at: 'prepared end', what, graceMs, among };
  }
  return dice.pick<Race>([
    { fromMs, who, at: 'sleep', what: 'signal', signal: dice.pick([15, 15, 10]) },
    { fromMs, who, at: 'sleep', what: 'end', code: dice.pick([0, 0, 7]) },
    { fromMs, who, at: 'sleep', what: 'KILL' },
  ]);
}

/** What two restarts may take: a grace period of 30 s each, and 30 s in which the platform may restart all. */
export const RESTARTED_MS = 120_000;

/**
 * Restarts in place: by `sexton restart` at any moment, two at once, for the pod or for some members, and by what a
 * main declares.
 */
export function withRestarts(scenario: Scenario): Scenario {
  const dice = new Dice(scenario.seed, 3);
  if (!dice.chance(0.3)) return scenario;
  const members = scenario.members.map((member) => withCauses(dice, member));
  const kept = dice.chance(0.4) ? [] : scenario.faults;
  const restarts = Array.from({ length: dice.pick([0, 1, 1, 1, 1, 2, 2, 3]) }, () => drawRestart(dice, members, kept));
  const [first] = restarts;
  if (first !== undefined && dice.chance(0.2))
    restarts.push({ ...drawRestart(dice, members, kept), atMs: first.atMs + dice.int(30) });
  const faults = [...kept, ...restarts].sort(byTime);
  return { ...scenario, members, faults, lastMs: scenario.lastMs + RESTARTED_MS };
}

function withCauses(dice: Dice, member: MemberScenario): MemberScenario {
  const { config } = member;
  if (config.role !== 'main' || !dice.chance(0.25)) return member;
  const codes = dice.chance(0.7) ? [7] : [];
  const restartPodOn = { codes, liveness: config.probes.liveness !== undefined, max: undefined };
  return { ...member, config: { ...config, restartPodOn } };
}

function drawRestart(dice: Dice, members: readonly MemberScenario[], faults: readonly Fault[]): Fault {
  const other = faults[dice.int(faults.length + 1)];
  const atMs =
    other === undefined || dice.chance(0.4) ? dice.int(14_000) : Math.max(0, other.atMs + dice.between(-1_500, 1_500));
  const some = drawNames(dice, members);
  const isForSome = some.length > 0 && dice.chance(0.25);
  const graceMs = drawGrace(dice);
  const byRule = !isForSome && dice.chance(0.15) ? RESTART_ALL_CODE : undefined;
  return { do: 'sexton restart', atMs, graceMs, among: isForSome ? some : undefined, byRule };
}
