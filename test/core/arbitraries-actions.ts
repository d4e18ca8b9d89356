/** Random members and children that leave processes behind. The actions add `sexton stop`, changed files and lost supervisors. */
import fc from 'fast-check';
import type { ExecAction, HookAction, HttpAction, MemberConfig, Probe, ProbeAction } from '../../src/core/config.ts';
import { type Action, child, config, perform, schedule } from './arbitraries.ts';
import { command, readyOf } from './helpers.ts';
import type { ChildScript, Run } from './host.ts';
import type { Life } from './life.ts';

export type AnyAction =
  | Action
  | { readonly do: 'ask'; readonly graceMs: number | undefined; readonly among: readonly string[] | undefined }
  | { readonly do: 'change'; readonly index: number }
  | { readonly do: 'tell'; readonly text: string }
  | { readonly do: 'kill'; readonly oom: boolean }
  /** The supervisor is lost; the next one comes after a while. */
  | { readonly do: 'lose'; readonly ms: number };

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const http: HttpAction = { kind: 'http', method: 'GET', scheme: 'http', host: 'h', port: 80, path: '/', headers: [] };
const exec = (name: string): fc.Arbitrary<ExecAction> => fc.constant(command(name));
const action = (name: string): fc.Arbitrary<ProbeAction> => fc.oneof(exec(name), fc.constant(http));
const probe = (name: string): fc.Arbitrary<Probe | undefined> =>
  maybe(
    fc.record({
      action: action(name),
      periodMs: fc.constantFrom(1_000, 4_001),
      timeoutMs: fc.constantFrom(1, 900, 5_003),
      failures: fc.constantFrom(1, 2),
      successes: fc.constant(1),
      delayMs: fc.constantFrom(0, 1_201),
      graceMs: fc.constantFrom(undefined, 0, 2_003),
    }),
  );
const hook = (name: string): fc.Arbitrary<HookAction | undefined> =>
  maybe(fc.oneof(action(name) as fc.Arbitrary<HookAction>, fc.constantFrom({ kind: 'sleep' as const, ms: 1_777 })));

export const member: fc.Arbitrary<MemberConfig> = fc
  .record({
    base: config,
    probes: fc.record({ startup: probe('startup'), readiness: probe('readiness'), liveness: probe('liveness') }),
    notifies: fc.boolean(),
    postStart: hook('post-start'),
    preStop: hook('pre-stop'),
    reload: fc.array(
      fc.record({ path: fc.constant('/f'), signal: fc.constantFrom(1, 10), validate: maybe(exec('validate')) }),
      { maxLength: 2 },
    ),
    startReady: fc.constantFrom([], [], [readyOf('istio')]),
    quit: fc.constantFrom([], [{ kind: 'quit' as const, name: 'proxy', calls: [http] as const, hint: undefined }]),
  })
  .map(({ base, ...rest }) => ({ ...base, ...rest }));

const run: fc.Arbitrary<Run> = fc.oneof(
  fc.constantFrom('never' as const, 'deaf' as const),
  fc.record({ afterMs: fc.constantFrom(0, 3, 701, 4_507), ok: fc.boolean() }),
);
const runs = fc.array(run, { maxLength: 4 });

export const script: fc.Arbitrary<ChildScript> = fc
  .record({
    base: child,
    leaves: fc.constantFrom(
      undefined,
      undefined,
      'untilAsked' as const,
      'untilKilled' as const,
      'unkillable' as const,
      7,
    ),
    actions: fc.record({
      startup: runs,
      readiness: runs,
      liveness: runs,
      'post-start': runs,
      'pre-stop': runs,
      validate: runs,
      '/': runs,
      proxy: runs,
      istio: runs,
    }),
  })
  .map(({ base, leaves, actions }) => ({ ...base, actions, ...(leaves !== undefined && { leaves }) }));

const TOLD = ['READY=1', 'STOPPING=1', 'RELOADING=1', 'EXTEND_TIMEOUT_USEC=3000000', 'STATUS=well\nREADY=1'];

const other: fc.Arbitrary<AnyAction> = fc.oneof(
  fc.record({
    do: fc.constant('ask' as const),
    graceMs: fc.constantFrom(undefined, 0, 1_009, 7_001),
    among: fc.constantFrom(undefined, ['self'], ['self', 'a']),
  }),
  fc.record({ do: fc.constant('change' as const), index: fc.nat(2) }),
  fc.record({ do: fc.constant('tell' as const), text: fc.constantFrom(...TOLD) }),
  fc.record({ do: fc.constant('kill' as const), oom: fc.boolean() }),
  fc.record({ do: fc.constant('lose' as const), ms: fc.constantFrom(0, 907, 20_011) }),
);

/** What may really happen, in any order. */
export const anything: fc.Arbitrary<readonly AnyAction[]> = fc
  .tuple(schedule, fc.array(fc.tuple(other, fc.nat(13)), { maxLength: 5 }))
  .map(([usual, others]) => {
    const all: AnyAction[] = [...usual];
    for (const [one, place] of others) all.splice(Math.min(place, all.length), 0, one);
    return all;
  });

export function performAny(life: Life, todo: AnyAction): void {
  if (todo.do === 'ask') life.askToStop(todo.graceMs, todo.among);
  else if (todo.do === 'change') life.feed({ type: 'fileChanged', index: todo.index });
  else if (todo.do === 'tell') life.feed({ type: 'notified', id: life.state.births, dropped: 0, text: todo.text });
  else if (todo.do === 'kill') {
    if (life.state.child.is === 'alive') life.killChild(todo);
  } else if (todo.do === 'lose') {
    const seen = Object.values(life.state.peers ?? {});
    life.loseSupervisor().pass(todo.ms).feed({ type: 'booted' });
    life.see(...seen);
  } else perform(life, todo);
}
