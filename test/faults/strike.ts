/** One strike on a pod that runs. It says whether it hit something: a process that lived, a file that was there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCgroup } from '../helpers/cgroup.ts';
import { type Container, isSupervisor } from '../helpers/container.ts';
import { argumentsOf, childrenOf, hasEnded, send } from '../helpers/process.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';
import type { RunningPod } from '../pods/kubelet.ts';
import { flood } from './flood.ts';
import type { Plan } from './plan.ts';
import { type Happening, nowMs } from './record.ts';
import type { Strike, StrikeKind } from './strikes.ts';
import type { Volume } from './volume.ts';

export interface Scene {
  readonly plan: Plan;
  readonly pod: RunningPod;
  readonly volume: Volume;
  readonly scratch: Scratch;
  /** When each member's tombstone and handle were first seen. */
  readonly writtenMs: Map<string, number>;
  /** Makes the second of two strikes on the volume wait for the first. */
  readonly inTurn: <T>(step: () => Promise<T>) => Promise<T>;
  /** Records a strike as it begins: a stop counts also when its call never returns. */
  readonly tell: (happening: Happening) => void;
}

/** What an application takes to be killed, and enough for a supervisor to miss the next page. */
const HOG_LIMIT_BYTES = 16 << 20;
const SUPERVISOR_LIMIT_BYTES = 64 << 10;

export async function strike(scene: Scene, it: Strike): Promise<void> {
  const { kind, member } = it;
  const stop = stopOf(scene, it);
  if (stop !== undefined) {
    // Recorded before it is done, because all its effects come later.
    const [atMs, written] = [nowMs(), writtenNow(scene)];
    if (stop.isHit)
      scene.tell({ kind, member, fromMs: atMs, written, untilMs: atMs, isHit: true, value: stop.graceMs });
    await stop.act();
    return;
  }
  const act = async (): Promise<void> => {
    const [fromMs, written, value] = [nowMs(), writtenNow(scene), Number(await faultOf(scene, it))];
    scene.tell({ kind, member, fromMs, written, untilMs: nowMs(), isHit: value > 0, value });
  };
  await (ON_VOLUME.has(it.kind) ? scene.inTurn(act) : act());
}

/** The members whose tombstone and handle exist: the others notice if one of them vanishes from now on. */
export function writtenNow({ plan, volume }: Pick<Scene, 'plan' | 'volume'>): string[] {
  return plan.members.map(({ name }) => name).filter((name) => volume.has(name) && volume.has(`.${name}.sock`));
}

const ON_VOLUME: ReadonlySet<StrikeKind> = new Set([
  'fill-volume',
  'read-only',
  'take-permission',
  'recreate',
  'wipe',
  'tear',
  'flood',
]);

interface Stop {
  readonly isHit: boolean;
  readonly graceMs: number;
  readonly act: () => Promise<unknown>;
}

function stopOf({ pod, plan }: Scene, it: Strike): Stop | undefined {
  const container = lifeOf(pod, it.member);
  switch (it.kind) {
    case 'delete':
      return { isHit: true, graceMs: plan.graceMs, act: () => pod.delete() };
    case 'delete-again': {
      const graceMs = 1_000 + (it.chance % 1_000);
      return { isHit: true, graceMs, act: () => pod.delete(graceMs) };
    }
    case 'stop-again': {
      const pid = container?.findNow();
      const isHit = pid !== undefined;
      return { isHit, graceMs: plan.graceMs, act: async () => isHit && send(pid, 'SIGTERM') };
    }
    case 'stop-one':
      return {
        isHit: container !== undefined,
        graceMs: plan.graceMs,
        act: async () => (container === undefined ? undefined : pod.replace(it.member)),
      };
    default:
      return undefined;
  }
}

