/** Random members and lives of commands. What a user would declare is drawn more often than what is merely possible. */
import type { HttpAction, MemberConfig, Probe, RestartRule, Role, Rung, StartGate } from '../../src/core/config.ts';
import { ADAPTIVE_DRAIN, command, mainConfig, probe, sidecarConfig } from '../core/helpers.ts';
import type { Reaction, Run } from '../core/host.ts';
import type { Dice } from './dice.ts';
import type { ChildProcess } from './processes.ts';
import type { Life, MemberScenario } from './scenario.ts';

export interface PodFacts {
  readonly policy: MemberConfig['restartPolicy'];
  readonly graceMs: number;
  readonly session: string | undefined;
  readonly hasRules: boolean;
}

export function drawMembers(dice: Dice, pod: PodFacts): readonly MemberScenario[] {
  const size = dice.pick([1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 5, dice.between(6, 8)]);
  const roles = Array.from({ length: size }, (_, index): Role => {
    return index > 0 && dice.chance(size === 2 ? 0.85 : 0.65) ? 'sidecar' : 'main';
  });
  const names = roles.map((role, index) => `${role === 'main' ? 'work' : 'proxy'}-${index}`);
  const mains = names.filter((_, index) => roles[index] === 'main');
  const hasGates = dice.chance(0.6);
  const isRosterGiven = mains.length > 1 || dice.chance(0.5);
  // No sidecar stays for some of the mains.
  const served = mains.length > 1 && !hasGates && dice.chance(0.25) ? mains.slice(0, 1) : mains;
  return roles.map((role, index) => {
    const gates = hasGates && dice.chance(0.4) ? drawGates(dice, names, index, role) : [];
    const kubeletHookMs = role === 'main' && dice.chance(0.15) ? dice.pick([300, 2_000, 20_000]) : 0;
    const platformPreStopMs = dice.chance(0.5) ? kubeletHookMs + dice.pick([0, 0, 0, 1_000]) : undefined;
    const name = names[index] ?? '';
    const drawn = drawConfig(dice, { pod, role, name, gates, mains: isRosterGiven ? served : [] });
    const config = { ...drawn, platformPreStopMs };
    const isPlain = role === 'main' && gates.length === 0;
    return {
      config,
      startMs: dice.short(500),
      bootMs: dice.pick([20, 60, 60, 200, 900]),
      startsAtOnce: isPlain && dice.chance(0.5),
      skewMs: dice.chance(0.2) ? dice.between(-3_600_000, 3_600_000) : 0,
      kubeletHookMs,
      signalTo: 'tree',
      lives: drawLives(dice, config),
    };
  });
}

/** Mains wait for sidecars or for mains that end, sidecars for those before them. */
function drawGates(dice: Dice, names: readonly string[], index: number, role: Role): readonly StartGate[] {
  const others = names.filter((name, at) =>
    role === 'main' ? name.startsWith('proxy') || at < index : at < index && name.startsWith('proxy'),
  );
  return others
    .filter(() => dice.chance(0.6))
    .map((name) => ({
      name,
      condition: name.startsWith('work') ? ('completed' as const) : dice.pick(['started' as const, 'healthy' as const]),
      optional: dice.chance(0.2),
    }));
}

interface Draft {
  readonly pod: PodFacts;
  readonly role: Role;
  readonly name: string;
  readonly gates: readonly StartGate[];
  readonly mains: readonly string[];
}

function drawConfig(dice: Dice, { pod, role, name, gates, mains }: Draft): MemberConfig {
  const make = role === 'main' ? mainConfig : sidecarConfig;
  const often = <T>(usual: T, values: readonly [T, ...T[]]): T => (dice.chance(0.8) ? usual : dice.pick(values));
  const usual = make();
  return make({
    name,
    role,
    restartPolicy: pod.policy,
    restartRules: pod.hasRules ? drawRules(dice, role) : [],
    session: pod.session,
    mains: role === 'sidecar' ? mains : [],
    when: role === 'sidecar' ? often<'all' | 'any'>('all', ['any']) : 'all',
    startAfter: gates,
    // Without a session a death that is found is doubted for 10 s.
    startTimeoutMs: pod.session !== undefined && dice.chance(0.5) ? 3_000 : 60_000,
    startTimeoutAction: often<'fail' | 'continue'>('fail', ['continue']),
    gracePeriodMs: dice.chance(0.8) ? pod.graceMs : undefined,
    ladder: often<readonly Rung[] | undefined>(undefined, LADDERS),
    signals: often<MemberConfig['signals']>({}, [{ 15: 3 }]),
    hold: often<MemberConfig['hold']>({ kind: 'always' }, [{ kind: 'never' }, { kind: 'for', ms: 1_000 }]),
    ...drawDrain(dice, often),
    lingerMs: role === 'sidecar' ? often(0, [300, 2_000]) : 0,
    restart: often<MemberConfig['restart']>(usual.restart, ['auto', 'never', 'on-failure', 'always']),
    // A sidecar that leaves with 143 where failures are restarted is restarted for ever, as declared.
    exitCode: pod.policy === 'Never' ? often<MemberConfig['exitCode']>(usual.exitCode, EXIT_CODES) : usual.exitCode,
    probes: {
      startup: drawProbe(dice, 'startup'),
      readiness: drawProbe(dice, 'readiness'),
      liveness: drawProbe(dice, 'liveness'),
    },
    postStart: dice.chance(0.1) ? drawHook(dice, 'postStart') : undefined,
    preStop: dice.chance(0.15) ? drawHook(dice, 'preStop') : undefined,
  });
}

