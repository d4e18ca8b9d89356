/** Random faults. Many come at the same moment as another, or right behind it: that is where mistakes live. */
import { restartsAll } from '../../src/core/restart.ts';
import type { Dice } from './dice.ts';
import { CRASH_POINTS, type Fault, type MemberScenario, type Scenario, type VolumeTrouble } from './scenario.ts';

type PodFacts = Pick<Scenario, 'members' | 'graceMs' | 'begins'> & { readonly session: string | undefined };

const MAX_MS = 14_000;

export function drawFaults(dice: Dice, pod: PodFacts): readonly Fault[] {
  if (dice.chance(0.06)) return [drawLoneStop(dice, pod)];
  const count = dice.pick([0, 0, 1, 1, 1, 2, 2, 3, 3, 4, dice.between(5, 8)]);
  const faults: Fault[] = [];
  for (let nth = 0; nth < count; nth += 1) faults.push(drawFault(dice, pod, momentFor(dice, faults, pod)));
  // Members can know of a restart of all containers by an init container, or by a rule that one of them declares.
  if ((pod.begins || pod.members.some(({ config }) => restartsAll(config))) && dice.chance(0.4))
    faults.push({ do: 'restart all', atMs: dice.chance(0.5) ? afterAnEnd(dice, pod) : momentFor(dice, faults, pod) });
  if (dice.chance(0.1)) faults.push(...drawReplacement(dice, pod, momentFor(dice, faults, pod)));
  if (dice.chance(0.45)) faults.push(drawDeletion(dice, pod, momentFor(dice, faults, pod)));
  return faults.sort(byTime);
}

export function byTime(a: Fault, b: Fault): number {
  return a.atMs - b.atMs;
}

function momentFor(dice: Dice, faults: readonly Fault[], { members }: PodFacts): number {
  const other = faults[dice.int(faults.length + 1)];
  if (other !== undefined && dice.chance(0.5)) return other.atMs + dice.short(1_500);
  // Or about when a command ends by itself.
  const { startMs = 0, lives = [] } = members[dice.int(members.length)] ?? {};
  const endsAfterMs = lives[0]?.endsAfterMs;
  if (endsAfterMs !== undefined && dice.chance(0.4)) return Math.max(0, startMs + endsAfterMs + dice.between(-60, 120));
  return dice.chance(0.3) ? dice.short(1_500) : dice.int(MAX_MS);
}

/** A main may be over by then, and others not. */
function afterAnEnd(dice: Dice, { members }: PodFacts): number {
  const { startMs = 0, lives = [] } = members[0] ?? {};
  return startMs + (lives[0]?.endsAfterMs ?? 0) + dice.between(50, 3_000);
}

function drawDeletion(dice: Dice, { graceMs }: PodFacts, atMs: number): Fault {
  const evicts = dice.chance(0.15);
  return { do: 'delete', atMs, evicts, graceMs: evicts ? dice.pick([500, 2_000]) : graceMs };
}

/** Nothing else happens, so that members can recognize it. */
function drawLoneStop(dice: Dice, { members, graceMs }: PodFacts): Fault {
  return { do: 'replace', atMs: dice.between(1_000, 9_000), who: dice.int(members.length), graceMs };
}

/** One container is stopped alone, as for its liveness, and the pod is deleted while it still stops. */
function drawReplacement(dice: Dice, { members, graceMs }: PodFacts, atMs: number): readonly Fault[] {
  const afterMs = dice.between(100, Math.min(graceMs, MAX_MS));
  return [
    { do: 'replace', atMs, who: dice.int(members.length), graceMs },
    { do: 'delete', atMs: atMs + afterMs, evicts: false, graceMs },
  ];
}

/** The grace period that a request names; undefined: none. */
export function drawGrace(dice: Dice): number | undefined {
  return dice.chance(0.5) ? undefined : dice.pick([1_500, 4_000]);
}

export function drawNames(dice: Dice, members: readonly MemberScenario[]): readonly string[] {
  return members.filter(() => dice.chance(0.6)).map(({ config }) => config.name);
}

function drawFault(dice: Dice, pod: PodFacts, atMs: number): Fault {
  const { members, graceMs, session } = pod;
  const who = dice.int(members.length);
  const forMs = dice.pick([30, 400, 1_500, 4_000, 9_000]);
  const crash = (): Fault => {
    const point = dice.pick(CRASH_POINTS);
    return { do: 'crash supervisor', atMs, who, point, afterEvents: dice.between(1, 4) };
  };
  const troubles: readonly [VolumeTrouble, ...VolumeTrouble[]] = ['full', 'full', 'read-only', 'denied', 'slow'];
  const volume = (): Fault => ({ do: 'volume', atMs, how: dice.pick(troubles), forMs });
  const signal = (): Fault => ({ do: 'signal', atMs, who, signal: dice.pick([15, 15, 2, 10]) });
  const askSexton = (): Fault => {
    const namedMs = drawGrace(dice);
    const among = dice.chance(0.7) ? undefined : drawNames(dice, members);
    return { do: 'sexton stop', atMs, graceMs: namedMs, among };
  };
  const litter = (): Fault => {
    const name = dice.pick(['zz', 'README', 'lost+found', '.cache']);
    const isOther = session === undefined || dice.chance(0.5);
    return { do: 'litter', atMs, name, what: isOther ? dice.pick(['garbage', 'empty']) : 'leftover' };
  };
  const makers: readonly [() => Fault, ...(() => Fault)[]] = [
    crash,
    crash,
    crash,
    () => ({ do: 'starve supervisor', atMs, who, forMs: dice.pick([300, 2_000, 8_000]) }),
    () => ({ do: 'hang supervisor', atMs, who, forMs: dice.pick([1_500, 14_000]) }),
    () => ({ do: 'kill container', atMs, who, oom: dice.chance(0.5) }),
    () => ({ do: 'kill command', atMs, who, oom: dice.chance(0.5) }),
    () => ({ do: 'freeze', atMs, who, forMs }),
    () => ({ do: 'pause', atMs, forMs }),
    volume,
    volume,
    () => ({ do: 'wipe', atMs, forMs: dice.pick([0, 5, 1_000]) }),
    () => ({ do: 'deafen', atMs, who }),
    () => ({ do: 'turn clock', atMs, who, byMs: dice.between(-86_400_000, 86_400_000) }),
    litter,
    () => ({ do: 'replace', atMs, who, graceMs }),
    signal,
    signal,
    askSexton,
    () => drawDeletion(dice, pod, atMs),
    () => (dice.chance(0.3) ? { do: 'reboot', atMs, downMs: dice.pick([200, 4_000]) } : crash()),
  ];
  return dice.pick(makers)();
}
