/**
 * A stand-in for the kubelet: what it does to the containers of one pod, and nothing else.
 *
 * Theory of operation: predecessors (`init`) run one by one, each until it exits 0; then all other containers start at
 * once. Each is started again as its restart rules or the pod's restartPolicy say, after a back-off that doubles. A
 * rule that restarts all ends them all at once; then the predecessors run again. A deletion ends all restarting and
 * stops all containers side by side, each in the way of `kubelet-container.ts`. A deletion that comes later changes
 * nothing, as with the real one (docs/internals/kubernetes.md). The engine of the run decides what a container is; its
 * PID 1 is `dist/sexton/sexton`.
 *
 * No container can see its pod, so flags pass on what the pod declares: restart policy, grace period, session.
 *
 * A node that reboots is a crash and then a pod with the same session over the same graveyard. Only the kernel makes a
 * boot id, so `ageGraveyard` makes the tombstones older instead.
 *
 * A container that runs on when its test is over fails that test.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Container, startContainer } from '../helpers/container.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { FAR_MS, waitFor, within } from '../helpers/wait.ts';
import { aborted, type ContainerState, KubeletContainer, type PodContainer } from './kubelet-container.ts';

export type { PodContainer } from './kubelet-container.ts';

export interface Pod {
  readonly restartPolicy: 'Never' | 'OnFailure' | 'Always';
  readonly graceMs: number;
  readonly containers: readonly PodContainer[];
  /** The pod's uid; false: not declared to the members. Random if not given. */
  readonly session?: string | false;
  /** False: the grace period is not declared to the members. */
  readonly declareGrace?: boolean;
}

/** Pending: a predecessor has not ended yet. */
export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface RunningPod {
  /** No container runs and none will be started again. */
  readonly ended: Promise<Phase>;
  /** The same with the far limit. */
  end(): Promise<Phase>;
  phase(): Phase;
  state(name: string): ContainerState;
  /** The status of its last life. */
  exitOf(name: string): number;
  /** The life that runs, or the last one. */
  current(name: string): Container;
  delete(graceMs?: number): Promise<Phase>;
  /** As a failed liveness probe: stops this container alone, and starts it again unless the policy is `Never`. */
  replace(name: string, graceMs?: number): Promise<void>;
  /** What an operator's restart of one container does: one more life, whatever the policy. */
  rerun(name: string): void;
  /** The node loses power: everything ends in the same instant and nothing comes back. */
  crash(): Promise<void>;
}

const BACKOFF_MS = { first: 100, most: 1_000 };

