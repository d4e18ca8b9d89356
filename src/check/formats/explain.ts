/**
 * `--list-rules` and `--explain`: the table of rules as text.
 */
import { formatTable } from '../../cli/text/table.ts';
import type { Rule } from '../rules/rule.ts';
import { RULES } from '../rules/table.ts';

export function rulesText(width: number): string {
  const rows = RULES.map(({ id, severity, isFixable, title }) => [id, severity, isFixable ? 'yes' : '', title]);
  return formatTable(['RULE', 'SEVERITY', 'FIX', 'TITLE'], rows, width);
}

export function ruleText(rule: Rule): string {
  const { id, severity, title, why, remedy, bad, good, language, flags = [], isFixable } = rule;
  const head = `${id} (${severity}${isFixable ? ', --fix' : ''}): ${title}.`;
  const name = language === 'yaml' ? 'a manifest' : 'a Dockerfile';
  const with_ = flags.length === 0 ? '' : `, with ${flags.join(' ')}`;
  const ignore =
    language === 'yaml'
      ? `Ignore it with the annotation check.sexton.dev/ignore-${id}: "the reason",\nor with a comment above the line or behind it: # sexton-ignore ${id}: the reason`
      : `Ignore it with a comment above the line: # sexton-ignore ${id}: the reason`;
  const parts = [
    head,
    `${why}\n${remedy}`,
    `Found in ${name}${with_}:\n\n${indented(bad)}`,
    `Not found in:\n\n${indented(good)}`,
    ignore,
  ];
  return `${parts.join('\n\n')}\n`;
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, '    ');
}
