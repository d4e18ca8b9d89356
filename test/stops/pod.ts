/**
 * A pod that is struck and then has to stop: a main with a drain and a sidecar that holds. Each has a container of its
 * own, and both run from one copy of the sexton directory.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cgroup, makeCgroup } from '../helpers/cgroup.ts';
import { AWAKE, type Container, type Exit, isSupervisor, startContainer } from '../helpers/container.ts';
import type { MemberOptions } from '../helpers/member.ts';
import { member } from '../helpers/member.ts';
import { childrenOf, send } from '../helpers/process.ts';
import type { Stage } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitForRunning, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { type Copy, copySexton } from './copy.ts';
import type { Fault } from './faults.ts';

export type MemberName = 'main' | 'sidecar';

/** How a pod comes to stop while the fault is there. */
export interface Way {
  /** `asleep`: the fault is there first. `awake`: supervisors have the stop request, and are killed under the fault. */
  readonly was: 'asleep' | 'awake';
  readonly declares: boolean;
  /** `stop`: both get TERM. `main lost`: the main's container is killed as a whole, so the sidecar has to end. */
  readonly by: 'stop' | 'main lost';
}

export const WAYS: readonly Way[] = [
  { was: 'asleep', declares: true, by: 'stop' },
  { was: 'asleep', declares: false, by: 'stop' },
  { was: 'awake', declares: true, by: 'stop' },
  { was: 'awake', declares: false, by: 'stop' },
  { was: 'asleep', declares: true, by: 'main lost' },
];

export function nameOf({ was, declares, by }: Way): string {
  const what = by === 'stop' ? `stops, ${was}` : `loses its main, ${was}`;
  return `${what}, ${declares ? 'with' : 'without'} a declared grace period`;
}

export interface End {
  readonly name: MemberName;
  /** Milliseconds since the stop request; undefined: it never came. */
  readonly termMs: number | undefined;
  readonly exit: Exit | undefined;
  /** When PID 1 had ended; undefined: not within the limit. */
  readonly endedMs: number | undefined;
  /** What should not have been; empty: all is well. */
  readonly violations: readonly string[];
}

/** A container that has not ended by then does not end: five times what a stop may take without a declared grace period. */
export const LIMIT_MS = 60_000;
const GRACE = '6s';
/** Time to put a fault in place on a slow machine. It has to be shorter than the grace period. */
const DRAIN = '5s';
const SLEEPS = ['--sleep-after', '300ms'];
/** The main's handler takes this long, so that a sidecar which gets TERM with it is over before it. */
const HANDLER_MS = 300;

interface Member {
  readonly name: MemberName;
  readonly container: Container;
  readonly pid1: number;
  readonly cgroup: Cgroup | undefined;
  readonly supervisor: () => number | undefined;
}

type Place = Pick<Stage, 'scratch' | 'fixtures'>;

export async function stopUnder(place: Place, fault: Fault, way: Way, limitMs: number): Promise<End[]> {
  const { scratch } = place;
  const copy = copySexton(scratch);
  const main = await start(place, fault, way, copy, 'main', ['--drain', DRAIN], { term: HANDLER_MS });
  const sidecar = await start(place, fault, way, copy, 'sidecar', ['--role', 'sidecar', '--mains', 'main'], {});
  const members = [main, sidecar];
  await waitForRunning(scratch.graveyard, ['main', 'sidecar']);
  for (const { name } of members) await waitForEvent(scratch.log, name, 'Started');
  const stop = async (): Promise<number> => {
    const askedMs = nowMs();
    if (way.by === 'main lost') await main.container.kill();
    else for (const { pid1 } of members) send(pid1, 'SIGTERM');
    return askedMs;
  };
  const strike = async (): Promise<void> => fault.strike({ ...place, copy, members });
  let askedMs: number;
  if (way.was === 'asleep') {
    await waitFor('both are asleep', () => members.every(isAsleep));
    await strike();
    askedMs = await stop();
  } else {
    askedMs = await stop();
    await waitForTombstone(scratch.graveyard, 'main', 'drains', ({ Phase }) => Phase === 'draining');
    await waitForTombstone(scratch.graveyard, 'sidecar', 'holds', ({ Phase }) => Phase === 'holding');
    await strike();
    for (const { supervisor } of members) send(supervisor() ?? 0, 'SIGKILL');
    if (readTimeline(scratch.log).signals('main').length > 0)
      throw new Error('the drain was over before the fault was there');
  }
  const observed = way.by === 'stop' ? members : [sidecar];
  const ends = await Promise.all(observed.map((it) => observe(place, it, askedMs, limitMs)));
  if (way.was === 'asleep') for (const it of observed) assertNoSupervisor(place, it);
  return inOrder(place, ends);
}

