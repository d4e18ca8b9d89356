/**
 * A stand-in for the kubelet: what it does to the containers of one pod, and nothing else.
 *
 * Theory of operation: predecessors (`init`) run one by one, each until it exits 0; then all other containers start at
 * once and each is started again as the pod's restartPolicy says, with a short backoff. A deletion ends all restarting,
 * sends TERM to every PID 1 at once (to one with a preStop only after that) and kills at the grace period what is left,
 * each container's whole PID namespace. What a container is the engine of the run says; its PID 1 is `dist/sexton/sexton`.
 *
 * As no container can see its pod, what the pod declares is handed over as flags: restart policy, grace period, session.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Container, type Exit, startContainer } from '../helpers/container.ts';
import { send } from '../helpers/process.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor, within } from '../helpers/wait.ts';

export interface PodContainer {
  readonly name: string;
  /** Flags of sexton besides those that the pod declares. */
  readonly flags?: readonly string[];
  readonly command: readonly string[];
  readonly preStopMs?: number;
  readonly init?: boolean;
  /** The command is PID 1 itself, without sexton. */
  readonly bare?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly memoryMb?: number;
  readonly sees?: readonly string[];
}

export interface Pod {
  readonly restartPolicy: 'Never' | 'OnFailure' | 'Always';
  readonly graceMs: number;
  readonly containers: readonly PodContainer[];
  /** The pod's uid; false: not declared to the members. Random if not given. */
  readonly session?: string | false;
  /** False: the grace period is not declared to the members. */
  readonly declareGrace?: boolean;
}

export type Phase = 'Running' | 'Succeeded' | 'Failed';

export interface ContainerState {
  readonly name: string;
  readonly running: boolean;
  /** The status of each life that ended. */
  readonly exits: readonly number[];
  readonly restarts: number;
  /** The grace period ended it. */
  readonly killed: boolean;
}

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
  /** What an operator's restart of one container does: one more life, whatever the policy. */
  rerun(name: string): void;
  /** The node loses power: everything ends in the same instant and nothing comes back. */
  crash(): Promise<void>;
}

interface Kept {
  readonly spec: PodContainer;
  readonly exits: number[];
  lives: number;
  killed: boolean;
  running: Container | undefined;
  last: Container | undefined;
}

const BACKOFF_MS = { first: 100, most: 1_000 };

export function runPod(scratch: Scratch, pod: Pod): RunningPod {
  const records = new Map<string, Kept>();
  for (const spec of pod.containers) {
    const fresh = { spec, exits: [], lives: 0, killed: false, running: undefined, last: undefined };
    records.set(spec.name, fresh);
  }
  const session = pod.session ?? randomUUID();
  const deletion = new AbortController();
  scratch.beforeClear(() => deletion.abort());

  const startOne = async (record: Kept): Promise<Exit> => {
    const container = startContainer(scratch, {
      ...record.spec,
      flags: flagsOf(pod, record.spec, scratch.graveyard, session),
    });
    record.lives += 1;
    record.running = container;
    record.last = container;
    const exit = await container.ended;
    record.running = undefined;
    record.exits.push(exit.status);
    return exit;
  };
  const live = async (record: Kept): Promise<void> => {
    for (let backoffMs = BACKOFF_MS.first; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.most)) {
      const exit = await startOne(record);
      if (deletion.signal.aborted || !runsAgain(pod, record.spec, exit.status)) return;
      await sleep(backoffMs, undefined, { signal: deletion.signal }).catch(() => {});
      if (deletion.signal.aborted) return;
    }
  };
  const extra: Promise<void>[] = [];
  const all = [...records.values()];
  const work = async (): Promise<Phase> => {
    for (const record of all.filter((it) => it.spec.init)) {
      await live(record);
      if (deletion.signal.aborted || record.exits.at(-1) !== 0) return 'Failed';
    }
    await Promise.all(all.filter((it) => !it.spec.init).map(live));
    for (let next = extra.shift(); next !== undefined; next = extra.shift()) await next;
    return phaseOf(all);
  };
  const ended = work();
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });

  const get = (name: string): Kept => {
    const found = records.get(name);
    if (found === undefined) throw new Error(`internal error: the pod has no container ${name}`);
    return found;
  };
  const terminate = async (record: Kept, isOver: AbortSignal): Promise<void> => {
    const { running, spec } = record;
    if (running === undefined) return;
    await sleep(spec.preStopMs ?? 0, undefined, { signal: isOver }).catch(() => {});
    // The runtime starts a container before it can be signalled; a namespace whose PID 1 is not yet sexton is not started.
    const pid = await Promise.race([running.pid1().catch(() => undefined), running.ended.then(() => undefined)]);
    if (pid !== undefined && record.running === running && !isOver.aborted) send(pid, 'SIGTERM');
  };
  const killAll = async (): Promise<void> => {
    const left = all.filter((it) => it.running !== undefined);
    await Promise.all(
      left.map(async (record) => {
        const outcome = await record.running?.kill();
        record.killed = outcome?.wasKilled ?? false;
      }),
    );
  };
  return {
    ended,
    end: () => within('the pod ends', ended),
    phase: () => (isEnded ? phaseOf(all) : 'Running'),
    state: (name) => {
      const { spec, running, exits, lives, killed } = get(name);
      return { name: spec.name, running: running !== undefined, exits: [...exits], restarts: lives - 1, killed };
    },
    exitOf: (name) => {
      const last = get(name).exits.at(-1);
      if (last === undefined) throw new Error(`${name} has not ended`);
      return last;
    },
    current: (name) => {
      const { last } = get(name);
      if (last === undefined) throw new Error(`${name} was not started`);
      return last;
    },
    delete: async (graceMs = pod.graceMs) => {
      deletion.abort();
      const over = new AbortController();
      let killing = Promise.resolve();
      const timer = setTimeout(() => {
        over.abort();
        killing = killAll();
      }, graceMs);
      await Promise.all(all.map((record) => Promise.race([terminate(record, over.signal), ended])));
      const phase = await within('the pod ends after its deletion', ended);
      clearTimeout(timer);
      over.abort();
      await killing;
      return phase;
    },
    rerun: (name) => {
      extra.push(startOne(get(name)).then(() => {}));
    },
    crash: async () => {
      deletion.abort();
      await killAll();
      await ended;
    },
  };
}

/** Waits until each of these is a process that sexton runs as. */
export function waitForContainers(pod: RunningPod, names: readonly string[]): Promise<unknown> {
  return waitFor(`${names.join(', ')} run`, async () => {
    const states = names.map((name) => pod.state(name).running);
    if (!states.every(Boolean)) return false;
    await Promise.all(names.map((name) => pod.current(name).pid1()));
    return true;
  });
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

function phaseOf(records: readonly Kept[]): Phase {
  return records.every((it) => it.exits.at(-1) === 0) ? 'Succeeded' : 'Failed';
}
