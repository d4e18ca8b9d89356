/** Rules as text: `--list-rules`, `--explain`, and in Markdown a section for each, for docs/rules.md and SARIF. */
import { formatTable } from '../../text/table.ts';
import type { Rule } from '../rules/rule.ts';
import { examplesOf, RULES } from '../rules/table.ts';

export function rulesText(width: number): string {
  const rows = RULES.map(({ id, severity, isFixable, title }) => [id, severity, isFixable ? 'yes' : '', title]);
  return formatTable(['RULE', 'SEVERITY', 'FIX', 'TITLE'], rows, width);
}

export function ruleText(rule: Rule): string {
  const { id, severity, title, why, remedy, isFixable } = rule;
  const head = `${id} (${severity}${isFixable ? ', --fix' : ''}): ${title}.`;
  const indented = (text: string): string => text.trimEnd().replaceAll(/^(?=.)/gm, '    ');
  return explained(rule, [head, `${why}\n${remedy}`], indented, '');
}

/** Without a heading. Each paragraph is one line. */
export function ruleMarkdown(rule: Rule): string {
  const { severity, title, why, remedy, on, isFixable } = rule;
  const head = `**${title}.** Severity: ${severity}.${isFixable ? ' `--fix` repairs it.' : ''}`;
  const fence = (text: string): string => `\`\`\`${on === 'dockerfile' ? on : 'yaml'}\n${text.trimEnd()}\n\`\`\``;
  return explained(rule, [head, why, remedy], fence, '`');
}

function explained(rule: Rule, head: readonly string[], block: (text: string) => string, quote: string): string {
  const { on, flags = [] } = rule;
  const { bad, good } = examplesOf(rule);
  const what = on === 'dockerfile' ? 'a Dockerfile' : on === 'compose' ? 'a Compose file' : 'a manifest';
  const given = flags.length === 0 ? '' : `, with ${quote}${flags.join(' ')}${quote}`;
  const examples = [`Found in ${what}${given}:`, block(bad), 'Not found in:', block(good)];
  return `${[...head, ...examples, ignoringOf(rule, quote)].join('\n\n')}\n`;
}

/** A Compose file and a Dockerfile have no annotations, and an instruction of a Dockerfile cannot end in a comment. */
function ignoringOf({ id, on }: Rule, quote: string): string {
  const line = (how: string, text: string): string => `${how}: ${quote}${text}${quote}`;
  const comment = `# sexton-ignore ${id}: the reason`;
  switch (on) {
    case 'ignores':
      return line('To leave it out', `--skip ${id}`);
    case 'dockerfile':
      return line('To ignore it, a comment above the line', comment);
    case 'compose':
      return line('To ignore it, a comment above the line or behind it', comment);
    case 'workload':
    case 'budget':
      return [
        line('To ignore it, an annotation', `check.sexton.dev/ignore-${id}: "the reason"`),
        line('or a comment above the line or behind it', comment),
      ].join('\n');
    default:
      return on satisfies never;
  }
}
