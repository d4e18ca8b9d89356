/** One round: a pod of real processes, strikes on it, its end, and the verdict. What a failing round leaves is kept. */
import { chmodSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Container } from '../helpers/container.ts';
import type { Fixtures } from '../helpers/fixture.ts';
import { member } from '../helpers/member.ts';
import { type Scratch, tempGraveyard } from '../helpers/scratch.ts';
import { readTimeline } from '../helpers/timeline.ts';
import { FAR_MS, waitFor, within } from '../helpers/wait.ts';
import { type Pod, runPod } from '../pods/kubelet.ts';
import type { PodContainer } from '../pods/kubelet-container.ts';
import { keep } from './artefacts.ts';
import { isPodStop } from './asks.ts';
import { demandsAnEnd, isLockedOut } from './ending.ts';
import { type MemberPlan, mainsOf } from './members.ts';
import { isDeleted, type Plan, planOf } from './plan.ts';
import { type ContainerLife, type Happening, nowMs, type RoundRecord } from './record.ts';
import { type Scene, strike, writtenNow } from './strike.ts';
import type { StrikeKind } from './strikes.ts';
import { violationsOf } from './violations.ts';
import { mountVolume } from './volume.ts';

export interface RoundResult {
  readonly seed: number;
  /** What was violated; empty: it passed. */
  readonly violations: readonly string[];
  /** Where all of it can be read, when it failed. */
  readonly artefacts: string | undefined;
  readonly hits: readonly StrikeKind[];
  readonly misses: readonly StrikeKind[];
  readonly members: number;
  /** The end could not be demanded, because a fault destroyed what it hangs on, and it did not come either. */
  readonly wasHelped: boolean;
}

export interface RoundOptions {
  readonly isRoot: boolean;
  readonly isStrict: boolean;
}

/** Until then a pod must have ended by itself, however slow the machine is. */
const HUNG_MS = 3 * FAR_MS;
/** Where the end cannot be demanded: long enough for most to see by the handle alone that a main is gone. */
const HELPED_AFTER_MS = 4_000;

export async function playRound(
  seed: number,
  fixtures: Fixtures,
  { isRoot, isStrict }: RoundOptions,
): Promise<RoundResult> {
  const plan = planOf(seed, isRoot);
  const cleaning: (() => void | Promise<void>)[] = [];
  const scratch = await tempGraveyard({ after: (step) => void cleaning.push(step as () => Promise<void>) });
  const lives: ContainerLife[] = [];
  const happenings: Happening[] = [];
  const violations: string[] = [];
  const writtenMs = new Map<string, number>();
  const volume = await mountVolume(scratch, isRoot);
  let record: RoundRecord | undefined;
  try {
    writeFileSync(scratch.log, '');
    chmodSync(scratch.log, 0o666);
    const pod = runPod({ ...scratch, graveyard: volume.graveyard }, podOf(plan, { scratch, fixtures }, lives));
    let last: Promise<unknown> = Promise.resolve();
    const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
      const turn = last.then(step);
      last = turn.catch(() => {});
      return turn;
    };
    const scene = { plan, pod, volume, scratch, inTurn, writtenMs, tell: (it: Happening) => happenings.push(it) };
    const endedByItself = await play(scene, happenings);
    const { events } = readTimeline(scratch.log);
    record = { plan, happenings, lives, events, graveyard: volume.read(), writtenMs, endedByItself };
    violations.push(...violationsOf(record, isStrict));
  } catch (error) {
    violations.push(error instanceof Error ? error.message : String(error));
  }
  const { events } = readTimeline(scratch.log);
  record ??= { plan, happenings, lives, events, graveyard: volume.read(), writtenMs, endedByItself: false };
  const artefacts = violations.length === 0 ? undefined : keep(record, violations);
  const left = await clear(cleaning, () => volume.unmount());
  if (left !== undefined) violations.push(left);
  return {
    seed,
    violations,
    artefacts: artefacts ?? (left === undefined ? undefined : keep(record, violations)),
    hits: happenings.filter((it) => it.isHit).map((it) => it.kind),
    misses: happenings.filter((it) => !it.isHit).map((it) => it.kind),
    members: plan.members.length,
    wasHelped: !record.endedByItself,
  };
}

/** Strikes, and waits for the end. True: the pod came to it as planned. */
async function play(scene: Scene, happenings: readonly Happening[]): Promise<boolean> {
  const { plan, pod, scratch } = scene;
  const startMs = nowMs();
  let isOver = false;
  void pod.ended.then(() => {
    isOver = true;
  });
  const hasBegunToEnd = (): boolean =>
    look() ||
    isOver ||
    happenings.some(isPodStop) ||
    mainsOf(plan.members).every(({ name }) => pod.state(name).is === 'terminated') ||
    readTimeline(scratch.log).events.some((it) => it.event === 'Exiting' && it.name.startsWith('m'));
  const look = (): false => {
    for (const name of writtenNow(scene)) if (!scene.writtenMs.has(name)) scene.writtenMs.set(name, nowMs());
    return false;
  };
  const end = waitFor('the end begins', hasBegunToEnd, 2 * HUNG_MS);
  const all = plan.strikes.map(async (it) => {
    if (it.from === 'end') await end;
    if (it.from === 'signal')
      await waitFor('the stop signal', () => isOver || hasSignal(scratch.log, it.member), 2 * HUNG_MS);
    await sleep(it.from === 'start' ? Math.max(0, startMs + it.atMs - nowMs()) : it.atMs);
    if (!isOver) await strike(scene, it);
  });
  const early = all.filter((_, index) => plan.strikes[index]?.from === 'start' && !isStop(plan, index));
  void Promise.allSettled(early).then(() => writeFileSync(scratch.path('open'), ''));
  const done = Promise.all(all);
  // A failure is reported later, after what is waited for first.
  done.catch(() => {});
  if (isDeleted(plan)) {
    await within('the pod ends after its deletion', Promise.all([done, pod.ended]), 2 * HUNG_MS);
    return true;
  }
  // What waits for a stop signal may wait for ever: whether one comes is what is asked here.
  const sure = all.filter((_, index) => plan.strikes[index]?.from !== 'signal');
  const endedByItself = await endOf(scene, Promise.all(sure), happenings);
  // Strikes that are under way are recorded when they end.
  await within('all strikes are over', done, HUNG_MS);
  return endedByItself;
}

