/**
 * A signal's way from kill(2) on PID 1 to the handler of the application. One signal only passes through. The other is
 * the request to stop, about which sexton's supervisor decides.
 */
import { constants } from 'node:os';
import { type Container, IDLE_MS, sampleEach, sampleMembers, withContainers } from '../container.ts';
import { type Case, type Measurement, Samples } from '../measurement.ts';
import { spreadOf } from '../statistics.ts';
import { rotated, SEXTON_NAME, TINI } from '../subjects.ts';

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
    const { inits } = setup.subjects;
    return [
      table('as soon as the supervisor has settled', await sampleEach(setup, () => inits, 0, stopOf)),
      table(`after ${IDLE_MS / 1000} s of idleness`, await sampleEach(setup, () => inits, IDLE_MS, stopOf)),
      // Mains without a drain, which nothing makes wait.
      table('of members of a pod', await sampleMembers(setup, inits, stopOf)),
    ];
  },
};

/** Only the first one counts in sexton, so each sample takes a container. */
async function stopOf({ ask }: Container): Promise<number> {
  const [ns = Number.NaN] = await ask(`signal ${constants.signals.SIGTERM} 1`);
  return ns;
}

function table(when: string, samples: Samples): Measurement {
  return {
    title: `stop: kill(2) of TERM on PID 1 to the application's handler, ${when}`,
    unit: 'ns',
    figures: samples.figures(),
    references: [TINI],
    notes: ['the first and only signal of its container; sexton-init passes it on and tells the supervisor'],
  };
}

const SIGNALS = 50;
