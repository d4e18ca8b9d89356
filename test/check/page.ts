/**
 * The list of rules on docs/check.md, from the table. `node test/check/page.ts` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RULES } from '../../src/check/rules/table.ts';
import { ROOT } from '../helpers/paths.ts';

export const PAGE = join(ROOT, 'docs/check.md');

export function withRules(page: string): string {
  const rows = RULES.map(
    ({ id, severity, isFixable, title }) => `| ${id} | ${severity} | ${isFixable ? 'yes' : ''} | ${title} |`,
  );
  const table = ['| rule | severity | `--fix` | |', '|---|---|---|---|', ...rows].join('\n');
  return page.replace(
    /(<!-- rules: .* -->\n).*(<!-- end of rules -->)/s,
    (_, begin, end) => `${begin}${table}\n${end}`,
  );
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, withRules(readFileSync(PAGE, 'utf8')));