/** Whether it hit, or how often. */
async function faultOf(scene: Scene, it: Strike): Promise<boolean | number> {
  const { pod, volume, scratch, plan } = scene;
  const container = lifeOf(pod, it.member);
  const pid1 = container?.findNow();
  const supervisor = pid1 === undefined ? undefined : supervisorOf(pid1);
  const application = pid1 === undefined ? undefined : applicationOf(pid1, it.member);
  switch (it.kind) {
    case 'kill-supervisor':
      return kill(supervisor, 'SIGKILL');
    case 'kill-supervisor-often':
      return killSupervisors(container, 2 + (it.chance % 4), it.chance % 120);
    case 'kill-init':
      // By way of unshare, which else would not tell how its PID 1 ended.
      return pid1 !== undefined && container !== undefined && (await container.kill()).wasKilled;
    case 'kill-application':
      return kill(application, (['SIGKILL', 'SIGKILL', 'SIGSEGV'] as const)[it.chance % 3] ?? 'SIGKILL');
    case 'pause-supervisor':
      return pause(supervisor === undefined ? [] : [supervisor], it.forMs);
    case 'pause-init':
      return pause(pid1 === undefined ? [] : [pid1], it.forMs);
    case 'pause-container':
      return pause(pid1 === undefined ? [] : [pid1, ...below(pid1)], it.forMs);
    case 'oom-application':
      if (application === undefined || !starve(scratch, application, HOG_LIMIT_BYTES)) return false;
      return kill(application, 'SIGUSR2');
    case 'oom-supervisor':
      if (supervisor === undefined || !starve(scratch, supervisor, SUPERVISOR_LIMIT_BYTES)) return false;
      return waitFor('it is out of memory', () => hasEnded(supervisor), it.forMs + 300).catch(() => false);
    case 'fill-volume': {
      const isHit = volume.fill();
      await sleep(it.forMs);
      volume.free();
      return isHit;
    }
    case 'read-only': {
      const isHit = await volume.setReadOnly(true);
      await sleep(it.forMs);
      // No process can write meanwhile, so this cannot fail.
      await volume.setReadOnly(false);
      return isHit;
    }
    case 'take-permission':
      volume.setWritable(false);
      await sleep(it.forMs);
      volume.setWritable(true);
      return plan.user !== undefined;
    case 'recreate':
      volume.remove();
      if (it.chance % 2 === 0) await sleep(it.forMs);
      volume.create();
      return true;
    case 'wipe':
      volume.wipe();
      return true;
    case 'tear':
      return volume.tear(it.member);
    case 'flood':
      return flood(volume.graveyard, 20 + (it.chance % 60)) > 20;
    case 'foreign-signals':
      return kill(pid1, 'SIGHUP');
    default:
      throw new Error(`internal error: no fault ${it.kind}`);
  }
}

let groups = 0;

/** Puts it into a cgroup of its own, where a page more than `bytes` is its end. False: it has ended before. */
function starve(scratch: Scratch, pid: number, bytes: number): boolean {
  groups += 1;
  const group = makeCgroup(scratch, 'memory', `-${groups}`);
  group.limit(bytes);
  return group.enter(pid);
}

function lifeOf(pod: RunningPod, name: string): Container | undefined {
  return pod.state(name).running ? pod.current(name) : undefined;
}

function supervisorOf(pid1: number): number | undefined {
  return childrenOf(pid1).find(isSupervisor);
}

/** Its probes are children of PID 1, too, but have names of their own. */
function applicationOf(pid1: number, name: string): number | undefined {
  return childrenOf(pid1).find((pid) => argumentsOf(pid)[1] === `name=${name}`);
}

function kill(pid: number | undefined, signal: NodeJS.Signals): boolean {
  return pid !== undefined && !hasEnded(pid) && send(pid, signal);
}

/** Each supervisor that comes, for some times. */
async function killSupervisors(container: Container | undefined, times: number, everyMs: number): Promise<number> {
  let hits = 0;
  for (let n = 0; n < times && container?.process.exitCode === null; n += 1) {
    const pid1 = container.findNow();
    if (kill(pid1 === undefined ? undefined : supervisorOf(pid1), 'SIGKILL')) hits += 1;
    await sleep(everyMs);
  }
  return hits;
}

async function pause(pids: readonly number[], forMs: number): Promise<boolean> {
  const hit = pids.filter((pid) => kill(pid, 'SIGSTOP'));
  await sleep(forMs);
  for (const pid of hit) send(pid, 'SIGCONT');
  return hit.length > 0;
}

/** All that descends from it. */
export function below(pid: number): number[] {
  return childrenOf(pid).flatMap((it) => [it, ...below(it)]);
}
