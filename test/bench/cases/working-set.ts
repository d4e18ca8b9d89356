/**
 * The working set of a container, as the kubelet reckons it and `kubectl top` shows it: a member in a memory cgroup of
 * its own. Another container of the same image runs beside it and is charged for the program text that both share. The
 * figure includes the application, a static C program.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { whyNoCgroup } from '../../helpers/cgroup.ts';
import { SEXTON } from '../../helpers/paths.ts';
import { makeGroupOf } from '../../scale/group.ts';
import { type Case, Samples } from '../measurement.ts';
import { inGraveyard, memberWords, settled, type Words } from '../member.ts';
import { BARE_NODE } from '../subjects.ts';
import { IDLE } from './start.ts';

export const workingSet: Case = {
  name: 'working-set',
  rounds: 3,
  async run({ programs: { first }, subjects, rounds }) {
    const why = whyNoCgroup('memory');
    if (why !== undefined) throw new Error(why);
    const samples = new Samples([]);
    const member = (graveyard: string, isAsleep: boolean): Words =>
      memberWords(first, graveyard, { name: 'web', isAsleep });
    for (let round = 0; round < rounds; round++) {
      samples.add('plain command', await measure(solo(first, [])));
      samples.add('with a drain, awake', await measure(solo(first, ['--drain', '5s', '--sleep-after', 'never'])));
      samples.add('with a graveyard, awake', await measure((graveyard) => member(graveyard, false)));
      samples.add('with a graveyard, asleep', await measure((graveyard) => member(graveyard, true), true));
      samples.add(BARE_NODE, await measure(() => ({ argv: [...subjects.node.before, '-e', IDLE], env: {} })));
    }
    return [
      {
        title: `working-set: as kubectl top shows it, after ${IDLE_MS / 1000} s of idleness`,
        unit: 'KiB',
        figures: samples.figures(),
        references: [BARE_NODE],
      },
    ];
  },
};

/** Long enough for the collection of garbage after the start. */
const IDLE_MS = 3_000;

function solo(first: string, flags: readonly string[]): () => Words {
  return () => ({ argv: [SEXTON, 'run', ...flags, '--', first], env: {} });
}

/** The working set of the second of two containers. */
async function measure(wordsIn: (graveyard: string) => Words, isAsleep = false): Promise<number> {
  const group = makeGroupOf('memory', `sexton-bench-${process.pid}`);
  try {
    return await inGraveyard((one, start) =>
      inGraveyard(async (other, startOther) => {
        const beside = startOther(wordsIn(other));
        await beside.record('f');
        const measured = start(wordsIn(one), group.procs);
        await measured.record('f');
        if (isAsleep) await settled(measured, one, 'web', isAsleep);
        await sleep(IDLE_MS);
        const kb = group.workingSetKb();
        for (const member of [beside, measured]) {
          member.order();
          // Bare Node hears no orders.
          member.child.kill('SIGTERM');
        }
        await Promise.all([beside.ended, measured.ended]);
        return kb;
      }),
    );
  } finally {
    await group.remove();
  }
}
