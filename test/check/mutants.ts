/**
 * `node test/check/mutants.ts [FILE...]`: negates each condition of the rules, one at a time, and says which mutants no
 * test notices. Minutes: nothing of it is in `npm test`. The mutants are made in a copy, and the working tree stays as
 * it is.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../helpers/paths.ts';

const files = process.argv.length > 2 ? process.argv.slice(2) : globSync('src/check/rules/*.ts', { cwd: ROOT }).sort();
const copy = mkdtempSync(join(tmpdir(), 'sexton-mutants-'));
let made = 0;
const unnoticed: string[] = [];
try {
  for (const part of ['src', 'test/check', 'test/helpers', 'test/sim', 'package.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    // The guards: what makes a rule find nothing.
    for (const { index, 0: whole, 1: condition = '' } of text.matchAll(
      /\bif \((.+?)\)\s+(?=return (?:\[\]|undefined);)/gs,
    )) {
      made += 1;
      const mutant = `${text.slice(0, index)}${whole.replace(condition, () => `!(${condition})`)}${text.slice(index + whole.length)}`;
      writeFileSync(join(copy, file), mutant);
      const { status } = spawnSync(process.execPath, ['--test', 'test/check/rules.test.ts'], { cwd: copy });
      if (status === 0)
        unnoticed.push(`${file}:${text.slice(0, index).split('\n').length} ${condition.replaceAll(/\s+/g, ' ')}`);
    }
    writeFileSync(join(copy, file), text);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(
  `${made} mutants, ${unnoticed.length} unnoticed\n${unnoticed.map((one) => `  ${one}\n`).join('')}`,
);
process.exitCode = unnoticed.length > 0 ? 1 : 0;
