/** Draws the members of a round's pod: mains and sidecars with flags and applications of all kinds. */
import type { MemberOptions } from '../helpers/member.ts';
import type { Dice } from './dice.ts';
import type { Policy } from './plan.ts';

export interface Rung {
  readonly signal: number;
  /** undefined: until the grace period is over. */
  readonly forMs: number | undefined;
}

export interface MemberPlan {
  readonly name: string;
  readonly role: 'main' | 'sidecar';
  readonly flags: readonly string[];
  readonly options: MemberOptions;
  /** A sidecar's; empty: every main that it sees. */
  readonly mains: readonly string[];
  readonly when: 'all' | 'any';
  readonly hold: 'always' | 'never' | 'for';
  readonly isGated: boolean;
  /** It may have several lives in one container. */
  readonly willRestart: boolean;
  readonly ladder: readonly Rung[];
  /** A probe that always succeeds. */
  readonly isProbed: boolean;
}

const LADDERS: readonly (readonly [number, string | undefined, readonly Rung[]])[] = [
  [6, undefined, [{ signal: 15, forMs: undefined }]],
  [1, 'QUIT', [{ signal: 3, forMs: undefined }]],
  [
    1,
    'TERM:500ms,INT',
    [
      { signal: 15, forMs: 500 },
      { signal: 2, forMs: undefined },
    ],
  ],
  [
    1,
    'TERM:600ms,KILL',
    [
      { signal: 15, forMs: 600 },
      { signal: 9, forMs: undefined },
    ],
  ],
];

export function planMembers(roll: Dice, policy: Policy): MemberPlan[] {
  const count = roll.weighted([
    [20, 1],
    [40, 2],
    [25, 3],
    [15, 4],
  ]);
  const mains = count > 2 && roll.isTrue(0.4) ? ['m0', 'm1'] : ['m0'];
  const sidecars = ['s0', 's1', 's2'].slice(0, count - mains.length);
  return [
    ...mains.map((name) => planMain(roll, name, policy, sidecars)),
    ...sidecars.map((name, index) => planSidecar(roll, name, mains, sidecars[index - 1])),
  ];
}

function planMain(roll: Dice, name: string, policy: Policy, sidecars: readonly string[]): MemberPlan {
  const [condition, gate] = [roll.oneOf(['started', 'healthy']), roll.isTrue(0.3) ? sidecars[0] : undefined];
  const common = planCommon(roll);
  const retries = roll.isTrue(policy === 'OnFailure' ? 0.5 : 0.15);
  const inPlace = retries && policy === 'Never';
  const exits = retries ? roll.oneOf(['1,0', '1,7,0', '3,0']) : roll.oneOf(policy === 'OnFailure' ? ['0'] : ['0', '7']);
  const drain = roll.isTrue(0.3) ? ['--drain', roll.oneOf(['300ms', 'min=100ms,quiet=100ms,max=400ms'])] : [];
  return {
    ...common,
    name,
    role: 'main',
    flags: [
      ...common.flags,
      ...drain,
      ...(inPlace ? ['--restart', 'on-failure'] : []),
      ...(gate === undefined ? [] : ['--start-after', `${gate}=${condition}`, '--start-timeout', '20s']),
    ],
    options: { ...common.options, run: roll.between(100, 1_800), exits },
    mains: [],
    when: 'all',
    hold: 'always',
    isGated: gate !== undefined,
    willRestart: inPlace,
  };
}

function planSidecar(roll: Dice, name: string, mains: readonly string[], before: string | undefined): MemberPlan {
  const common = planCommon(roll);
  const hold = roll.weighted<MemberPlan['hold']>([
    [7, 'always'],
    [1, 'never'],
    [2, 'for'],
  ]);
  const [isDeclared, isAny, lingers] = [roll.isTrue(0.6), roll.isTrue(0.15), roll.isTrue(0.2)];
  const gate = roll.isTrue(0.3) ? before : undefined;
  const dies = roll.isTrue(0.15) ? { runs: '300,0', exits: roll.oneOf(['0,0', '1,0']) } : {};
  return {
    ...common,
    name,
    role: 'sidecar',
    flags: [
      ...['--role', 'sidecar', ...common.flags],
      ...(isDeclared ? ['--mains', mains.join(',')] : []),
      ...(isAny ? ['--when', 'any'] : []),
      ...(hold === 'always' ? [] : ['--hold', hold === 'never' ? 'never' : '500ms']),
      ...(lingers ? ['--linger', '300ms'] : []),
      ...(gate === undefined ? [] : ['--start-after', `${gate}=started`, '--start-timeout', '20s']),
    ],
    options: { ...common.options, ...dies },
    mains: isDeclared ? mains : [],
    when: isAny ? 'any' : 'all',
    hold,
    isGated: gate !== undefined,
    willRestart: true,
  };
}

function planCommon(roll: Dice): Pick<MemberPlan, 'flags' | 'options' | 'ladder' | 'isProbed'> {
  const [, text, ladder] = roll.weighted(LADDERS.map((it) => [it[0], it] as const));
  const isProbed = roll.isTrue(0.2);
  const isDeaf = roll.isTrue(0.08);
  return {
    flags: [
      ...(text === undefined ? [] : ['--stop', text]),
      ...(roll.isTrue(0.15) ? ['--pre-stop', 'sleep:200ms'] : []),
      ...(roll.isTrue(0.6) ? ['--sleep-after', roll.oneOf(['20ms', '100ms', '500ms'])] : []),
    ],
    options: {
      ...(isDeaf ? { ignore: 'TERM,INT,QUIT' } : { stop: 'TERM,INT,QUIT' }),
      ...(roll.isTrue(0.3) ? { termexit: 3 } : {}),
      term: roll.oneOf([0, 0, 50, 200, 800]),
    },
    ladder,
    isProbed,
  };
}

/** A main's gate is always the first sidecar. */
export function gateOf(main: MemberPlan, members: readonly MemberPlan[]): MemberPlan | undefined {
  return main.isGated ? members.find((it) => it.role === 'sidecar') : undefined;
}

export function mainsOf(members: readonly MemberPlan[]): readonly MemberPlan[] {
  return members.filter((it) => it.role === 'main');
}
