/**
 * Memory of an idle container's init, and of the supervisor beside it; the application's own is not in it.
 *
 * Two of each run at the same time, as containers of one image on one node do. What the page cache shares between them
 * (program text, mostly) is resident but not private. Private is Private_Clean + Private_Dirty of smaps_rollup:
 * proc_pid_smaps(5).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isSupervisor } from '../../helpers/container.ts';
import { childrenOf } from '../../helpers/process.ts';
import { type Footprint, footprintOf } from '../../scale/footprint.ts';
import { type Container, withContainers } from '../container.ts';
import { Graveyards } from '../graveyards.ts';
import { type Case, type Measurement, Samples } from '../measurement.ts';
import { BARE_NODE, SEXTON_NAME, type Subject, TINI, WITH_NODE } from '../subjects.ts';
import { IDLE } from './start.ts';

export const memory: Case = {
  name: 'memory',
  rounds: 3,
  async run({ programs, subjects, rounds }) {
    const books: Books = { Rss: new Samples([]), Private: new Samples([]), Dirty: new Samples([]) };
    const graveyards = new Graveyards();
    try {
      for (let round = 0; round < rounds; round++) {
        const sextons = subjects.inits.filter(({ hasSupervisor }) => hasSupervisor);
        const each = () => [
          ...subjects.inits,
          ...sextons.map((it) => graveyards.member(it, 'graveyard')),
          ...sextons.map((it) => graveyards.member(it, ASLEEP, ['--sleep-after', '1s'])),
          subjects.node,
        ];
        const commandOf = ({ name }: Subject) => (name === BARE_NODE ? ['-e', IDLE] : [programs.first]);
        await withContainers(programs.launch, [...each(), ...each()], commandOf, async (containers) => {
          for (const container of containers) await container.settled();
          await sleep(IDLE_MS);
          for (const container of containers) note(books, container);
        });
      }
    } finally {
      graveyards.remove();
    }
    return [
      { ...table('resident memory (Rss)', books.Rss), aims: [{ subject: SEXTON_NAME, reference: TINI, atMost: 1 }] },
      { ...table('private memory', books.Private), aims: AIMS },
      table('of it written to (Private_Dirty)', books.Dirty),
    ];
  },
};

interface Books {
  readonly Rss: Samples;
  readonly Private: Samples;
  readonly Dirty: Samples;
}

type Amount = Pick<Footprint, 'rssKb' | 'privateKb' | 'dirtyKb'>;

function note(books: Books, { subject, pid1 }: Container): void {
  const init = footprintOf(pid1);
  if (!subject.hasSupervisor) return enter(books, subject.name, init);
  const supervisor = childrenOf(pid1).find(isSupervisor);
  const sleeps = subject.name.endsWith(ASLEEP);
  if (sleeps !== (supervisor === undefined)) throw new Error(`${subject.name}: it is ${sleeps ? 'awake' : 'gone'}`);
  if (sleeps) return enter(books, subject.name, init);
  if (supervisor === undefined) throw new Error('cannot measure the supervisor: it is not there');
  const beside = footprintOf(supervisor);
  enter(books, `${subject.name}: init`, init);
  enter(books, `${subject.name}: supervisor`, beside);
  enter(books, subject.name, {
    rssKb: init.rssKb + beside.rssKb,
    privateKb: init.privateKb + beside.privateKb,
    dirtyKb: init.dirtyKb + beside.dirtyKb,
  });
}

function enter(books: Books, name: string, { rssKb, privateKb, dirtyKb }: Amount): void {
  books.Rss.add(name, rssKb);
  books.Private.add(name, privateKb);
  books.Dirty.add(name, dirtyKb);
}

function table(what: string, samples: Samples): Measurement {
  return {
    title: `memory: ${what} after ${IDLE_MS / 1000} s of idleness`,
    unit: 'KiB',
    figures: samples.figures(),
    references: [BARE_NODE],
    notes: [
      'two of each run at once, so shared program text is not private; the sum of init and supervisor bears the name alone',
    ],
  };
}

const ASLEEP = 'graveyard, asleep';
const IDLE_MS = 3_000;
const AIMS = [
  { subject: SEXTON_NAME, atMost: 205 },
  { subject: WITH_NODE, reference: BARE_NODE, atMost: 1.5 },
  { subject: `${WITH_NODE}, graveyard`, reference: BARE_NODE, atMost: 1.5 },
  { subject: `${WITH_NODE}, ${ASLEEP}`, atMost: 205 },
];