function drawDrain(dice: Dice, often: <T>(usual: T, values: readonly [T, ...T[]]) => T) {
  const drain = often<MemberConfig['drain']>(undefined, DRAINS);
  return { drain, idleWhen: drain?.kind === 'adaptive' && dice.chance(0.7) ? IDLE_CHECK : undefined };
}

const IDLE_CHECK = { action: command('idle'), periodMs: 300, timeoutMs: 200, forMs: 500, staleMs: 0 };

function drawRules(dice: Dice, role: Role): readonly RestartRule[] {
  // A sidecar that a rule starts again for ever may never live long enough to know that its mains have finished.
  const rules = role === 'main' ? dice.pick<readonly RestartRule[]>([[], [ON_7], [ON_7], [ON_FAILURE]]) : [];
  return dice.chance(0.3) ? [ALL_ON_88, ...rules] : rules;
}

const ON_7: RestartRule = { action: 'restart', codes: [7, 42], except: false };
const ON_FAILURE: RestartRule = { action: 'restart', codes: [0], except: true };
export const RESTART_ALL_CODE = 88;
const ALL_ON_88: RestartRule = { action: 'restart-all', codes: [RESTART_ALL_CODE], except: false };

const rungs = (...pairs: readonly (readonly [number, number?])[]): readonly Rung[] =>
  pairs.map(([signal, forMs]) => ({ signal, forMs }));
const LADDERS = [rungs([15, 700], [2, 500], [9]), rungs([3, 1_500], [15]), rungs([9])] as const;
const EXIT_CODES = [{ kind: 'keep' }, { kind: 'zero-when-stopped' }] as const;
const DRAINS: readonly [MemberConfig['drain'], ...MemberConfig['drain'][]] = [
  { kind: 'fixed', ms: 500 },
  { kind: 'fixed', ms: 2_500 },
  { ...ADAPTIVE_DRAIN, minMs: 200, quietMs: 500, maxMs: 3_000 },
];

function drawProbe(dice: Dice, kind: 'startup' | 'readiness' | 'liveness'): Probe | undefined {
  if (!dice.chance(0.12)) return undefined;
  const action = dice.chance(0.6) ? command(kind) : http(`/${kind}`);
  return probe(action, {
    periodMs: dice.pick([1_000, 3_000]),
    timeoutMs: dice.pick([300, 1_000]),
    failures: dice.pick([1, 3]),
    delayMs: dice.pick([0, 700]),
    graceMs: kind === 'readiness' || dice.chance(0.7) ? undefined : 1_500,
  });
}

function drawHook(dice: Dice, kind: string): MemberConfig['preStop'] {
  const sleep = { kind: 'sleep', ms: dice.pick([100, 3_000]) } as const;
  return dice.pick<MemberConfig['preStop']>([command(kind), http(`/${kind}`), sleep]);
}

function http(path: string): HttpAction {
  return { kind: 'http', method: 'GET', scheme: 'http', host: '127.0.0.1', port: 80, path, headers: [] };
}

/**
 * The last life repeats, so its command can be started: else nothing ever could. Nor does it ask for a restart of all,
 * because the pod would never end.
 */
function drawLives(dice: Dice, config: MemberConfig): readonly Life[] {
  const lives = Array.from({ length: dice.between(1, 3) }, () => drawLife(dice, config));
  const { errno: _errno, ...last } = lives.pop() ?? {};
  return [...lives, last.code === RESTART_ALL_CODE ? { ...last, code: 0 } : last];
}

const DEAF: ChildProcess = { on: { 2: 'ignores', 3: 'ignores', 15: 'ignores' } };
const STUCK: ChildProcess = { isStuck: true };

function drawLife(dice: Dice, { role, restartRules }: MemberConfig): Life {
  const on: Record<number, Reaction> = { 10: 'ignores' };
  for (const signal of [15, 2, 3]) {
    const drawn = dice.pick<Reaction | undefined>([
      undefined,
      { afterMs: 0, code: 0 },
      { afterMs: 150, code: 0 },
      { afterMs: dice.int(3_000), code: 0 },
      { afterMs: 80, code: 3 },
      'ignores',
    ]);
    if (drawn !== undefined) on[signal] = drawn;
  }
  const ends = dice.chance(role === 'main' ? 0.75 : 0.2);
  return {
    on,
    ...(ends && {
      endsAfterMs: dice.short(12_000),
      code: dice.pick(restartRules.length === 0 ? [0, 0, 1, 7] : [0, 0, 1, 7, 7, RESTART_ALL_CODE]),
    }),
    children: [
      ...(dice.chance(0.08) ? [dice.pick([DEAF, STUCK, { outlivesByMs: 5 }, { outlivesByMs: 900 }])] : []),
      ...(dice.chance(0.05) ? [{ leavesGroup: true, ...dice.pick([{}, DEAF, STUCK, { outlivesByMs: 300 }]) }] : []),
    ],
    ...(dice.chance(0.02) && { errno: dice.pick(['ENOENT', 'EACCES', 'EAGAIN']) }),
    actions: Object.fromEntries(ACTIONS.map((name) => [name, drawRuns(dice)])),
  };
}

const ACTIONS = ['startup', 'readiness', 'liveness', 'preStop', 'postStart']
  .flatMap((kind) => [kind, `/${kind}`])
  .concat('idle');
const GOOD: readonly Run[] = [{ afterMs: 5, ok: true }];

function drawRuns(dice: Dice): readonly Run[] {
  if (dice.chance(0.7)) return GOOD;
  return Array.from({ length: dice.between(1, 4) }, () =>
    dice.pick<Run>([
      { afterMs: 10, ok: true },
      { afterMs: 10, ok: false },
      { afterMs: 900, ok: true },
      'never',
      'deaf',
    ]),
  );
}
