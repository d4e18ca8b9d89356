/**
 * Pods of 2 to 128 members: CPU time for each, and the time from the last main's exit to the last sidecar's TERM. By
 * then all supervisors are asleep.
 */
import { whyNoCgroup } from '../../helpers/cgroup.ts';
import { type Growth, growthOf } from '../../scale/growth.ts';
import { type Case, type Measurement, Samples } from '../measurement.ts';

export const growth: Case = {
  name: 'growth',
  rounds: 1,
  isLong: true,
  async run({ rounds }) {
    const why = whyNoCgroup('cpuacct');
    if (why !== undefined) throw new Error(why);
    const books = new Map<keyof Growth, Samples>();
    for (let round = 0; round < rounds; round++) {
      for (const members of SIZES) {
        for (const mains of new Set([1, members / 2])) {
          const name = `${members} members, ${mains} main${mains === 1 ? '' : 's'}`;
          const found = await growthOf(mains, members - mains);
          for (const key of KEYS) {
            const samples = books.get(key) ?? new Samples([]);
            books.set(key, samples);
            samples.add(name, found[key] * NS_PER_MS);
          }
        }
      }
    }
    return KEYS.map((key) => table(key, books.get(key) ?? new Samples([])));
  },
};

const SIZES = [2, 8, 32, 128];
const KEYS = ['start', 'idle', 'event', 'end', 'life', 'lastStopMs'] as const satisfies readonly (keyof Growth)[];
const SMALLEST = `2 members, 1 main`;
const LARGEST = ['128 members, 1 main', '128 members, 64 mains'];
const NS_PER_MS = 1e6;

const TITLES: Readonly<Record<keyof Growth, string>> = {
  start: 'CPU for each member: start, all at once',
  idle: 'CPU for each member: a minute in which nothing happens',
  event: 'CPU for each member: one sidecar is started again in place',
  end: 'CPU for each member: end',
  life: 'CPU for each member: a life of start, 36 s of idleness, 5 restarts and end',
  lastStopMs: 'from the last main’s exit to the last sidecar’s TERM, all asleep',
};

function table(key: keyof Growth, samples: Samples): Measurement {
  return {
    title: `growth: ${TITLES[key]}`,
    unit: 'ns',
    figures: samples.figures(),
    references: key === 'lastStopMs' ? [] : [SMALLEST],
    aims: key === 'life' ? LARGEST.map((subject) => ({ subject, reference: SMALLEST, atMost: 2 })) : [],
  };
}
