/**
 * The time from the last instruction of a main to the handler of its sidecar's TERM, by the stamps of the two. The end
 * of a Job's pod waits for this. Kubexit is measured beside it, where it is installed.
 */
import { type Case, Samples } from '../measurement.ts';
import { inGraveyard, memberWords, settled, type Words } from '../member.ts';
import { findProgram, SEXTON_NAME } from '../subjects.ts';

export const mainsEnd: Case = {
  name: 'mains-end',
  rounds: 20,
  async run({ programs, rounds }) {
    const kubexit = findProgram(KUBEXIT);
    const samples = new Samples([]);
    for (let round = 0; round < rounds; round++) {
      samples.add(AWAKE, await endOfMain(programs.first, false));
      samples.add(ASLEEP, await endOfMain(programs.first, true));
      if (kubexit !== undefined) samples.add(KUBEXIT, await endOfKubexit(kubexit, programs.first));
    }
    const aims = [AWAKE, ASLEEP].map((subject) => ({ subject, reference: KUBEXIT, atMost: 0.5 }));
    return [
      {
        title: "mains-end: last instruction of a main to the handler of its sidecar's TERM, both idle for a second",
        unit: 'ns',
        figures: samples.figures(),
        references: kubexit === undefined ? [] : [KUBEXIT],
        aims: kubexit === undefined ? [] : aims,
        notes: kubexit === undefined ? ['left out, not there: kubexit'] : [],
      },
    ];
  },
};

const KUBEXIT = 'kubexit';
const AWAKE = `${SEXTON_NAME}, awake`;
const ASLEEP = `${SEXTON_NAME}, asleep`;
const ROLE = ['--role', 'sidecar', '--mains', 'main'];

/** `procs`: the cgroups of main and sidecar. */
export function endOfMain(first: string, isAsleep: boolean, procs: readonly string[] = []): Promise<number> {
  return inGraveyard(async (graveyard, start) => {
    const about = (name: string, flags: readonly string[] = []): Words =>
      memberWords(first, graveyard, { name, isAsleep, flags });
    const sidecar = start(about('proxy', ROLE), procs[1]);
    const main = start(about('main'), procs[0]);
    await settled(sidecar, graveyard, 'proxy', isAsleep);
    await settled(main, graveyard, 'main', isAsleep);
    main.order();
    const [endedNs, toldNs] = await Promise.all([main.record('x'), sidecar.record('s')]);
    sidecar.order();
    await Promise.all([main.ended, sidecar.ended]);
    return toldNs - endedNs;
  });
}

function endOfKubexit(program: string, first: string): Promise<number> {
  return inGraveyard(async (graveyard, start) => {
    const words = (env: Words['env']): Words => ({
      argv: [program, first],
      env: { ...env, KUBEXIT_GRAVEYARD: graveyard },
    });
    const sidecar = start(words({ KUBEXIT_NAME: 'proxy', KUBEXIT_DEATH_DEPS: 'main' }));
    const main = start(words({ KUBEXIT_NAME: 'main' }));
    for (const { record } of [sidecar, main]) await record('f');
    await new Promise((resolve) => setTimeout(resolve, KUBEXIT_IDLE_MS));
    main.order();
    const [endedNs, toldNs] = await Promise.all([main.record('x'), sidecar.record('s')]);
    sidecar.order();
    await Promise.all([main.ended, sidecar.ended]);
    return toldNs - endedNs;
  });
}

const KUBEXIT_IDLE_MS = 1_000;
