/** The cost for each member of one pod, from its start to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, send } from '../helpers/process.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { type BigPod, seatsOf, withBigPod } from './pod.ts';

export interface Growth {
  /** CPU milliseconds of all processes of the container, for each member. */
  readonly start: number;
  /** A minute in which nothing happens. */
  readonly idle: number;
  /** One restart in place of a sidecar, which all see. */
  readonly event: number;
  readonly end: number;
  /** From the start to the end, with `IDLE_MS` of idleness. */
  readonly life: number;
  /** Milliseconds from the last main's exit to the last sidecar's TERM, where all are asleep. */
  readonly lastStopMs: number;
}

const IDLE_MS = 30_000;
const EVENTS = 5;
/** The rescan that comes every 5 s still belongs to the start. */
const SETTLE_MS = 6_000;
const END_LIMIT_MS = 300_000;

export async function growthOf(mains: number, sidecars: number): Promise<Growth> {
  const members = mains + sidecars;
  return withBigPod(async (pod) => {
    const cpuMs = (): number => (pod.group.cpuSeconds() * 1_000) / members;
    await pod.start(seatsOf(mains, sidecars));
    await pod.running();
    await sleep(SETTLE_MS);
    const start = cpuMs();
    await sleep(IDLE_MS);
    const idle = cpuMs() - start;
    for (let at = 0; at < EVENTS; at++) await restart(pod, `side-${at % sidecars}`);
    await sleep(EVENT_SETTLE_MS);
    const event = (cpuMs() - start - idle) / EVENTS;
    await waitFor('all are asleep', () => pod.members.every(({ pid1 }) => childrenOf(pid1).length === 1), END_LIMIT_MS);
    const asleep = cpuMs();
    // Not by way of sexton: a signal that it passes on would wake the supervisor of that main.
    for (let at = 0; at < mains; at++) send(childrenOf(pod.member(`main-${at}`).pid1)[0] ?? 0, 'SIGUSR1');
    await pod.ended(END_LIMIT_MS);
    const life = cpuMs();
    const idlePerMinute = (idle * 60_000) / IDLE_MS;
    const end = life - asleep;
    return { start, idle: idlePerMinute, event, end, life, lastStopMs: lastStopOf(pod) };
  });
}

const EVENT_SETTLE_MS = 1_000;

async function restart(pod: BigPod, name: string): Promise<void> {
  const lives = pod.timeline().of(name, 'Starting').length;
  send(pod.member(name).pid1, 'SIGHUP');
  await waitForTombstone(pod.graveyard, name, 'runs again', ({ Phase, Restarts = 0 }) => {
    return Phase === 'running' && Restarts >= lives;
  });
}

function lastStopOf(pod: BigPod): number {
  const timeline = pod.timeline();
  const last = (of: string, event: string, detail: RegExp): number =>
    Math.max(
      ...timeline.events
        .filter((it) => it.name.startsWith(of) && it.event === event && detail.test(it.detail))
        .map((it) => it.atMs),
    );
  return last('side-', 'Signal', /^15$/) - last('main-', 'Exiting', /^/);
}
