/**
 * 300 supervisors on one machine, in 100 pods of a main and two sidecars: the time to start them, their memory as a
 * multiple of one, and what they cost while nothing happens.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { whyNoCgroup } from '../../helpers/cgroup.ts';
import { isSupervisor } from '../../helpers/container.ts';
import { childrenOf, send } from '../../helpers/process.ts';
import { footprintOf } from '../../scale/footprint.ts';
import { type BigPod, seatsOf, withBigPod } from '../../scale/pod.ts';
import type { Case, Figure, Measurement } from '../measurement.ts';

export const idle300: Case = {
  name: 'idle-300',
  rounds: 1,
  isLong: true,
  async run() {
    const why = whyNoCgroup('cpuacct');
    if (why !== undefined) throw new Error(why);
    const one = await withPods(1, memoryOf);
    return withPods(PODS, async (pods, startMs) => {
      const all = await memoryOf(pods);
      const cpu = (): number => pods.reduce((sum, pod) => sum + pod.group.cpuSeconds(), 0);
      const before = cpu();
      await sleep(IDLE_MS);
      const perMinute = ((cpu() - before) * 60_000) / IDLE_MS;
      const members = pods.flatMap((pod) => pod.members);
      const begin = performance.now();
      for (const pod of pods) send(pod.member('main-0').pid1, 'SIGUSR1');
      await Promise.all(pods.map((pod) => pod.ended(END_LIMIT_MS)));
      const endMs = performance.now() - begin;
      const asked = pods.flatMap((pod) => pod.timeline().events.filter(({ event, detail }) => isTerm(event, detail)));
      if (asked.length !== 2 * PODS) throw new Error(`${asked.length} of ${2 * PODS} sidecars had their TERM`);
      const pss = one.pss.reduce((sum, it) => sum + it, 0) / one.pss.length;
      const sum = all.pss.reduce((total, it) => total + it, 0);
      const notes = [
        `all ${members.length} together: ${(sum / 1024).toFixed(0)} MiB (Pss), ${(sum / pss).toFixed(0)} times a member of the pod that was alone`,
        `started in ${seconds(startMs)}, ended in ${seconds(endMs)} after the mains were asked to end; all ended`,
        `idle: ${perMinute.toFixed(1)} s of CPU in a minute, ${((perMinute * 1_000) / members.length).toFixed(0)} ms for each`,
      ];
      return [table(one, all, notes)];
    });
  },
};

interface Memory {
  readonly pss: readonly number[];
  readonly own: readonly number[];
}

function isTerm(event: string, detail: string): boolean {
  return event === 'Signal' && detail === '15';
}

/** Of init and supervisor of each member; its application is not in it. */
async function memoryOf(pods: readonly BigPod[]): Promise<Memory> {
  await sleep(SETTLE_MS);
  const each = pods.flatMap(({ members }) =>
    members.map(({ pid1 }) => [pid1, ...childrenOf(pid1).filter(isSupervisor)].map(footprintOf)),
  );
  const sums = (key: 'pssKb' | 'privateKb'): number[] =>
    each.map((member) => member.reduce((sum, it) => sum + it[key], 0));
  return { pss: sums('pssKb'), own: sums('privateKb') };
}

/** All are started at once. */
async function withPods<T>(count: number, use: (pods: readonly BigPod[], startMs: number) => Promise<T>): Promise<T> {
  const release = Promise.withResolvers<void>();
  const begin = performance.now();
  const started = Array.from({ length: count }, () => Promise.withResolvers<BigPod>());
  const lives = started.map(({ resolve, reject }) =>
    withBigPod(async (pod) => {
      await pod.start(seatsOf(1, 2));
      await pod.running();
      resolve(pod);
      await release.promise;
    }).catch(reject),
  );
  try {
    const pods = await Promise.all(started.map(({ promise }) => promise));
    return await use(pods, performance.now() - begin);
  } finally {
    release.resolve();
    await Promise.all(lives);
  }
}

function table(one: Memory, all: Memory, notes: readonly string[]): Measurement {
  const figures: Figure[] = [
    { subject: 'alone: Pss', samples: one.pss },
    { subject: 'alone: private', samples: one.own },
    { subject: '300: Pss', samples: all.pss },
    { subject: '300: private', samples: all.own },
  ];
  return {
    title: 'idle-300: memory of init and supervisor of one member',
    unit: 'KiB',
    figures,
    references: [],
    aims: [],
    notes,
  };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

const PODS = 100;
/** V8 gives back what its start has left after a second. */
const SETTLE_MS = 10_000;
const IDLE_MS = 60_000;
const END_LIMIT_MS = 300_000;
