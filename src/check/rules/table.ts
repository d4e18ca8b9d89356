/**
 * All rules, in the order of their ids.
 */
import { ANNOTATION_RULES } from './annotations.ts';
import { COMPOSE_RULES } from './compose.ts';
import { DELIVERY_RULES } from './delivery.ts';
import { DOCKER_RULES } from './docker.ts';
import { FIRST_PROCESS_RULES } from './first-process.ts';
import { HOOK_RULES } from './hooks.ts';
import { MEMORY_RULES } from './memory.ts';
import { POD_RULES } from './pods.ts';
import { PROBE_RULES } from './probes.ts';
import type { Rule } from './rule.ts';
import { SEXTON_RULES } from './sexton.ts';
import { STOP_SIGNAL_RULES } from './stop-signals.ts';
import { TIME_RULES } from './time.ts';

const UNUSED_IGNORE: Rule = {
  id: 'SX901',
  severity: 'info',
  title: 'An ignore that ignores nothing',
  why: 'What it was written for is repaired or gone. Left there it hides the next finding of that rule.',
  remedy: 'Remove it.',
  language: 'yaml',
  bad: 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  # sexton-ignore SX101: the hook is known\n  containers: [{name: web, image: "example.com/web:1"}]\n',
  good: 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: web, image: "example.com/web:1"}]\n',
  isFixable: true,
  on: 'ignores',
};

export const RULES: readonly Rule[] = [
  ...TIME_RULES,
  ...FIRST_PROCESS_RULES,
  ...STOP_SIGNAL_RULES,
  ...HOOK_RULES,
  ...POD_RULES,
  ...DOCKER_RULES,
  ...COMPOSE_RULES,
  ...SEXTON_RULES,
  ...DELIVERY_RULES,
  ...PROBE_RULES,
  ...MEMORY_RULES,
  ...ANNOTATION_RULES,
  UNUSED_IGNORE,
].sort((a, b) => (a.id < b.id ? -1 : 1));

export const RULE_IDS: readonly string[] = RULES.map(({ id }) => id);

export function ruleNamed(id: string): Rule {
  const rule = RULES.find((one) => one.id === id);
  if (rule === undefined) throw new Error(`internal error: no rule ${id}`);
  return rule;
}
