/**
 * `node test/check/mutants.ts [FILE...]` breaks the rules' conditions, one at a time, in a copy of the working tree. It
 * prints what neither a test nor the compiler notices, and fails if EQUIVALENT does not excuse one.
 */
import { cpSync, globSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../helpers/paths.ts';
import { installSwitch, type Mutant, Mutants } from './mutate.ts';

/** Mutants that do what the rule does, so no test can notice them. */
const EQUIVALENT: readonly (readonly [from: string, to: string, because: string])[] = [
  ["typeof name === 'string'", 'true', 'what is no text is the name of no BackendConfig'],
  ["started.script.includes('\\n')", 'false', 'the parser joins lines, and takes no here-document for a command'],
  ['declaredMs > mostMs', 'declaredMs >= mostMs', 'what lies between the least and the most has been let go before'],
  ['end === -1', 'false', 'without -- the last word belongs to the command'],
];

/** Beside the rules: their types, their table and their examples. */
const NO_RULES = /\/rules\/(folders|rule|table)\.ts$/;
const all = globSync(join(ROOT, 'src/check/rules/**/*.ts'))
  .filter((file) => !NO_RULES.test(file))
  .sort();
const named = process.argv.slice(2).map((file) => resolve(file));
const files = named.length > 0 ? named : all;
const copy = mkdtempSync(join(tmpdir(), 'sexton-mutants-'));
const unnoticed: Mutant[] = [];
const mutants = new Mutants();
const mutated = mutants.of(files);
const choose = installSwitch();
try {
  for (const part of ['src', 'test/check', 'test/helpers', 'package.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, text } of mutated) writeFileSync(join(copy, file), text);
  const url = pathToFileURL(join(copy, 'test/check/expectations.ts')).href;
  const { EXPECTATIONS } = (await import(url)) as typeof import('./expectations.ts');
  for (const { hold } of EXPECTATIONS) await hold();
  for (const mutant of mutated.flatMap(({ mutants }) => mutants)) {
    choose(mutant.id);
    // Its own rule notices it first, if any does.
    const own = EXPECTATIONS.filter(({ rule }) => rule === mutant.rule);
    const ordered = [...own, ...EXPECTATIONS.filter((one) => !own.includes(one))];
    const isExcused = EQUIVALENT.some(([from, to]) => from === mutant.from && to === mutant.to);
    if (!isExcused && !(await isNoticed(ordered)) && mutants.compiles(mutant)) unnoticed.push(mutant);
  }
} finally {
  mutants.close();
  rmSync(copy, { recursive: true, force: true });
}

async function isNoticed(expectations: readonly { readonly hold: () => Promise<void> }[]): Promise<boolean> {
  for (const { hold } of expectations)
    try {
      await hold();
    } catch {
      return true;
    }
  return false;
}

for (const { file, line, rule = '', from, to } of unnoticed) console.log(`${file}:${line} ${rule} ${from}  →  ${to}`);
console.log(`${mutated.flatMap(({ mutants }) => mutants).length} mutants, ${unnoticed.length} unnoticed`);
process.exitCode = unnoticed.length === 0 ? 0 : 1;
