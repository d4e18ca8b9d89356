/** Commands that are trees of processes: wrappers, shells, pools, daemons, pipelines and what came by exec. */
import type { Reaction } from '../core/host.ts';
import { Dice } from './dice.ts';
import type { ChildProcess } from './processes.ts';
import type { Life, MemberScenario, Scenario } from './scenario.ts';

/** Has dice of its own, so that the rest of the pod stays what it is. */
export function withTrees(scenario: Scenario): Scenario {
  const dice = new Dice(scenario.seed, 11);
  if (!dice.chance(0.35)) return scenario;
  return { ...scenario, members: scenario.members.map((member) => drawMember(dice, member)) };
}

function drawMember(dice: Dice, member: MemberScenario): MemberScenario {
  if (dice.chance(0.3)) return member;
  const signalTo = dice.pick<MemberScenario['signalTo']>(['tree', 'tree', 'tree', 'tree', 'tree', 'group', 'first']);
  return { ...member, signalTo, lives: member.lives.map((life) => drawTree(dice, life)) };
}

const IGNORES = { 2: 'ignores', 3: 'ignores', 15: 'ignores' } as const;
const ends = (afterMs: number): Record<number, Reaction> => {
  return { 2: { afterMs, code: 0 }, 3: { afterMs, code: 0 }, 15: { afterMs, code: 0 } };
};

/** What becomes of the life as it was drawn: it stands behind a wrapper, or starts others. */
function drawTree(dice: Dice, life: Life): Life {
  const { errno, actions, ...process } = life;
  const own = { ...(errno !== undefined && { errno }), ...(actions !== undefined && { actions }) };
  const children = process.children ?? [];
  const more = drawOthers(dice);
  const first = (): ChildProcess => ({ ...process, ...drawReload(dice, process), children: [...children, ...more] });
  const kinds: readonly [() => Life, ...(() => Life)[]] = [
    // A server that starts others.
    () => ({ ...first(), endsChildren: false }),
    () => ({ ...first(), endsChildren: true }),
    () => ({ ...first(), children: [...children, ...more, ...drawWorkers(dice)], endsChildren: dice.chance(0.7) }),
    // One that passes nothing on, before the server.
    () => ({ program: 'su', endsWithChildren: true, children: [first()] }),
    () => ({ on: IGNORES, endsWithChildren: true, children: [first()] }),
    () => ({
      program: 'su',
      endsWithChildren: true,
      children: [{ on: { ...IGNORES, 2: { afterMs: 0, code: 1 } }, endsWithChildren: true, children: [first()] }],
    }),
    // A shell: no trap, a trap and a server, a trap and an idle child, a trap and a busy one.
    () => ({ program: 'sh', endsWithChildren: true, children: [{ ...first(), place: 'foreground' }] }),
    () => ({ ...drawTrap(dice), endsWithChildren: true, children: [{ ...first(), place: 'foreground' }, ...more] }),
    () => ({
      ...drawTrap(dice),
      endsChildren: dice.chance(0.5),
      children: [
        { ...first(), place: 'background' },
        { program: 'sleep', place: 'foreground' },
      ],
    }),
    () => ({ ...drawTrap(dice), children: [{ program: 'sleep', place: 'background' }, drawBusy(dice), ...more] }),
    // A server behind a reader of its output: `exec > >(tee log)`.
    () => ({ ...first(), children: [drawReader(dice), ...children, ...more] }),
  ];
  return { ...dice.pick(kinds)(), ...own };
}

function drawTrap(dice: Dice): ChildProcess {
  return { program: 'sh', on: ends(dice.pick([0, 50, 700])) };
}

function drawBusy(dice: Dice): ChildProcess {
  const endsAfterMs = dice.pick([400, 4_000, 15_000]);
  return { place: 'foreground', on: dice.pick([{}, ends(30)]), endsAfterMs };
}

function drawReader(dice: Dice): ChildProcess {
  return {
    reads: true,
    ...(dice.chance(0.7) && { outlivesByMs: dice.pick([0, 20, 800, 3_000]) }),
    on: dice.pick([{}, ends(10), IGNORES]),
    leavesGroup: dice.chance(0.3),
  };
}

function drawWorkers(dice: Dice): readonly ChildProcess[] {
  const worker = (): ChildProcess => ({
    on: dice.pick([{}, ends(dice.pick([0, 200, 2_500])), IGNORES]),
    ...(dice.chance(0.2) && { bornAfterMs: dice.int(12_000) }),
    ...(dice.chance(0.4) && { children: [drawOther(dice), { on: ends(10) }], endsChildren: dice.chance(0.5) }),
  });
  return Array.from({ length: dice.between(1, 3) }, worker);
}

function drawOthers(dice: Dice): readonly ChildProcess[] {
  return Array.from({ length: dice.pick([0, 0, 1, 1, 2]) }, () => drawOther(dice));
}

function drawOther(dice: Dice): ChildProcess {
  const plain: ChildProcess = {
    on: dice.pick([{}, {}, ends(dice.pick([0, 30, 900])), IGNORES]),
    leavesGroup: dice.chance(0.3),
    ...(dice.chance(0.3) && { bornAfterMs: dice.int(14_000) }),
    ...(dice.chance(0.3) && { endsAfterMs: dice.int(14_000) }),
  };
  return dice.pick<() => ChildProcess>([
    () => ({ ...plain, comes: 'as a daemon' }),
    () => ({ ...plain, comes: 'as a daemon', children: drawWorkers(dice), endsChildren: dice.chance(0.5) }),
    () => ({ ...plain, comes: 'as a daemon', program: 'su', endsWithChildren: true, children: [{ on: ends(80) }] }),
    () => ({ ...plain, comes: 'by exec' }),
    () => ({ comes: 'by exec', program: 'sh', ...(dice.chance(0.5) && { on: ends(0) }), children: [plain] }),
    () => plain,
    () => ({ ...plain, outlivesByMs: dice.pick([0, 15, 600, 5_000]) }),
    () => drawReader(dice),
  ])();
}

/** Some handle the signals that ask for a reload, some do not know them. */
function drawReload(dice: Dice, { on }: ChildProcess): Pick<ChildProcess, 'on'> {
  const { 10: _usr1, ...others } = on ?? {};
  return dice.chance(0.4) ? { on: others } : { on: { ...others, 10: 'ignores' } };
}
