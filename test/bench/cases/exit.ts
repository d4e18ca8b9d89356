/**
 * From the end of the application to the end of the container.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Container, withContainer, withContainers } from '../container.ts';
import { Graveyards } from '../graveyards.ts';
import { type Case, type Measurement, Samples, type Setup } from '../measurement.ts';
import { rotated, SEXTON_NAME, type Subject, TINI } from '../subjects.ts';

export const exit: Case = {
  name: 'exit',
  rounds: 20,
  async run(setup) {
    const all = (): readonly Subject[] => [...setup.subjects.inits, setup.subjects.bare];
    return [
      await exitAfter(setup, all, 0, 'as soon as the supervisor has settled'),
      await exitAfter(setup, all, IDLE_MS, `after ${IDLE_MS / 1000} s of idleness`),
      await exitAsleep(setup),
      await wholeLife(setup),
    ];
  },
};

/** With a graveyard of its own for each: when its command has ended a supervisor is started first, which records that. */
async function exitAsleep(setup: Setup): Promise<Measurement> {
  const graveyards = new Graveyards();
  const hasNode = ({ hasSupervisor }: Subject): boolean => hasSupervisor;
  const { inits, bare } = setup.subjects;
  const [sextons, others] = [inits.filter(hasNode), inits.filter((it) => !hasNode(it))];
  const all = (): Subject[] => [
    ...others,
    bare,
    ...sextons.map((it) => graveyards.member(it, 'graveyard, awake', ['--sleep-after', 'never'])),
    ...sextons.map((it) => graveyards.member(it, 'graveyard, asleep', ['--sleep-after', '500ms'])),
  ];
  try {
    return await exitAfter(setup, all, IDLE_MS, 'of members of a pod');
  } finally {
    graveyards.remove();
  }
}

async function exitAfter(
  { programs, rounds }: Setup,
  all: () => readonly Subject[],
  idleMs: number,
  when: string,
): Promise<Measurement> {
  const samples = new Samples(all());
  const endAll = async (containers: readonly Container[]): Promise<void> => {
    for (const container of containers) await container.settled();
    await sleep(idleMs);
    for (const { subject, ask } of containers) {
      const [ns = Number.NaN, status] = await ask('exit');
      if (status !== 0) throw new Error(`cannot measure the exit of ${subject.name}: its status is ${status}`);
      samples.add(subject.name, ns);
    }
  };
  for (let done = 0; done < rounds; done += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, rounds - done) }, (_, at) => rotated(all(), done + at)).flat();
    await withContainers(programs.launch, batch, () => [programs.first], endAll);
  }
  return {
    title: `exit: last instruction of the application to the end of PID 1, ${when}`,
    unit: 'ns',
    figures: samples.figures(),
    references: [TINI],
    aims: [{ subject: SEXTON_NAME, reference: TINI, atMost: 1.5 }],
    notes: [],
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
    notes: [],
  };
}

/** What the launcher waits for; see record.h. */
const REPORT = `const record = Buffer.alloc(24); record[0] = 102; require('fs').writeSync(3, record)`;
const IDLE_MS = 2_000;
const AT_ONCE = 5;
