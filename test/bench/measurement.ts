/** What a case of the bench hands back: one table, as numbers. */
import type { Programs } from './programs.ts';
import type { Subject, Subjects } from './subjects.ts';

export interface Setup {
  readonly programs: Programs;
  readonly subjects: Subjects;
  readonly rounds: number;
  readonly fleet: Fleet;
}

/** How much `fleet` runs. */
export interface Fleet {
  readonly pods: number;
  readonly minutes: number;
}

export interface Figure {
  readonly subject: string;
  /** One for each round, in the order of the rounds. */
  readonly samples: readonly number[];
}

export interface Aim {
  readonly subject: string;
  /** Without one `atMost` is in the unit of the table. */
  readonly reference?: string;
  readonly atMost: number;
}

export interface Measurement {
  readonly title: string;
  readonly unit: 'ns' | 'KiB';
  readonly figures: readonly Figure[];
  /** Each gets a column of ratios. */
  readonly references?: readonly string[];
  readonly aims?: readonly Aim[];
  readonly notes?: readonly string[];
}

export interface Case {
  readonly name: string;
  readonly rounds: number;
  /** Minutes, and much of the machine: only when it is asked for by its name. */
  readonly isLong?: boolean;
  run(setup: Setup): Promise<readonly Measurement[]>;
}

/** Collects samples by subject. In the table those named here come first, in this order, then others as they came. */
export class Samples {
  readonly #bySubject: Map<string, number[]>;

  constructor(subjects: readonly Subject[]) {
    this.#bySubject = new Map(subjects.map(({ name }) => [name, []]));
  }

  add(subject: string, sample: number): void {
    const samples = this.#bySubject.get(subject);
    if (samples === undefined) this.#bySubject.set(subject, [sample]);
    else samples.push(sample);
  }

  figures(): Figure[] {
    return [...this.#bySubject]
      .map(([subject, samples]) => ({ subject, samples }))
      .filter(({ samples }) => samples.length > 0);
  }
}
