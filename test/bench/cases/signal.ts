/**
 * A signal's way from kill(2) on PID 1 to the handler of the application: one that only passes through, and the request
 * to stop, which in sexton is a decision of the supervisor.
 */
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Container, withContainers } from '../container.ts';
import { Graveyards } from '../graveyards.ts';
import { type Case, type Measurement, Samples, type Setup } from '../measurement.ts';
import { spreadOf } from '../statistics.ts';
import { rotated, SEXTON_NAME, type Subject, TINI } from '../subjects.ts';

export const signal: Case = {
  name: 'signal',
  rounds: 40,
  async run({ programs, subjects, rounds }) {
    const all = [...subjects.inits, subjects.bare];
    const samples = new Samples(all);
    const passThrough = async (containers: readonly Container[]): Promise<void> => {
      for (const container of containers) await container.settled();
      for (let round = 0; round <= rounds; round++) {
        for (const { subject, ask } of rotated(containers, round)) {
          const ns = spreadOf(await ask(`signal ${constants.signals.SIGUSR1} ${SIGNALS}`)).median;
          if (round > 0) samples.add(subject.name, ns);
        }
      }
    };
    await withContainers(programs.launch, all, () => [programs.first], passThrough);
    return [
      {
        title: `signal: kill(2) of USR1 on PID 1 to the application's handler, median of ${SIGNALS} each round`,
        unit: 'ns',
        figures: samples.figures(),
        references: [TINI],
        aims: [{ subject: SEXTON_NAME, reference: TINI, atMost: 3 }],
        notes: ['one after the other, each sent when the one before has arrived; bare exec has no init on the way'],
      },
    ];
  },
};

export const stop: Case = {
  name: 'stop',
  rounds: 20,
  async run(setup) {
    return [
      await stopAfter(setup, () => setup.subjects.inits, 0, 'as soon as the supervisor has settled'),
      await stopAfter(setup, () => setup.subjects.inits, IDLE_MS, `after ${IDLE_MS / 1000} s of idleness`),
      await stopOfMembers(setup),
    ];
  },
};

/** Of mains without drain, for whom nobody has to wait. */
async function stopOfMembers(setup: Setup): Promise<Measurement> {
  const graveyards = new Graveyards();
  const { inits } = setup.subjects;
  const hasNode = ({ hasSupervisor }: Subject): boolean => hasSupervisor;
  const all = (): Subject[] => [
    ...inits.filter((it) => !hasNode(it)),
    ...inits.filter(hasNode).map((it) => graveyards.member(it, 'graveyard, awake', ['--sleep-after', 'never'])),
    ...inits.filter(hasNode).map((it) => graveyards.member(it, 'graveyard, asleep', ['--sleep-after', '500ms'])),
  ];
  try {
    return await stopAfter(setup, all, IDLE_MS, 'of members of a pod');
  } finally {
    graveyards.remove();
  }
}

/** Only the first one counts in sexton, so each sample takes a container. */
async function stopAfter(
  { programs, rounds }: Setup,
  all: () => readonly Subject[],
  idleMs: number,
  when: string,
): Promise<Measurement> {
  const samples = new Samples(all());
  const stopAll = async (containers: readonly Container[]): Promise<void> => {
    for (const container of containers) await container.settled();
    await sleep(idleMs);
    for (const { subject, ask } of containers) {
      const [ns = Number.NaN] = await ask(`signal ${constants.signals.SIGTERM} 1`);
      samples.add(subject.name, ns);
    }
  };
  for (let done = 0; done < rounds; done += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, rounds - done) }, (_, at) => rotated(all(), done + at)).flat();
    await withContainers(programs.launch, batch, () => [programs.first], stopAll);
  }
  return {
    title: `stop: kill(2) of TERM on PID 1 to the application's handler, ${when}`,
    unit: 'ns',
    figures: samples.figures(),
    references: [TINI],
    aims: [],
    notes: ['the first and only signal of its container; sexton-init passes it on and tells the supervisor'],
  };
}

const SIGNALS = 50;
/** The supervisor gives memory back after 1 s; what it must then read in again belongs to the figure. */
const IDLE_MS = 2_000;
const AT_ONCE = 5;
