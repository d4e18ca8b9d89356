/** Several processes that simulate side by side, each from seeds of its own, and what comes of all. */
import { join } from 'node:path';
import { execaNode } from 'execa';
import { Coverage } from './coverage.ts';

export interface Totals {
  readonly done: number;
  readonly members: number;
  readonly violations: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly counts: readonly (readonly [string, number])[];
}

export async function workTogether(
  workers: number,
  { first, runs }: { readonly first: number; readonly runs: number },
  flags: readonly string[],
): Promise<Totals> {
  const each = Math.ceil(runs / workers);
  const parts = await Promise.all(
    Array.from({ length: workers }, async (_, index): Promise<Totals> => {
      const args = [...flags, '--json', '--seed', String(first + index * each), '--runs', String(each)];
      // A worker ends with this process.
      const options = { stdin: 'ignore', stderr: 'inherit', reject: false } as const;
      const { stdout } = await execaNode(join(import.meta.dirname, 'run.ts'), args, options);
      return JSON.parse(stdout) as Totals;
    }),
  );
  const coverage = new Coverage();
  for (const { counts } of parts) coverage.add(counts);
  const sum = (of: (part: Totals) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    done: sum(({ done }) => done),
    members: sum(({ members }) => members),
    violations: sum(({ violations }) => violations),
    seconds: Math.max(...parts.map((part) => part.seconds)),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    counts: [...coverage.counts],
  };
}

export function summaryOf({ done, members, violations, seconds, cpuSeconds, counts }: Totals): string {
  const coverage = new Coverage();
  coverage.add(counts);
  const pace = `${Math.round(done / seconds)} runs/s, ${Math.round(done / cpuSeconds)} per second of CPU`;
  const last = `${done} runs of pods with ${members} members in ${seconds.toFixed(1)} s (${pace}), ${violations} violations`;
  return [...coverage.lines(), last].join('\n');
}
