/** One container of the bench: `launch.c` starts it and takes the stamps, this asks it and reads its answers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../helpers/wait.ts';
import { Graveyards } from './graveyards.ts';
import { Samples, type Setup } from './measurement.ts';
import { rotated, type Subject } from './subjects.ts';

export interface Container {
  readonly subject: Subject;
  /** From the execve of PID 1 to the application's first instruction. */
  readonly firstNs: number;
  /** PID 1 as seen from outside. */
  readonly pid1: number;
  /** Sends one line of the launcher's language and resolves with the numbers of its answer. */
  ask(line: string): Promise<number[]>;
  /** Resolves when the subject has nothing left to do for its start. */
  settled(): Promise<void>;
  /** Ends the namespace with all that is in it, if it has not ended. */
  end(): Promise<void>;
}

export async function startContainer(launch: string, subject: Subject, command: readonly string[]): Promise<Container> {
  const child = spawn(launch, [...subject.before, ...command], {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const errors = collect(child);
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<number[]> => {
    const { value, done } = await within(`an answer about ${subject.name}`, answers.next());
    if (done === true) throw new Error(`cannot measure ${subject.name}: ${errors.text().trim() || 'it has ended'}`);
    return String(value).split(' ').slice(1).map(Number);
  };
  const [firstNs = Number.NaN, pid1 = 0] = await next();
  return {
    subject,
    firstNs,
    pid1,
    ask: (line) => {
      child.stdin.write(`${line}\n`);
      return next();
    },
    settled: () =>
      subject.hasSupervisor ? within(`${subject.name} has settled`, errors.saw(SETTLED)) : Promise.resolve(),
    end: () => {
      child.stdin.end();
      return within(`${subject.name} ends`, ended);
    },
  };
}

/** Starts, uses and in any case ends one. */
export async function withContainer<T>(
  launch: string,
  subject: Subject,
  command: readonly string[],
  use: (container: Container) => Promise<T>,
): Promise<T> {
  const container = await startContainer(launch, subject, command);
  try {
    return await use(container);
  } finally {
    await container.end();
  }
}

/** Starts one of each, uses them all side by side and in any case ends them. */
export async function withContainers<T>(
  launch: string,
  subjects: readonly Subject[],
  command: (subject: Subject) => readonly string[],
  use: (containers: readonly Container[]) => Promise<T>,
): Promise<T> {
  const containers: Container[] = [];
  try {
    for (const subject of subjects) containers.push(await startContainer(launch, subject, command(subject)));
    return await use(containers);
  } finally {
    await Promise.all(containers.map((container) => container.end()));
  }
}

/** Idle after its start: the supervisor gives memory back after 1 s, and reading it in again belongs to the figure. */
export const IDLE_MS = 2_000;
const AT_ONCE = 5;

/** One sample per container: `measure` is asked for each after `idleMs`, some containers at a time. */
export async function sampleEach(
  { programs, rounds }: Setup,
  all: () => readonly Subject[],
  idleMs: number,
  measure: (container: Container) => Promise<number>,
): Promise<Samples> {
  const samples = new Samples(all());
  for (let done = 0; done < rounds; done += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, rounds - done) }, (_, at) => rotated(all(), done + at)).flat();
    await withContainers(
      programs.launch,
      batch,
      () => [programs.first],
      async (containers) => {
        for (const container of containers) await container.settled();
        await sleep(idleMs);
        for (const container of containers) samples.add(container.subject.name, await measure(container));
      },
    );
  }
  return samples;
}

/** The same for members of pods, awake and asleep, each with a graveyard of its own; beside the other subjects. */
export async function sampleMembers(
  setup: Setup,
  others: readonly Subject[],
  measure: (container: Container) => Promise<number>,
): Promise<Samples> {
  const graveyards = new Graveyards();
  const sextons = setup.subjects.inits.filter(({ hasSupervisor }) => hasSupervisor);
  const all = (): Subject[] => [
    ...others.filter(({ hasSupervisor }) => !hasSupervisor),
    ...sextons.map((it) => graveyards.member(it, 'graveyard, awake', ['--sleep-after', 'never'])),
    ...sextons.map((it) => graveyards.member(it, 'graveyard, asleep', ['--sleep-after', '500ms'])),
  ];
  try {
    return await sampleEach(setup, all, IDLE_MS, measure);
  } finally {
    graveyards.remove();
  }
}

/** sexton logs this once the supervisor knows the child and init has its table of what to forward. */
const SETTLED = '"started"';

function collect(child: ChildProcess): { text: () => string; saw: (word: string) => Promise<void> } {
  let text = '';
  let check = (): void => {};
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    check();
  });
  return {
    text: () => text,
    saw: (word) =>
      new Promise((resolve) => {
        check = () => {
          if (text.includes(word)) resolve();
        };
        check();
      }),
  };
}
