/**
 * Many members on one machine, in pods of a main and two sidecars. The case measures the time to start them, and their
 * memory beside that of a lone pod. While nothing happens, it measures their CPU time and how often supervisors wake.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { whyNoCgroup } from '../../helpers/cgroup.ts';
import { isSupervisor } from '../../helpers/container.ts';
import { childrenOf, send } from '../../helpers/process.ts';
import { waitFor } from '../../helpers/wait.ts';
import { footprintOf } from '../../scale/footprint.ts';
import { type BigPod, seatsOf, withBigPod } from '../../scale/pod.ts';
import type { Case, Figure, Measurement } from '../measurement.ts';

export const fleet: Case = {
  name: 'fleet',
  rounds: 1,
  isLong: true,
  async run({ fleet: { pods: count, minutes } }) {
    const why = whyNoCgroup('cpuacct');
    if (why !== undefined) throw new Error(why);
    const one = await withPods(1, memoryOf);
    return withPods(count, async (pods, startMs) => {
      const all = await memoryOf(pods);
      const cpuOf = (): readonly number[] => pods.map((pod) => pod.group.cpuSeconds());
      const [cpuBefore, wakesBefore] = [cpuOf(), wakesOf(pods)];
      await sleep(minutes * MS_PER_MINUTE);
      const cpuAfter = cpuOf();
      const wakes = wakesOf(pods) - wakesBefore;
      const awake = pods.flatMap(({ members }) => members).filter(({ pid1 }) => supervisorsOf(pid1).length > 0).length;
      const begin = performance.now();
      for (const pod of pods) send(pod.member('main-0').pid1, 'SIGUSR1');
      await Promise.all(pods.map((pod) => pod.ended(END_LIMIT_MS)));
      const endMs = performance.now() - begin;
      const asked = pods.flatMap((pod) => pod.timeline().events.filter(({ event, detail }) => isTerm(event, detail)));
      if (asked.length !== 2 * count) throw new Error(`${asked.length} of ${2 * count} sidecars had their TERM`);
      const members = MEMBERS * count;
      const sumKb = all.pss.reduce((total, it) => total + it, 0);
      const notes = [
        `all ${members} together: ${(sumKb / 1024).toFixed(1)} MiB (Pss)`,
        `${wakes} wakes in ${minutes} min, ${awake} awake at the end of it`,
        `started in ${seconds(startMs)}, ended in ${seconds(endMs)} after the mains were asked to end; all ended`,
      ];
      const perMember = cpuAfter.map((after, at) => ((after - (cpuBefore[at] ?? 0)) * 1e9) / minutes / MEMBERS);
      return [memoryTable(one, all, members, notes), cpuTable(perMember, members)];
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

function supervisorsOf(pid1: number): readonly number[] {
  return childrenOf(pid1).filter(isSupervisor);
}

function wakesOf(pods: readonly BigPod[]): number {
  const said = pods.flatMap((pod) => pod.members.map(({ name }) => pod.said(name)));
  return said.reduce((sum, text) => sum + text.split('"awake again"').length - 1, 0);
}

/** The memory of init and of the supervisor, if there is one, without the application's. */
async function memoryOf(pods: readonly BigPod[]): Promise<Memory> {
  const members = pods.flatMap((pod) => pod.members);
  const areAsleep = (): boolean => members.every(({ pid1 }) => supervisorsOf(pid1).length === 0);
  await waitFor('all sleep', areAsleep, SETTLE_LIMIT_MS).catch(() => {});
  const each = members.map(({ pid1 }) => [pid1, ...supervisorsOf(pid1)].map(footprintOf));
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
      const seats = seatsOf(1, MEMBERS - 1);
      await pod.start(seats.map((seat) => ({ ...seat, flags: [...seat.flags, '--log-level', 'debug'] })));
      await pod.running();
      resolve(pod);
      await release.promise;
    }).catch(reject),
  );
  try {
    return await use(await Promise.all(started.map(({ promise }) => promise)), performance.now() - begin);
  } finally {
    release.resolve();
    await Promise.all(lives);
  }
}

function memoryTable(one: Memory, all: Memory, members: number, notes: readonly string[]): Measurement {
  const figures: Figure[] = [
    { subject: 'a pod alone: Pss', samples: one.pss },
    { subject: 'a pod alone: private', samples: one.own },
    { subject: `${members}: Pss`, samples: all.pss },
    { subject: `${members}: private`, samples: all.own },
  ];
  return {
    title: 'fleet: memory of one member, its application left out',
    unit: 'KiB',
    figures,
    aims: [{ subject: `${members}: Pss`, atMost: 205 }],
    notes,
  };
}

function cpuTable(perMember: readonly number[], members: number): Measurement {
  const subject = `${members}: a member, a minute`;
  return {
    title: 'fleet: CPU of a member in a minute in which nothing happens, with its application; a sample is of one pod',
    unit: 'ns',
    figures: [{ subject, samples: perMember }],
    aims: [{ subject, atMost: 1e6 }],
  };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

const MEMBERS = 3;
const MS_PER_MINUTE = 60_000;
/** They are then measured as they are. */
const SETTLE_LIMIT_MS = 120_000;
const END_LIMIT_MS = 300_000;
