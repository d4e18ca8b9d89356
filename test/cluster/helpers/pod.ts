/**
 * One pod of a test, whose changes and logs are followed from the beginning, so that they are known when it has gone.
 * It is deleted when the test is over. When the test fails, its error contains all of them.
 */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Tombstone } from '../../../src/core/format/tombstone.ts';
import { parseTimeline, type Timeline } from '../../helpers/timeline.ts';
import { within } from '../../helpers/wait.ts';
import { ApiError, ask, kubectl } from './api.ts';
import { LogFollower } from './logs.ts';
import { OBSERVER } from './members.ts';
import { type ContainerStatus, containerStatuses, type PodObject, type PodSpec, type Terminated } from './objects.ts';
import { namespace, type PodChange, podsPath, watchPods } from './watch.ts';

/** A stop that takes the pod's whole grace period, on a slow machine. */
const LIMIT_MS = 150_000;

interface PodEvent {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string;
}

export class ClusterPod {
  readonly name: string;
  readonly changes: PodChange[] = [];
  readonly #logs: LogFollower;
  readonly #waiting = new Set<() => void>();
  #stop = (): void => {};

  constructor(name: string) {
    this.name = name;
    this.#logs = new LogFollower(`${podsPath()}/${name}`, () => this.#wake());
  }

