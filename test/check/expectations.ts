/** What the tests of the rules expect, one by one. mutants.ts tests broken rules by it. */
import assert from 'node:assert/strict';
import type { Finding } from '../../src/check/finding.ts';
import { fixed } from '../../src/check/fix.ts';
import type { Rule } from '../../src/check/rules/rule.ts';
import { examplesOf, RULES, ruleNamed } from '../../src/check/rules/table.ts';
import { ANNOTATION_CASES } from './cases/annotations.ts';
import { AROUND_CASES } from './cases/around.ts';
import type { Case } from './cases/case.ts';
import { COMPOSE_CASES } from './cases/compose.ts';
import { DOCKER_CASES } from './cases/docker.ts';
import { FIRST_PROCESS_CASES } from './cases/first-process.ts';
import { HOOK_CASES } from './cases/hooks.ts';
import { IDLE_CASES } from './cases/idle.ts';
import { IMAGE_CASES } from './cases/images.ts';
import { MEMORY_CASES } from './cases/memory.ts';
import { PLAIN_CASES } from './cases/plain.ts';
import { POD_CASES } from './cases/pods.ts';
import { PROBE_CASES } from './cases/probes.ts';
import { SEXTON_CASES } from './cases/sexton.ts';
import { STOP_SIGNAL_CASES } from './cases/stop-signals.ts';
import { TIME_CASES } from './cases/time.ts';
import { type Around, checkAs, findingsOf } from './rules.ts';

export interface Expectation {
  readonly rule: string;
  readonly title: string;
  readonly hold: () => Promise<void>;
}

const CASES = [
  ...[PLAIN_CASES, AROUND_CASES, IMAGE_CASES, TIME_CASES, FIRST_PROCESS_CASES, STOP_SIGNAL_CASES, HOOK_CASES],
  ...[POD_CASES, DOCKER_CASES, COMPOSE_CASES, PROBE_CASES, MEMORY_CASES, SEXTON_CASES],
  ...[ANNOTATION_CASES, IDLE_CASES],
];

export const EXPECTATIONS: readonly Expectation[] = [
  ...RULES.flatMap((rule): readonly Expectation[] => [
    {
      rule: rule.id,
      title: `${rule.id} alone reports its bad example, and nothing the good one`,
      hold: () => flips(rule),
    },
    {
      rule: rule.id,
      title: `${rule.id} is ${rule.isFixable ? '' : 'not '}repaired by --fix`,
      hold: () => isRepaired(rule),
    },
  ]),
  ...CASES.flatMap(Object.entries<Readonly<Record<string, Case>>>).flatMap(([rule, cases]) =>
    Object.entries(cases).map(([what, one]): Expectation => {
      const parts = typeof one === 'string' ? ([one] as const) : one;
      const isClean = !parts.some((part) => part instanceof RegExp);
      const title = `${rule} ${isClean ? 'leaves' : 'finds'} ${what}${isClean ? ' alone' : ''}`;
      return { rule, title, hold: () => saysWhatItShould(ruleNamed(rule), parts) };
    }),
  ),
];

async function saysWhatItShould(rule: Rule, [text, ...rest]: Exclude<Case, string>): Promise<void> {
  const says = rest.filter((part) => part instanceof RegExp);
  const wanted = rest.find((part) => typeof part === 'string' || part === false);
  const around = rest.find((part): part is Around => typeof part === 'object' && !(part instanceof RegExp));
  const found = await findingsOf(rule, text, around);
  const all = found.map(told);
  assert.equal(all.length, says.length, `${text}\n${all.join('\n')}`);
  for (const [index, pattern] of says.entries()) assert.match(all[index] ?? '', pattern, text);
  if (wanted === undefined) return;
  const [change] = fixed(found);
  if (wanted === false) return assert.equal(change?.text, undefined);
  const after = change?.text ?? 'no fix';
  assert.ok(after.includes(wanted), after);
  await findingsOf(rule, after);
}

function told({ severity, atMs, place: { source, start, end }, message, edits }: Finding): string {
  return `${severity} @${atMs ?? '-'} [${source.text.slice(start, end).replaceAll(/\s+/g, ' ')}] ${message}${edits.length > 0 ? ' (fix)' : ''}`;
}

async function flips(rule: Rule): Promise<void> {
  const { bad, good } = examplesOf(rule);
  const { findings, unreadable } = await checkAs(rule, bad);
  assert.deepEqual([...new Set(findings.map(({ rule: id }) => id))], [rule.id], findings.map(told).join('\n'));
  const clean = await checkAs(rule, good);
  assert.deepEqual([...unreadable, ...clean.unreadable, ...clean.findings.map(told)], []);
}

async function isRepaired(rule: Rule): Promise<void> {
  const changes = fixed(await findingsOf(rule, examplesOf(rule).bad));
  assert.equal(changes.length, rule.isFixable ? 1 : 0);
  for (const { text } of changes) assert.deepEqual(await findingsOf(rule, text), [], text);
}
