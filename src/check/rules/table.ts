import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as folders from './folders.ts';
import type { Rule } from './rule.ts';

/** In order, as the names of a module are. */
export const RULES: readonly Rule[] = Object.entries(folders).map(([id, { rule }]) => ({ ...rule, id }));

export const RULE_IDS: readonly string[] = RULES.map(({ id }) => id);

export function ruleNamed(id: string): Rule {
  const rule = RULES.find((one) => one.id === id);
  if (rule === undefined) throw new Error(`internal error: no rule ${id}`);
  return rule;
}

/** The build defines them by their paths; a run from source reads the files. */
declare const __SEXTON_EXAMPLES__: Readonly<Record<string, string>> | undefined;

/** An input that a rule reports, and the same without the finding. */
export interface Examples {
  readonly bad: string;
  readonly good: string;
}

export function examplesOf({ id, on }: Pick<Rule, 'id' | 'on'>): Examples {
  const kind = on === 'dockerfile' ? 'Dockerfile' : 'yaml';
  return { bad: textOf(`${id}/bad.${kind}`), good: textOf(`${id}/good.${kind}`) };
}

function textOf(path: string): string {
  if (typeof __SEXTON_EXAMPLES__ === 'object') return __SEXTON_EXAMPLES__[path] ?? '';
  return readFileSync(join(import.meta.dirname, path), 'utf8');
}