  /** Follows a pod of this name, which may not exist yet. */
  async follow(): Promise<this> {
    this.#stop = await watchPods((change) => {
      if (change.pod.metadata.name !== this.name) return;
      this.changes.push(change);
      for (const status of containerStatuses(change.pod)) this.#logs.onStatus(status);
      this.#wake();
    });
    return this;
  }

  /** The last that was heard of it. */
  get now(): PodObject {
    const last = this.changes.at(-1);
    if (last === undefined) throw new Error(`nothing was heard of the pod ${this.name}`);
    return last.pod;
  }

  get isGone(): boolean {
    return this.changes.at(-1)?.type === 'DELETED';
  }

  status(container: string): ContainerStatus {
    const found = this.findStatus(container);
    if (found === undefined) throw new Error(`${this.name} has no status of ${container}`);
    return found;
  }

  /** Undefined before the kubelet has reported it. */
  findStatus(container: string): ContainerStatus | undefined {
    return containerStatuses(this.now).find((it) => it.name === container);
  }

  waitingReason(container: string): string | undefined {
    return this.findStatus(container)?.state.waiting?.reason;
  }

  /** The end of a container's last life, also when it runs again. */
  end(container: string): Terminated {
    const { state, lastState } = this.status(container);
    const found = state.terminated ?? lastState.terminated;
    if (found === undefined) throw new Error(`${container} of ${this.name} has not ended`);
    return found;
  }

  /**
   * The kubelet has lost a container that has ended, as after some evictions. It reports words of its own then, and 137:
   * https://github.com/kubernetes/kubernetes/issues/122160
   */
  isLost(container: string): boolean {
    return this.end(container).reason === 'ContainerStatusUnknown';
  }

  /** What sexton left in the termination log, as the kubelet reports it; of a lost container nothing. */
  message(container: string): Record<string, unknown> {
    return this.isLost(container) ? {} : (JSON.parse(this.end(container).message ?? '{}') as Record<string, unknown>);
  }

  /** What a container wrote, in all its lives. */
  log(container: string): string {
    return this.#logs.of(container);
  }

  /** What the members did: as the observer or stdout has it. The containers of a pod share one clock. */
  get timeline(): Timeline {
    const { initContainers = [], containers = [] } = this.changes.at(-1)?.pod.spec ?? {};
    const lines = [...initContainers, ...containers].flatMap(({ name }) => this.log(name).split('\n'));
    const told = lines.filter((line) => /^\d+\.\d{3} /.test(line));
    told.sort((a, b) => Number.parseFloat(a) - Number.parseFloat(b));
    return parseTimeline(told.map((line) => `${line}\n`).join(''));
  }

  /** The last one that the observer saw whole. */
  tombstone(member: string): Tombstone | undefined {
    return this.tombstones(member).at(-1);
  }

  tombstones(member: string): Tombstone[] {
    const start = `tombstone ${member} `;
    const lines = this.log(OBSERVER)
      .split('\n')
      .filter((line) => line.startsWith(start));
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line.slice(start.length)) as Tombstone];
      } catch {
        return []; // It was being written.
      }
    });
  }

  /** Resolves to the first answer of `find`, which is asked whenever something is heard of the pod. */
  async until<T>(what: string, find: () => T | undefined | false, limitMs = LIMIT_MS): Promise<T> {
    let look = (): void => {};
    const found = new Promise<T>((resolve, reject) => {
      look = () => {
        try {
          const answer = this.changes.length > 0 && find();
          if (answer !== undefined && answer !== false) resolve(answer);
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.add(look);
      look();
    });
    return within(`${this.name}: ${what}`, found, limitMs).finally(() => this.#waiting.delete(look));
  }

  untilEvent(member: string, event: string, count = 1, limitMs?: number): Promise<unknown> {
    return this.until(`${member} ${event} (${count})`, () => this.timeline.of(member, event)[count - 1], limitMs);
  }

  untilLogged(container: string, what: RegExp): Promise<unknown> {
    return this.until(`${container} logs ${what}`, () => what.test(this.log(container)));
  }

  /** All these commands have started. Where there is an observer, the others can know of those under sexton. */
  async untilStarted(...members: readonly string[]): Promise<void> {
    for (const member of members) {
      await this.untilEvent(member, 'Started');
      const { initContainers = [], containers } = this.now.spec;
      const isObserved = initContainers.some((it) => it.name === OBSERVER);
      const isMember = containers.find((it) => it.name === member)?.command?.[0]?.endsWith('/sexton');
      if (!isObserved || !isMember) continue;
      await this.until(`${member} has told that it runs`, () =>
        this.tombstones(member).some((it) => it.Phase === 'running'),
      );
    }
  }

  /** The kubelet counts this many restarts of it. */
  untilRestarted(container: string, count = 1): Promise<unknown> {
    return this.until(`${container} was restarted`, () => (this.findStatus(container)?.restartCount ?? 0) >= count);
  }

  /** Succeeded or Failed. */
  untilPhase(...phases: readonly PodObject['status']['phase'][]): Promise<PodObject['status']['phase']> {
    return this.until(`its phase is ${phases.join(' or ')}`, () => {
      const phase = this.changes.at(-1)?.pod.status.phase;
      return phase !== undefined && phases.includes(phase) && phase;
    });
  }

  /** All containers have ended, and all that they wrote is known. */
  async untilEnded(): Promise<'Succeeded' | 'Failed'> {
    const phase = await this.untilPhase('Succeeded', 'Failed');
    await this.#logs.ended();
    return phase as 'Succeeded' | 'Failed';
  }

  /** Asks for its deletion. */
  async delete(graceSeconds?: number): Promise<void> {
    const query = graceSeconds === undefined ? '' : `?gracePeriodSeconds=${graceSeconds}`;
    await ask('DELETE', `${podsPath()}/${this.name}${query}`);
  }

  /** The kubelet has ended it and the API server has forgotten it. Its last status is the kubelet's last report. */
  async untilGone(): Promise<void> {
    await this.until('it is gone', () => this.isGone);
    await this.#logs.ended();
  }

  exec(container: string, ...command: readonly string[]): Promise<string> {
    return kubectl('exec', '--namespace', namespace(), this.name, '--container', container, '--', ...command);
  }

  /** What the API server has of its events. */
  async events(): Promise<readonly PodEvent[]> {
    const selector = encodeURIComponent(`involvedObject.name=${this.name}`);
    const path = `/api/v1/namespaces/${namespace()}/events?fieldSelector=${selector}`;
    return (await ask<{ items: readonly PodEvent[] }>('GET', path)).items;
  }

  async story(): Promise<string> {
    const last = this.changes.at(-1);
    if (last === undefined) return `nothing was heard of the pod ${this.name}`;
    const { metadata, spec, status } = last.pod;
    const told = await this.events().catch(() => []);
    const events = told.map((it) => `${it.lastTimestamp} ${it.reason} ${it.message}`);
    const names = [...(spec.initContainers ?? []), ...spec.containers].map((it) => it.name);
    const logs = names.map((name) => `--- log of ${name}\n${this.log(name).replaceAll(/^tombstone .*\n/gm, '')}`);
    const tombstones = names.flatMap((name) => this.tombstone(name) ?? []).map((it) => JSON.stringify(it));
    const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
    const head = `--- pod ${this.name}: ${last.type} ${JSON.stringify({ deletionTimestamp, deletionGracePeriodSeconds, status })}`;
    return [head, '--- events', ...events, ...logs, '--- tombstones', ...tombstones].join('\n');
  }

  async remove(): Promise<void> {
    await this.delete(0).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    });
    this.#stop();
    this.#logs.close();
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** Makes a pod. `name` is made unique. */
export async function startPod(
  t: TestContext,
  name: string,
  spec: PodSpec,
  labels: Readonly<Record<string, string>> = {},
): Promise<ClusterPod> {
  const unique = `${name}-${randomBytes(3).toString('hex')}`;
  const pod = await followPod(t, unique);
  await ask('POST', podsPath(), { apiVersion: 'v1', kind: 'Pod', metadata: { name: unique, labels }, spec });
  await pod.until('the watch tells of it', () => pod.changes.length > 0);
  return pod;
}

/** A pod that a controller has made. */
export async function followPod(t: TestContext, name: string): Promise<ClusterPod> {
  const pod = new ClusterPod(name);
  ofTest.set(t, [...(ofTest.get(t) ?? []), pod]);
  t.after(() => pod.remove());
  return pod.follow();
}

/** The pods of a test that runs, for its story. */
export function podsOf(t: TestContext): readonly ClusterPod[] {
  return ofTest.get(t) ?? [];
}

const ofTest = new WeakMap<TestContext, ClusterPod[]>();
