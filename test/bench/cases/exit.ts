/** From the end of the application to the end of the container. */
import { type Container, IDLE_MS, sampleEach, sampleMembers, withContainer } from '../container.ts';
import { type Case, type Measurement, Samples, type Setup } from '../measurement.ts';
import { rotated, SEXTON_NAME, TINI } from '../subjects.ts';

export const exit: Case = {
  name: 'exit',
  rounds: 20,
  async run(setup) {
    const others = [...setup.subjects.inits, setup.subjects.bare];
    return [
      table('as soon as the supervisor has settled', await sampleEach(setup, () => others, 0, endOf)),
      table(`after ${IDLE_MS / 1000} s of idleness`, await sampleEach(setup, () => others, IDLE_MS, endOf)),
      table('of members of a pod', await sampleMembers(setup, others, endOf)),
      await wholeLife(setup),
    ];
  },
};

async function endOf({ subject, ask }: Container): Promise<number> {
  const [ns = Number.NaN, status] = await ask('exit');
  if (status !== 0) throw new Error(`cannot measure the exit of ${subject.name}: its status is ${status}`);
  return ns;
}

function table(when: string, samples: Samples): Measurement {
  return {
    title: `exit: last instruction of the application to the end of PID 1, ${when}`,
    unit: 'ns',
    figures: samples.figures(),
    references: [TINI],
    aims: [{ subject: SEXTON_NAME, reference: TINI, atMost: 1.5 }],
  };
}

/** An application that ends at once: where sexton has Node beside it, it then waits for that to boot. */
async function wholeLife({ programs, subjects, rounds }: Setup): Promise<Measurement> {
  const all = [...subjects.inits, subjects.bare, subjects.node];
  const samples = new Samples(all);
  for (let round = 0; round <= rounds; round++) {
    for (const subject of rotated(all, round)) {
      const command = subject === subjects.node ? ['-e', REPORT] : [programs.first, 'once'];
      const [ns = Number.NaN] = await withContainer(programs.launch, subject, command, ({ ask }) => ask('whole'));
      if (round > 0) samples.add(subject.name, ns);
    }
  }
  return {
    title: 'whole: exec of PID 1 to its end, with an application that ends at once',
    unit: 'ns',
    figures: samples.figures(),
    references: [TINI, subjects.node.name],
    aims: [{ subject: SEXTON_NAME, reference: TINI, atMost: 1.3 }],
  };
}

/** What the launcher waits for; see record.h. */
const REPORT = `const record = Buffer.alloc(24); record[0] = 102; require('fs').writeSync(3, record)`;
