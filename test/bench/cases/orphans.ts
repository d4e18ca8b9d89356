/**
 * 10,000 ended processes are handed to PID 1 at one moment: how long until all of them are reaped.
 */
import { withContainer } from '../container.ts';
import { type Case, Samples } from '../measurement.ts';
import { rotated, TINI } from '../subjects.ts';

export const orphans: Case = {
  name: 'orphans',
  rounds: 5,
  async run({ programs, subjects, rounds }) {
    const samples = new Samples(subjects.inits);
    const left = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      for (const subject of rotated(subjects.inits, round)) {
        const command = [programs.orphans, String(ORPHANS)];
        const [ns = Number.NaN, zombies] = await withContainer(programs.launch, subject, command, async (container) => {
          await container.settled();
          return container.ask('go');
        });
        if (zombies !== 0) left.add(subject.name);
        samples.add(subject.name, ns);
      }
    }
    return [
      {
        title: `orphans: ${ORPHANS} zombies become those of PID 1, until the last is reaped`,
        unit: 'ns',
        figures: samples.figures(),
        references: [TINI],
        aims: [],
        notes: [left.size === 0 ? 'no zombie was left by any' : `zombies were left by: ${[...left].join(', ')}`],
      },
    ];
  },
};

const ORPHANS = 10_000;