async function start(
  place: Place,
  { controller, fillMb = 0 }: Fault,
  { was, declares }: Way,
  { sexton }: Copy,
  name: MemberName,
  role: readonly string[],
  options: MemberOptions,
): Promise<Member> {
  const { scratch } = place;
  const cgroup = controller === undefined ? undefined : makeCgroup(scratch, controller, name);
  const declared = ['--name', name, '--graveyard', scratch.graveyard, '--restart-policy', 'Never'];
  const grace = declares ? ['--grace-period', GRACE] : [];
  const rest = [...(was === 'asleep' ? SLEEPS : AWAKE), '--log-level', 'info'];
  const command = member(place, name, { ...options, fill: fillMb });
  const container = startContainer(scratch, {
    name,
    bare: true,
    inside: cgroup === undefined ? [] : ['sh', '-c', `echo 0 >${cgroup.dir}/cgroup.procs && exec "$@"`, 'sh'],
    command: [sexton, 'run', ...declared, ...role, ...grace, ...rest, '--', ...command],
  });
  await waitForEvent(scratch.log, name, 'Started');
  const pid1 = await container.pid1();
  return { name, container, pid1, cgroup, supervisor: () => childrenOf(pid1).find(isSupervisor) };
}

/** Its supervisor has been there, as its tombstone says, and is reaped: only the command is left. */
function isAsleep({ pid1 }: Member): boolean {
  return childrenOf(pid1).length === 1;
}

/** A supervisor that lives says that it was asked. One may come when the command has given back what it lacked. */
function assertNoSupervisor({ scratch }: Place, { name, container }: Member): void {
  const line = container
    .stderr()
    .split('\n')
    .find((it) => it.includes('"message":"asked to stop"'));
  const log = readTimeline(scratch.log);
  if (line === undefined || log.of(name, 'Exiting').length === 0) return;
  const saidMs = Date.parse(JSON.parse(line).time) - Date.now() + nowMs();
  assert.ok(saidMs > log.at(name, 'Signal').atMs, `the fault does not hold: ${name} has a supervisor`);
}

async function observe({ scratch }: Place, it: Member, askedMs: number, limitMs: number): Promise<End> {
  const { name, container } = it;
  const late = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: late.signal }).catch(() => undefined);
  const exit = await Promise.race([container.ended, limit]);
  late.abort();
  const endedMs = exit === undefined ? undefined : nowMs() - askedMs;
  if (exit === undefined) await container.kill();
  const log = readTimeline(scratch.log);
  const [term] = log.of(name, 'Signal');
  const violations = [
    ...(term === undefined ? [`${name} got no TERM`] : []),
    ...(term !== undefined && log.of(name, 'Exiting').length === 0 ? [`${name} was killed in its handler`] : []),
    ...(exit === undefined ? [`the container of ${name} had not ended after ${limitMs} ms`] : []),
    ...(exit !== undefined && exit.status !== 0 ? [`the container of ${name} ended with ${exit.status}`] : []),
  ];
  return { name, termMs: term === undefined ? undefined : term.atMs - askedMs, exit, endedMs, violations };
}

function inOrder({ scratch }: Place, ends: readonly End[]): End[] {
  const log = readTimeline(scratch.log);
  const [main, sidecar] = (['main', 'sidecar'] as const).map((name) => log.of(name, 'Exiting').at(-1)?.index);
  const isEarly = main !== undefined && sidecar !== undefined && sidecar < main;
  const early = ['the sidecar ended before its main'];
  return ends.map((end) =>
    isEarly && end.name === 'sidecar' ? { ...end, violations: [...end.violations, ...early] } : end,
  );
}

/** The time on CLOCK_MONOTONIC, which the commands write into their log. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
