/** From the exec of a container's PID 1 to the first instruction of its application. */
import { withContainer } from '../container.ts';
import { Graveyards } from '../graveyards.ts';
import { type Case, Samples } from '../measurement.ts';
import { BARE_NODE, rotated, SEXTON_NAME, type Subject, TINI } from '../subjects.ts';

export const start: Case = {
  name: 'start',
  rounds: 60,
  async run({ programs, subjects, rounds }) {
    const graveyards = new Graveyards();
    const sextons = subjects.inits.filter(({ hasSupervisor }) => hasSupervisor);
    const sidecar = (it: Subject): Subject => graveyards.member(it, 'sidecar', ['--role', 'sidecar']);
    const all = (): Subject[] => [...subjects.inits, ...sextons.map(sidecar), subjects.bare, subjects.node];
    const samples = new Samples(all());
    try {
      // The first round finds cold caches and is not counted.
      for (let round = 0; round <= rounds; round++) {
        for (const subject of rotated(all(), round)) {
          const command = subject.name === BARE_NODE ? ['-e', STAMP] : [programs.first];
          const ns = await withContainer(programs.launch, subject, command, async ({ firstNs }) => firstNs);
          if (round > 0) samples.add(subject.name, ns);
        }
      }
    } finally {
      graveyards.remove();
    }
    return [
      {
        title: "start: exec of PID 1 to the application's first instruction",
        unit: 'ns',
        figures: samples.figures(),
        references: [TINI],
        aims: [{ subject: SEXTON_NAME, reference: TINI, atMost: 1 }],
        notes: [
          'the application is a static C program; that of bare Node is the first line of its script',
          'a sidecar is started by the supervisor, after its first look at the graveyard; all else at once by init',
        ],
      },
    ];
  },
};

/** The record of `record.h`, from JavaScript. */
const STAMP = `const at = process.hrtime.bigint();
const record = Buffer.alloc(24);
record.writeBigInt64LE(102n, 0);
record.writeBigInt64LE(at, 8);
require('fs').writeSync(3, record);
setInterval(() => {}, 1e9);`;

/** Does nothing, for as long as it is let. */
export const IDLE = STAMP;