function hasSignal(log: string, name: string): boolean {
  return readTimeline(log)
    .of(name, 'Signal')
    .some((it) => STOP_SIGNALS.has(Number(it.detail)));
}

const STOP_SIGNALS: ReadonlySet<number> = new Set([2, 3, 15]);

function isStop(plan: Plan, index: number): boolean {
  return ['delete', 'stop-one'].includes(plan.strikes[index]?.kind ?? '');
}

/** Where a fault has destroyed what the end hangs on an operator deletes the pod. */
async function endOf(scene: Scene, done: Promise<unknown>, happenings: readonly Happening[]): Promise<boolean> {
  const { plan, pod, scratch } = scene;
  const isOver = ({ name }: MemberPlan): boolean => pod.state(name).is === 'terminated';
  const mains = mainsOf(plan.members);
  const areMainsOver = (): boolean =>
    mains.every((it) => isOver(it) || isLockedOut(plan, it, (name) => pod.state(name)));
  await waitFor('the mains end', areMainsOver, HUNG_MS);
  await within('the strikes are over', done, HUNG_MS);
  const isDemanded = (): boolean =>
    mains.every(isOver) && demandsAnEnd({ plan, happenings, events: readTimeline(scratch.log).events });
  const isEnded = (): Promise<boolean> =>
    within('the pod ends', pod.ended, HELPED_AFTER_MS).then(
      () => true,
      () => false,
    );
  const lastMs = nowMs() + HUNG_MS;
  while (!(await isEnded())) {
    // Asked again each time: a strike that waits for a stop signal may come only now.
    if (!isDemanded()) return help(scene);
    if (nowMs() > lastMs) throw new Error(`waited ${HUNG_MS} ms in vain: the pod ends`);
  }
  return true;
}

async function help({ plan, pod, tell }: Scene): Promise<false> {
  tell({
    kind: 'delete',
    member: '',
    fromMs: nowMs(),
    untilMs: nowMs(),
    isHit: true,
    value: plan.graceMs,
    written: [],
  });
  await pod.delete();
  return false;
}

function podOf(plan: Plan, stage: { scratch: Scratch; fixtures: Fixtures }, lives: ContainerLife[]): Pod {
  return {
    restartPolicy: plan.policy,
    graceMs: plan.graceMs,
    declareGrace: plan.declareGrace,
    ...(plan.declareSession ? {} : { session: false as const }),
    containers: plan.members.map((it) => containerOf(plan, it, stage, lives)),
  };
}

function containerOf(
  plan: Plan,
  it: MemberPlan,
  { scratch, fixtures }: { scratch: Scratch; fixtures: Fixtures },
  lives: ContainerLife[],
): PodContainer {
  const options = {
    ...it.options,
    counter: scratch.path(`${it.name}.lives`),
    trap: 'all',
    default: 'SEGV',
    hogon: 'USR2',
    hog: 64,
    ...(plan.isEndless && it.role === 'main' ? { run: 0, term: Math.max(200, Number(it.options.term)) } : {}),
    ...(plan.isHeldOpen && it.role === 'main' ? { after: scratch.path('open') } : {}),
  };
  const probe = [fixtures.member, `name=${it.name}.probe`, `exists=${scratch.dir}`].join(' ');
  const probes = ['--readiness', '--liveness'].flatMap((flag) => [
    flag,
    `exec:${probe},period=200ms,timeout=60s,failures=3`,
  ]);
  return {
    name: it.name,
    flags: [...it.flags, ...(it.isProbed ? probes : [])],
    command: member({ scratch, fixtures } as Parameters<typeof member>[0], it.name, options),
    ...(plan.user === undefined ? {} : { user: plan.user }),
    onLife: follow(it.name, lives),
  };
}

/** A life counts from the end of the previous one, because it may act before we know that it was started. */
function follow(name: string, lives: ContainerLife[]): (container: Container) => void {
  let fromMs = nowMs();
  return (container) => {
    void container.ended.then(({ status }) => {
      const untilMs = nowMs();
      lives.push({ member: name, fromMs, untilMs, status, stderr: container.stderr() });
      fromMs = untilMs;
    });
  };
}

/** The last is the first: what was mounted must be free before its directory goes. */
async function clear(
  steps: readonly (() => void | Promise<void>)[],
  unmount: () => Promise<void>,
): Promise<string | undefined> {
  const problems: string[] = [];
  const attempt = async (step: () => void | Promise<void>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  };
  await attempt(unmount);
  for (const step of steps) await attempt(step);
  return problems.length === 0 ? undefined : problems.join('; ');
}
