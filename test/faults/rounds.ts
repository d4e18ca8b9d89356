/** Many rounds, some at a time, each in one of a few worker processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { whyNoCgroup } from '../helpers/cgroup.ts';
import { buildFixtures } from '../helpers/fixture.ts';
import { NODE } from '../helpers/paths.ts';
import type { RoundResult } from './round.ts';

/** Whether all faults can be had: mounts, cgroups and other uids need root. */
export const IS_ROOT = process.getuid?.() === 0 && whyNoCgroup('memory') === undefined;

/** Plays the rounds of these seeds; results come in any order. */
export async function playRounds(
  seeds: Iterable<number>,
  { jobs, isStrict }: { readonly jobs: number; readonly isStrict: boolean },
  onResult: (result: RoundResult) => void,
): Promise<void> {
  await buildFixtures();
  const next = seeds[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    let worker: ChildProcess | undefined;
    for (let seed = next.next(); !seed.done; seed = next.next()) {
      worker ??= startWorker(isStrict);
      const result = await ask(worker, seed.value);
      if (worker.exitCode !== null || worker.signalCode !== null) worker = undefined;
      onResult(result);
    }
    worker?.disconnect();
  };
  await Promise.all(Array.from({ length: jobs }, lane));
}

function startWorker(isStrict: boolean): ChildProcess {
  const argv = [
    NODE,
    join(import.meta.dirname, 'worker.ts'),
    ...(IS_ROOT ? ['root'] : []),
    ...(isStrict ? ['strict'] : []),
  ];
  const [file = '', ...rest] = IS_ROOT ? ['unshare', '--mount', '--', ...argv] : argv;
  return spawn(file, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

function ask(worker: ChildProcess, seed: number): Promise<RoundResult> {
  return new Promise((resolve) => {
    const leave = (result: RoundResult): void => {
      worker.off('message', hear);
      worker.off('exit', miss);
      resolve(result);
    };
    const hear = (message: unknown): void => {
      if (message !== 'ready') leave(message as RoundResult);
    };
    const miss = (code: number | null, signal: string | null): void => {
      const violations = [`the process that played the round ended: ${code ?? signal}`];
      leave({ seed, violations, artefacts: undefined, hits: [], misses: [], members: 0, wasHelped: false });
    };
    worker.on('message', hear);
    worker.on('exit', miss);
    worker.send(seed);
  });
}
