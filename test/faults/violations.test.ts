/** Violations of invented rounds: what is excused, and that nothing more is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLockedOut } from './ending.ts';
import type { MemberPlan } from './members.ts';
import type { Plan } from './plan.ts';
import type { Happening, RoundRecord } from './record.ts';
import { violationsOf } from './violations.ts';

const MAIN: MemberPlan = {
  name: 'm0',
  role: 'main',
  flags: [],
  options: {},
  mains: [],
  when: 'all',
  hold: 'always',
  isGated: false,
  willRestart: false,
  ladder: [{ signal: 15, forMs: undefined }],
  isProbed: false,
};
const SIDECAR: MemberPlan = { ...MAIN, name: 's0', role: 'sidecar', when: 'any', willRestart: true };

test('a silent command is excused if a foreign HUP ended it, and only then', () => {
  assert.deepEqual(violationsOf(silentRound('m0', 129), true), []);
  assert.equal(violationsOf(silentRound('s0', 129), true).length, 4);
});

test('a command that was silent under a foreign HUP has to exit 129', () => {
  assert.equal(violationsOf(silentRound('m0', 137), true).length, 4);
});

test('a command that was killed before it said anything has to exit 137', () => {
  const kill: Happening = { kind: 'kill-application', member: 'm0', fromMs: 40, untilMs: 41, isHit: true, written: [] };
  const struck = (status: number) => violationsOf({ ...silentRound('m0', status), happenings: [kill] }, true);
  const ofCode = (status: number) => struck(status).filter((it) => /exited|says/.test(it) && !/never started/.test(it));
  assert.deepEqual([ofCode(137).length, ofCode(125).length], [0, 2]);
});

test('an end may lack a record and the right code only if the supervisor was paused until then', () => {
  const kill = { kind: 'kill-supervisor', fromMs: 60, untilMs: 61 } as const;
  const others = [{ fromMs: 60 }, { untilMs: 90 }, { graceMs: 2_000 }, { more: [kill] }];
  for (const [change, words] of [
    [{}, 'm0: its death is not in its tombstone (running)'],
    [{ graveyard: new Map() }, 'm0: has no tombstone'],
    [{ plan: planOf([{ ...SIDECAR, name: 'm0' }], 'Never') }, 'm0: its container exited 3, where 0 would be right'],
  ] as const) {
    assert.deepEqual(violationsOf({ ...unrecordedDeath({}), ...change }, true), []);
    for (const other of others) {
      const found = violationsOf({ ...unrecordedDeath(other), ...change }, true);
      assert.ok(found.includes(words), `${words}: ${JSON.stringify([other, found])}`);
    }
  }
});

test('a sidecar has to hold for the life of a main that had the time to be known', () => {
  const words = 's0: got its stop signal while m0 still lived and was known';
  assert.deepEqual(violationsOf(restartedMain(3_000), true), []);
  assert.deepEqual(violationsOf(restartedMain(1_300), true), [words]);
});

test('a main is locked out only if its gate kept it out and its sidecar is over for good', () => {
  for (const [isLocked, sidecar, exits, changed] of [
    [true, 'terminated', [1, 125], {}],
    [false, 'waiting', [1, 125], {}],
    [false, 'running', [1, 125], {}],
    [false, 'terminated', [125, 1], {}],
    [false, 'terminated', [], {}],
    [false, 'terminated', [125], { isGated: false }],
    [false, 'terminated', [125], { policy: 'Never' }],
  ] as const)
    assert.equal(lockedOut(sidecar, exits, changed), isLocked, JSON.stringify([sidecar, exits, changed]));
});

/** The only container said nothing, and a HUP came to `member` meanwhile. */
function silentRound(member: string, status: number): RoundRecord {
  const hup: Happening = { kind: 'foreign-signals', member, fromMs: 40, untilMs: 60, isHit: true, written: ['m0'] };
  const tombstone = { Died: '2026-01-01T00:00:00Z', Phase: 'dead', ExitCode: status, Reason: 'error' };
  return {
    plan: planOf([MAIN], 'Never'),
    happenings: [hup],
    lives: [{ member: 'm0', fromMs: 0, untilMs: 100, status, stderr: '' }],
    events: [],
    graveyard: new Map([['m0', JSON.stringify(tombstone)]]),
    writtenMs: new Map([['m0', 10]]),
    endedByItself: true,
  };
}

