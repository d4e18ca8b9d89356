/**
 * `node test/sim/mutants.ts [--runs N] [--only N,N]` breaks the rules of `mutants.txt` one after the other, in a private
 * copy, and prints in which run the simulator notices. It fails when one is not noticed, or when a rule is not where
 * the list says. A simulator that lets one of these pass would let the same mistake pass in a change.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const MAX_MS = 1_800_000;

/** A rule of core, runtime or simulated init, broken on purpose in one place, which is found by its exact text. */
export interface Mutation {
  /** The rule that does not hold any more. */
  readonly breaks: string;
  /** A path from src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** As in a patch, behind a line with file and rule. */
export const MUTATIONS: readonly Mutation[] = readFileSync(join(import.meta.dirname, 'mutants.txt'), 'utf8')
  .trimEnd()
  .split(/\n(?![-+])/)
  .map((text) => {
    const [, file = '', breaks = ''] = /^(\S+): (.+)$/m.exec(text) ?? [];
    const lines = text.split('\n');
    const side = (sign: string): string =>
      lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join('\n');
    return { file, breaks, from: side('-'), to: side('+') };
  });

export interface Verdict {
  readonly mutation: Mutation;
  /** Runs until a law was broken; undefined: none was. */
  readonly runs: number | undefined;
  readonly law: string;
  /** What broke it, in words. */
  readonly what: string;
}

/** Each of them in a copy of its own. */
export function judge(
  mutations: readonly Mutation[],
  runs: number,
  onVerdict: (verdict: Verdict) => void = () => {},
): readonly Verdict[] {
  const copy = mkdtempSync(join(tmpdir(), 'sexton-mutants-'));
  try {
    for (const part of ['src', 'test/core', 'test/sim', 'package.json'])
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    return mutations.map((mutation) => {
      const verdict = judgeOne(copy, mutation, runs);
      onVerdict(verdict);
      return verdict;
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function judgeOne(copy: string, mutation: Mutation, runs: number): Verdict {
  const path = join(copy, 'src', mutation.file);
  const sound = readFileSync(path, 'utf8');
  const parts = sound.split(mutation.from);
  if (parts.length !== 2)
    throw new Error(`stale list: ${mutation.file} has ${parts.length - 1} times ${mutation.from}`);
  writeFileSync(path, parts.join(mutation.to));
  const args = ['test/sim/run.ts', '--brief', '--runs', String(runs)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', timeout: MAX_MS });
  writeFileSync(path, sound);
  const [breach, law = '', what = ''] = /^seed \d+ breaks "([^"]+)": (.*)$/m.exec(stderr) ?? [];
  const done = /^(\d+) runs of pods/m.exec(stdout);
  return { mutation, law, what, runs: breach === undefined || done === null ? undefined : Number(done[1]) };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { runs: { type: 'string', default: '100000' }, only: { type: 'string' } },
  });
  const chosen = values.only?.split(',').map((index) => MUTATIONS.at(Number(index)) as Mutation) ?? MUTATIONS;
  const verdicts = judge(chosen, Number(values.runs), ({ mutation, runs, law, what }) => {
    const end = runs === undefined ? 'NOT NOTICED' : `run ${runs}, by "${law}": ${what}`;
    console.log(`${MUTATIONS.indexOf(mutation)} ${end.padEnd(50)} ${mutation.file}: ${mutation.breaks}`);
  });
  const missed = verdicts.filter(({ runs }) => runs === undefined).length;
  console.log(`${verdicts.length} mutants, ${missed} not noticed`);
  process.exitCode = missed === 0 ? 0 : 1;
}
