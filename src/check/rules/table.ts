/**
 * All rules: each folder stands here once.
 */
import * as folders from './folders.ts';
import type { Rule } from './rule.ts';

export const RULES: readonly Rule[] = Object.entries(folders)
  .map(([id, { rule }]) => ({ ...rule, id }))
  .sort((a, b) => (a.id < b.id ? -1 : 1));

export const RULE_IDS: readonly string[] = RULES.map(({ id }) => id);

export function ruleNamed(id: string): Rule {
  const rule = RULES.find((one) => one.id === id);
  if (rule === undefined) throw new Error(`internal error: no rule ${id}`);
  return rule;
}
