/**
 * The inputs that stand beside a rule: one that it reports, and the same without the finding.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rule } from './rule.ts';

/** The build defines them by their paths; a run from source reads the files. */
declare const __SEXTON_EXAMPLES__: Readonly<Record<string, string>> | undefined;

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
