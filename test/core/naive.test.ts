/**
 * 1,000 random lives with probes that flip, hooks, restarts and stops of all kinds, against the naive opinion: no
 * difference.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HookAction, Probe, ProbeKind } from '../../src/core/config.ts';
import { alive, command, dead, fixed, mainConfig, probe, START, sidecarConfig } from './helpers.ts';
import type { Run } from './host.ts';
import { Life, type Step } from './life.ts';
import { type NaiveHook, type Plan, plan, saysOk } from './naive/plan.ts';
import { tell } from './naive/teller.ts';
import '../helpers/seeded.ts';

const UNTIL_MS = 40_000;
const RUNS = 1_000;

describe('the core and a second naive opinion', () => {
  it(`tell the same of ${RUNS} random lives: each start, signal, hook and probe, health and exit, to the millisecond`, () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(plan, (random) => {
        fc.pre(!isClose(random));
        const lived = live(random);
        for (const line of lived) count(seen, line.replace(/^\d+ /, ''));
        assert.deepEqual(lived, sorted(tell(random, UNTIL_MS)));
      }),
      { numRuns: RUNS },
    );
    for (const what of [
      'spawn',
      'TERM',
      'KILL',
      'pre-stop',
      'post-start',
      'unhealthy',
      'liveness',
      'exit 0',
      'exit 137',
    ])
      assert.ok((seen.get(what) ?? 0) > 100, `hardly any ${what}`);
  });
});

function count(seen: Map<string, number>, what: string): void {
  seen.set(what, (seen.get(what) ?? 0) + 1);
}

function live(random: Plan): readonly string[] {
  const told: string[] = [];
  const life = new Life({
    config: configOf(random),
    child: childOf(random),
    peers: [alive('work')],
    observe: (step) => note(told, step),
  });
  const todo = [
    ...random.asked.map((at) => ({ at, run: () => life.signal(15) })),
    ...random.sextonStops.map(({ at, graceMs }) => ({ at, run: () => life.askToStop(graceMs) })),
    ...(random.mainEndsAt === undefined
      ? []
      : [{ at: random.mainEndsAt, run: () => life.see(dead('work', random.mainEndsWith)) }]),
  ].sort((a, b) => a.at - b.at);
  let now = 0;
  for (const { at, run } of todo) {
    life.pass(at - now);
    run();
    now = at;
  }
  life.pass(UNTIL_MS - now);
  return sorted(told);
}

function note(told: string[], { before, event, after, effects }: Step): void {
  const tell = (what: string) => told.push(`${event.at.mono - START} ${what}`);
  if (event.type === 'forwarded') tell('TERM');
  for (const effect of effects) {
    if (effect.type === 'spawn') tell('spawn');
    // Its empty group gets the signal in the same moment: of that the naive opinion knows nothing.
    if (effect.type === 'kill' && after.child.is === 'alive') tell(effect.signal === 9 ? 'KILL' : 'TERM');
    if (effect.type === 'startTask' && effect.action.kind === 'exec') tell(effect.action.argv[0]);
    if (effect.type === 'exit') tell(`exit ${effect.code}`);
  }
  const [wasHealthy, isHealthy] = [before, after].map(({ chronicle }) => chronicle.healthy !== undefined);
  if (wasHealthy !== isHealthy) tell(isHealthy === true ? 'healthy' : 'unhealthy');
}

function configOf(random: Plan) {
  const probeOf = (kind: ProbeKind): Probe | undefined => {
    const naive = random.probes[kind];
    if (naive === undefined) return undefined;
    const { takesMs: _takes, isOkAtFirst: _first, flips: _flips, ...declared } = naive;
    return probe(command(kind), declared);
  };
  const hookOf = (declared: NaiveHook | undefined, name: string): HookAction | undefined =>
    declared === undefined ? undefined : command(name);
  const change = {
    restartPolicy: random.policy,
    restart: random.restart,
    gracePeriodMs: random.graceMs,
    drain: fixed(random.drainMs),
    lingerMs: random.lingerMs,
    probes: { startup: probeOf('startup'), readiness: probeOf('readiness'), liveness: probeOf('liveness') },
    postStart: hookOf(random.postStart, 'post-start'),
    preStop: hookOf(random.preStop, 'pre-stop'),
  };
  return random.role === 'main' ? mainConfig(change) : sidecarConfig(change);
}

function childOf({ endsAfterMs, endsWith, termMs, termCode, probes, postStart, preStop }: Plan) {
  const probed =
    (kind: ProbeKind) =>
    (atMs: number): Run => {
      const naive = probes[kind];
      return naive === undefined ? 'never' : { afterMs: naive.takesMs, ok: saysOk(naive, atMs - START) };
    };
  const hooked = (declared: NaiveHook | undefined): readonly Run[] =>
    declared?.takesMs === undefined ? ['never'] : [{ afterMs: declared.takesMs, ok: declared.ok }];
  return {
    ...(endsAfterMs !== undefined && { endsAfterMs }),
    code: endsWith,
    on: { 15: termMs === undefined ? ('ignores' as const) : { afterMs: termMs, code: termCode } },
    actions: {
      startup: probed('startup'),
      readiness: probed('readiness'),
      liveness: probed('liveness'),
      'post-start': hooked(postStart),
      'pre-stop': hooked(preStop),
    },
  };
}

/** What is done in the same moment has no order. */
function sorted(told: readonly string[]): readonly string[] {
  const at = (line: string) => Number.parseInt(line, 10);
  return told.toSorted((a, b) => at(a) - at(b) || (a < b ? -1 : 1));
}

/** Whether two things from outside fall together. */
function isClose({ asked, sextonStops, mainEndsAt }: Plan): boolean {
  const moments = [...asked, ...sextonStops.map(({ at }) => at), ...(mainEndsAt === undefined ? [] : [mainEndsAt])];
  return new Set(moments).size < moments.length;
}
