/**
 * Runs test files, and repeats those that failed, one at a time. Tests watch real processes by the clock, and the
 * machine may stand still for seconds. A file that passes at its second attempt passes. The end of the run names it as
 * unsteady: a test to fix or a rare defect. If more files fail than MAX_UNSTEADY, the machine is not to blame, and
 * there is no second attempt.
 */
import { run } from 'node:test';
import { FileLimit } from './limit.ts';
import { FileReports, type Totals } from './reports.ts';

export interface Attempts {
  /** What a file is called in its line. */
  readonly shorten: (file: string) => string;
  /** Files at once, at the first attempt. */
  readonly concurrency: number;
  readonly grep?: string | undefined;
  readonly retries: boolean;
}

export interface Outcome {
  readonly totals: Totals;
  /** How many tests were skipped, by why. */
  readonly skips: ReadonlyMap<string, number>;
  /** The names of the files that passed at the second attempt only. */
  readonly unsteady: readonly string[];
}

export const MAX_UNSTEADY = 3;

/** Far more than any needs, also on a machine that is ten times slower than it should be. */
const TEST_LIMIT_MS = 600_000;
const FILE_LIMIT_MS = 900_000;

export async function runTwice(files: readonly string[], attempts: Attempts): Promise<Outcome> {
  const { shorten, retries } = attempts;
  const first = await runOnce(files, attempts);
  const failed = failedFiles(first);
  if (!retries || failed.length === 0 || failed.length > MAX_UNSTEADY)
    return { totals: first.totals, skips: first.skips, unsteady: [] };
  const named = (file: string): string => `${shorten(file)}, second attempt`;
  const second = await runOnce(failed, { ...attempts, shorten: named, concurrency: 1 });
  const totals = { ...first.totals };
  for (const file of failed)
    for (const key of ['passed', 'failed', 'skipped'] as const)
      totals[key] += (second.byFile.get(file)?.[key] ?? 0) - (first.byFile.get(file)?.[key] ?? 0);
  const skips = new Map(first.skips);
  for (const [why, count] of second.skips) if (!skips.has(why)) skips.set(why, count);
  const broken = new Set(failedFiles(second));
  return {
    totals,
    skips,
    unsteady: failed.filter((file) => !broken.has(file)).map((file) => shorten(file)),
  };
}

async function runOnce(
  files: readonly string[],
  { shorten, concurrency, grep }: Omit<Attempts, 'retries'>,
): Promise<FileReports> {
  const reports = new FileReports(shorten, grep !== undefined);
  const limit = new FileLimit(FILE_LIMIT_MS, (text) => void process.stdout.write(text));
  const events = run({
    files: [...files],
    concurrency,
    timeout: TEST_LIMIT_MS,
    execArgv: limit.execArgv,
    ...(grep !== undefined && { testNamePatterns: [new RegExp(grep)] }),
  });
  for await (const event of events) reports.take(event);
  limit.close();
  reports.end();
  return reports;
}

function failedFiles(reports: FileReports): readonly string[] {
  return [...reports.byFile].filter(([, { failed }]) => failed > 0).map(([file]) => file);
}