export function runPod(scratch: Scratch, pod: Pod): RunningPod {
  const session = pod.session ?? randomUUID();
  const launch = (spec: PodContainer): Container =>
    startContainer(scratch, { ...spec, flags: flagsOf(pod, spec, scratch.graveyard, session) });
  const all = pod.containers.map((spec) => new KubeletContainer(spec, launch));
  const deletion = new AbortController();
  scratch.beforeClear(() => deletion.abort());
  const replaced = new Set<KubeletContainer>();
  /** Ends with a restart of all. */
  let round = new AbortController();

  const live = async (kept: KubeletContainer): Promise<void> => {
    for (let backoffMs = BACKOFF_MS.first; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.most)) {
      const { status } = await kept.live();
      const isReplaced = replaced.delete(kept) && pod.restartPolicy !== 'Never';
      const rule = kept.spec.rules?.[status];
      if (deletion.signal.aborted || round.signal.aborted) break;
      if (rule === 'restart-all') {
        round.abort();
        // At once, without a grace period.
        void Promise.all(all.map((it) => it.kill()));
        break;
      }
      if (!(isReplaced || rule === 'restart' || runsAgain(pod, kept.spec, status))) break;
      const over = [aborted(deletion.signal), aborted(round.signal)];
      await Promise.race([kept.spec.backoff?.(kept.lives + 1) ?? sleep(backoffMs), ...over]);
      if (deletion.signal.aborted || round.signal.aborted) break;
    }
    kept.close();
  };
  const extra: Promise<unknown>[] = [];
  let phase: Phase = 'Pending';
  const work = async (): Promise<Phase> => {
    do {
      round = new AbortController();
      for (const kept of all.filter((it) => it.spec.init)) {
        await live(kept);
        if (deletion.signal.aborted || kept.lastStatus !== 0) return 'Failed';
      }
      phase = 'Running';
      await Promise.all(all.filter((it) => !it.spec.init).map(live));
    } while (round.signal.aborted && !deletion.signal.aborted);
    for (let next = extra.shift(); next !== undefined; next = extra.shift()) await next;
    return all.every((it) => it.exits.at(-1) === 0) ? 'Succeeded' : 'Failed';
  };
  const ended = work().then((found) => {
    phase = found;
    return phase;
  });
  scratch.clearAlso(() => clear(all, scratch.settleMs));

  const get = (name: string): KubeletContainer => {
    const found = all.find((it) => it.spec.name === name);
    if (found === undefined) throw new Error(`internal error: the pod has no container ${name}`);
    return found;
  };
  const over = new AbortController();
  return {
    ended,
    end: () => within('the pod ends', ended),
    phase: () => phase,
    state: (name) => get(name).state,
    exitOf: (name) => get(name).lastStatus,
    current: (name) => get(name).last,
    delete: (graceMs = pod.graceMs) => {
      if (!deletion.signal.aborted) {
        deletion.abort();
        const timer = setTimeout(() => over.abort(), graceMs);
        void ended.then(() => clearTimeout(timer));
        void Promise.all(all.map((kept) => kept.stop(over.signal)));
      }
      return within('the pod ends after its deletion', ended, graceMs + FAR_MS);
    },
    replace: (name, graceMs = pod.graceMs) => {
      replaced.add(get(name));
      return get(name).stop(AbortSignal.timeout(graceMs));
    },
    rerun: (name) => {
      extra.push(get(name).live());
    },
    crash: async () => {
      deletion.abort();
      await Promise.all(all.map((kept) => kept.kill()));
      await ended;
    },
  };
}

/** Makes all tombstones those of another boot, as a disk keeps them through a reboot. */
export function ageGraveyard(graveyard: string): void {
  for (const name of readdirSync(graveyard).filter((it) => !it.startsWith('.'))) {
    const file = join(graveyard, name);
    const old = { ...JSON.parse(readFileSync(file, 'utf8')), Boot: '00000000-0000-4000-8000-000000000000' };
    writeFileSync(file, JSON.stringify(old));
  }
}

/** What just ends is given the time to. */
async function clear(all: readonly KubeletContainer[], settleMs: number): Promise<string | undefined> {
  await waitFor('no container runs', () => all.every((it) => !it.isRunning), settleMs).catch(() => {});
  const left = all.filter((it) => it.isRunning);
  await Promise.all(left.map((kept) => kept.kill()));
  return left.length === 0 ? undefined : `the pod still ran: ${left.map((it) => it.spec.name).join(', ')}`;
}

function flagsOf(pod: Pod, spec: PodContainer, graveyard: string, session: string | false): string[] {
  const declared = ['--name', spec.name, '--graveyard', graveyard, '--restart-policy', pod.restartPolicy];
  if (session !== false) declared.push('--session', session);
  if (pod.declareGrace !== false) declared.push('--grace-period', `${pod.graceMs}ms`);
  return [...declared, ...(spec.flags ?? [])];
}

function runsAgain(pod: Pod, spec: PodContainer, status: number): boolean {
  switch (pod.restartPolicy) {
    case 'Never':
      return false;
    case 'OnFailure':
      return status !== 0;
    case 'Always':
      return spec.init ? status !== 0 : true;
    default:
      return pod.restartPolicy satisfies never;
  }
}
