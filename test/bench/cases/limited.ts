/** The cost of an end with the mains, a wake and bare Node's start under a limit of 100m CPU for each container. */
import { whyNoCgroup } from '../../helpers/cgroup.ts';
import { type Group, makeGroup } from '../../scale/group.ts';
import { type Case, type Measurement, Samples } from '../measurement.ts';
import { BARE_NODE } from '../subjects.ts';
import { endOfMain } from './mains-end.ts';
import { startOfNode, stopByRequest } from './wake.ts';

export const limited: Case = {
  name: 'limited',
  rounds: 5,
  isLong: true,
  async run({ programs, subjects, rounds }) {
    const why = whyNoCgroup('cpu');
    if (why !== undefined) throw new Error(why);
    const [ends, wakes] = [new Samples([]), new Samples([])];
    for (let round = 0; round < rounds; round++) {
      for (const isAsleep of [false, true]) {
        const name = isAsleep ? ASLEEP : AWAKE;
        ends.add(name, await within(2, (procs) => endOfMain(programs.first, isAsleep, procs)));
        wakes.add(name, await within(1, ([procs]) => stopByRequest(programs.first, isAsleep, procs)));
      }
      wakes.add(BARE_NODE, await within(1, ([procs]) => startOfNode(subjects.node, procs)));
    }
    return [
      table("last instruction of a main to the handler of its sidecar's TERM", ends, []),
      table("a stop request in the graveyard to the command's handler of TERM", wakes, [BARE_NODE]),
    ];
  },
};

const AWAKE = 'sexton, awake';
const ASLEEP = 'sexton, asleep';
const LIMIT_MILLI = 100;

function table(what: string, samples: Samples, references: readonly string[]): Measurement {
  return {
    title: `limited: ${what}, each container limited to ${LIMIT_MILLI}m of CPU`,
    unit: 'ns',
    figures: samples.figures(),
    references,
    aims: references.map((reference) => ({ subject: ASLEEP, reference, atMost: 1.3 })),
  };
}

/** Makes `count` cgroups with the limit, one for each container. */
async function within(count: number, use: (procs: readonly string[]) => Promise<number>): Promise<number> {
  const groups: Group[] = [];
  try {
    for (let at = 0; at < count; at++) groups.push(makeGroup(`sexton-bench-${process.pid}-${at}`, LIMIT_MILLI));
    return await use(groups.map(({ procs }) => procs));
  } finally {
    for (const group of groups) await group.remove();
  }
}
