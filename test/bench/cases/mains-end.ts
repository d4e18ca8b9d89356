/**
 * From the last instruction of a main to the handler of its sidecar's TERM, by the stamps of the two: what the end of a
 * Job's pod waits for. Beside kubexit, where it is installed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { SEXTON } from '../../helpers/paths.ts';
import type { Case } from '../measurement.ts';
import { Samples } from '../measurement.ts';
import { findProgram, SEXTON_NAME } from '../subjects.ts';

export const mainsEnd: Case = {
  name: 'mains-end',
  rounds: 20,
  async run({ programs, rounds }) {
    const kubexit = findProgram(KUBEXIT);
    const samples = new Samples([]);
    for (let round = 0; round < rounds; round++) {
      samples.add(SEXTON_NAME, await measure(sextons(programs.first)));
      if (kubexit !== undefined) samples.add(KUBEXIT, await measure(kubexits(kubexit, programs.first)));
    }
    const aims = kubexit === undefined ? [] : [{ subject: SEXTON_NAME, reference: KUBEXIT, atMost: 0.5 }];
    return [
      {
        title: "mains-end: last instruction of a main to the handler of its sidecar's TERM, both idle for a second",
        unit: 'ns',
        figures: samples.figures(),
        references: kubexit === undefined ? [] : [KUBEXIT],
        aims,
        notes: kubexit === undefined ? ['left out, not there: kubexit'] : [],
      },
    ];
  },
};

const KUBEXIT = 'kubexit';
const IDLE_MS = 1_000;

/** What the two containers of a pod are started with, in a graveyard. */
interface Pair {
  readonly main: (graveyard: string) => Words;
  readonly sidecar: (graveyard: string) => Words;
}

interface Words {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function sextons(first: string): Pair {
  const words = (graveyard: string, ...flags: readonly string[]): Words => ({
    argv: [SEXTON, 'run', '--graveyard', graveyard, '--restart-policy', 'Never', ...flags, '--', first],
    env: {},
  });
  return {
    main: (graveyard) => words(graveyard, '--name', 'main'),
    sidecar: (graveyard) => words(graveyard, '--name', 'proxy', '--role', 'sidecar', '--mains', 'main'),
  };
}

function kubexits(program: string, first: string): Pair {
  const words = (graveyard: string, env: Words['env']): Words => ({
    argv: [program, first],
    env: { ...env, KUBEXIT_GRAVEYARD: graveyard },
  });
  return {
    main: (graveyard) => words(graveyard, { KUBEXIT_NAME: 'main' }),
    sidecar: (graveyard) => words(graveyard, { KUBEXIT_NAME: 'proxy', KUBEXIT_DEATH_DEPS: 'main' }),
  };
}

async function measure(pair: Pair): Promise<number> {
  const graveyard = mkdtempSync(join(tmpdir(), 'sexton-bench-'));
  const members = [start(pair.sidecar(graveyard)), start(pair.main(graveyard))] as const;
  const [sidecar, main] = members;
  try {
    for (const { record } of members) await record('f');
    await sleep(IDLE_MS);
    main.order();
    const [endedNs, toldNs] = await Promise.all([main.record('x'), sidecar.record('s')]);
    sidecar.order();
    await Promise.all(members.map(({ ended }) => ended));
    return toldNs - endedNs;
  } finally {
    for (const { child } of members) child.kill('SIGKILL');
    rmSync(graveyard, { recursive: true, force: true });
  }
}

interface Member {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  /** When the first record of this kind was made, CLOCK_MONOTONIC nanoseconds. */
  record(kind: string): Promise<number>;
  /** Tells the application to end. */
  order(): void;
}

/** As in record.h. */
function start({ argv: [program = '', ...rest], env }: Words): Member {
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const;
  const child = spawn(program, rest, { env: { PATH: process.env.PATH ?? '', ...env }, stdio: [...stdio] });
  const [, , , reports, orders] = child.stdio as unknown as readonly Duplex[];
  let bytes = Buffer.alloc(0);
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const does of waiting) does();
  };
  reports?.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    look();
  });
  orders?.on('error', () => {});
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    child,
    ended,
    order: () => orders?.write('x'),
    record: (kind) =>
      new Promise((resolve, reject) => {
        const find = (): void => {
          for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES)
            if (bytes[at] === kind.charCodeAt(0)) {
              waiting.delete(find);
              resolve(Number(bytes.readBigInt64LE(at + 8)));
            }
        };
        waiting.add(find);
        child.once('error', reject);
        find();
      }),
  };
}

const RECORD_BYTES = 24;