/** The only container is asked to stop at 44, its command exits at 50, and it ends at 100. Its supervisor is paused. */
function unrecordedDeath({
  fromMs = 40,
  untilMs = 110,
  graceMs = 500,
  more = [],
}: {
  fromMs?: number;
  untilMs?: number;
  graceMs?: number;
  more?: readonly Pick<Happening, 'kind' | 'fromMs' | 'untilMs'>[];
}): RoundRecord {
  const says = [
    [10, 'Starting', ''],
    [46, 'Signal', '15'],
    [50, 'Exiting', '3'],
  ] as const;
  const strikes = [
    { kind: 'pause-supervisor', fromMs, untilMs },
    { kind: 'delete', fromMs: 44, untilMs: 45, value: graceMs },
    ...more,
  ] as const;
  return {
    plan: planOf([MAIN], 'Never'),
    happenings: strikes.map((it) => ({ isHit: true, member: 'm0', written: ['m0'], ...it })),
    lives: [{ member: 'm0', fromMs: 0, untilMs: 100, status: 3, stderr: '' }],
    events: says.map(([atMs, event, detail], index) => ({ index, atMs, name: 'm0', event, detail })),
    graveyard: new Map([['m0', JSON.stringify({ Phase: 'running' })]]),
    writtenMs: new Map([['m0', 10]]),
    endedByItself: true,
  };
}

/** The main's second life begins at `bornMs`; the pod is deleted, and the sidecar signalled at once, at 4,000. */
function restartedMain(bornMs: number): RoundRecord {
  const says = [
    [0, 'm0', 'Starting'],
    [0, 's0', 'Starting'],
    [1_000, 'm0', 'Exiting', '0'],
    [bornMs, 'm0', 'Starting'],
    [4_010, 's0', 'Signal', '15'],
    [4_020, 's0', 'Exiting', '0'],
    [4_030, 'm0', 'Signal', '15'],
    [4_200, 'm0', 'Exiting', '0'],
  ] as const;
  const stop = { kind: 'delete', fromMs: 4_000, untilMs: 4_001, isHit: true, written: ['m0', 's0'] } as const;
  const tombstone = JSON.stringify({ Died: '2026-01-01T00:00:00Z', Phase: 'dead', ExitCode: 0, Reason: 'stopped' });
  const life = { status: 0, stderr: '' };
  return {
    plan: { ...planOf([MAIN, SIDECAR], 'Always'), graceMs: 9_000 },
    happenings: ['m0', 's0'].map((member) => ({ ...stop, member })),
    lives: [
      { ...life, member: 'm0', fromMs: 0, untilMs: 1_010 },
      { ...life, member: 'm0', fromMs: bornMs - 10, untilMs: 4_210 },
      { ...life, member: 's0', fromMs: 0, untilMs: 4_050 },
    ],
    events: says.map(([atMs, name, event, detail = ''], index) => ({ index, atMs, name, event, detail })),
    graveyard: new Map(['m0', 's0'].map((name) => [name, tombstone])),
    writtenMs: new Map(['m0', 's0'].map((name) => [name, 10])),
    endedByItself: true,
  };
}

function lockedOut(
  sidecarIs: 'waiting' | 'running' | 'terminated',
  exits: readonly number[],
  { isGated = true, policy = 'OnFailure' }: { isGated?: boolean; policy?: Plan['policy'] } = {},
): boolean {
  const main = { ...MAIN, isGated };
  return isLockedOut(planOf([main, SIDECAR], policy), main, (name) =>
    name === 's0' ? { is: sidecarIs, exits: [0] } : { is: 'waiting', exits },
  );
}

function planOf(members: readonly MemberPlan[], policy: Plan['policy']): Plan {
  return {
    seed: 0,
    policy,
    graceMs: 2_000,
    declareGrace: true,
    declareSession: true,
    user: undefined,
    members,
    isHeldOpen: false,
    isEndless: false,
    strikes: [],
  };
}
