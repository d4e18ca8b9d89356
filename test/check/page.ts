/** docs/rules.md, which `node test/check/page.ts` writes from the table of rules. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ruleMarkdown } from '../../src/check/formats/explain.ts';
import { RULES } from '../../src/check/rules/table.ts';
import { ROOT } from '../helpers/paths.ts';

export const RULES_PAGE = join(ROOT, 'docs/rules.md');
const MAX_COLUMNS = 118;

export function rulesPage(): string {
  const rows = RULES.map(
    ({ id, severity, isFixable, title }) =>
      `| [${id}](#${id.toLowerCase()}) | ${severity} | ${isFixable ? 'yes' : ''} | ${title} |`,
  );
  const intro = `<!-- made from the table in src/check/rules by node test/check/page.ts -->
# Rules of sexton check

What each rule of [\`sexton check\`](check.md) finds, the rule of the platform behind it, an input with the finding and
the same without. \`sexton check --explain SX101\` prints the same in a terminal.

| rule | severity | \`--fix\` | |
|---|---|---|---|
${rows.join('\n')}
`;
  return [intro, ...RULES.map((rule) => `## ${rule.id}\n\n${wrapped(ruleMarkdown(rule))}`)].join('\n');
}

function wrapped(markdown: string): string {
  return markdown
    .split(/(^```.*?^```$)/ms)
    .map((part) => (part.startsWith('```') ? part : part.split('\n').map(wrap).join('\n')))
    .join('');
}

function wrap(line: string): string {
  let column = 0;
  return line
    .split(' ')
    .map((word, index) => {
      column += word.length + 1;
      if (index === 0) return word;
      if (column <= MAX_COLUMNS) return ` ${word}`;
      column = word.length + 1;
      return `\n${word}`;
    })
    .join('');
}

if (process.argv[1] === import.meta.filename) writeFileSync(RULES_PAGE, rulesPage());
