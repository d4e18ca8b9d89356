/**
 * What the tests of the rules expect, one by one: rules.test.ts asks all of it, mutants.ts asks it of broken rules.
 */
import assert from 'node:assert/strict';
import type { Finding } from '../../src/check/finding.ts';
import { fixed } from '../../src/check/fix.ts';
import type { Rule } from '../../src/check/rules/rule.ts';
import { RULES, ruleNamed } from '../../src/check/rules/table.ts';
import { ANNOTATION_CASES } from './cases/annotations.ts';
import type { Case } from './cases/case.ts';
import { COMPOSE_CASES } from './cases/compose.ts';
import { DOCKER_CASES } from './cases/docker.ts';
import { FIRST_PROCESS_CASES } from './cases/first-process.ts';
import { HOOK_CASES } from './cases/hooks.ts';
import { MEMORY_CASES } from './cases/memory.ts';
import { POD_CASES } from './cases/pods.ts';
import { PROBE_CASES } from './cases/probes.ts';
import { SEXTON_CASES } from './cases/sexton.ts';
import { SEXTON_FLAG_CASES } from './cases/sexton-flags.ts';
import { STOP_SIGNAL_CASES } from './cases/stop-signals.ts';
import { TIME_CASES } from './cases/time.ts';
import { CLEAN, FOUND } from './manifests.ts';
import { CLEAN_AROUND, FOUND_AROUND } from './manifests-around.ts';
import { CLEAN_BY_IMAGE, FOUND_BY_IMAGE } from './manifests-images.ts';
import { checkExample, findingsOf } from './rules.ts';

export interface Expectation {
  readonly rule: string;
  readonly title: string;
  /** Throws where it does not hold. */
  readonly hold: () => Promise<void>;
}

export const EXPECTATIONS: readonly Expectation[] = [
  ...RULES.flatMap((rule): Expectation[] => [
    { rule: rule.id, title: `${rule.id} flips from the bad example to the good one`, hold: () => flips(rule) },
    {
      rule: rule.id,
      title: `${rule.id} is ${rule.isFixable ? '' : 'not '}repaired by --fix`,
      hold: () => isRepaired(rule),
    },
  ]),
  ...[...FOUND, ...FOUND_BY_IMAGE, ...FOUND_AROUND].map(({ rule, what, text, ...around }) => ({
    rule,
    title: `${rule} finds ${what}`,
    hold: async () => {
      assert.deepEqual((await checkExample(ruleNamed(rule), text, around)).unreadable, []);
      assert.notDeepEqual(await findingsOf(ruleNamed(rule), text, around), [], text);
    },
  })),
  ...[...CLEAN, ...CLEAN_BY_IMAGE, ...CLEAN_AROUND].map(({ rule, what, text, ...around }) => ({
    rule,
    title: `${rule} leaves ${what} alone`,
    hold: async () => assert.deepEqual((await findingsOf(ruleNamed(rule), text, around)).map(told), [], text),
  })),
  ...[
    ...TIME_CASES,
    ...FIRST_PROCESS_CASES,
    ...STOP_SIGNAL_CASES,
    ...HOOK_CASES,
    ...POD_CASES,
    ...DOCKER_CASES,
    ...COMPOSE_CASES,
    ...PROBE_CASES,
    ...MEMORY_CASES,
    ...SEXTON_CASES,
    ...SEXTON_FLAG_CASES,
    ...ANNOTATION_CASES,
  ].map((one) => ({
    rule: one.rule,
    title: `${one.rule} ${one.says.length === 0 ? 'leaves' : 'finds'} ${one.what}${one.says.length === 0 ? ' alone' : ''}`,
    hold: () => saysWhatItShould(one),
  })),
];

async function saysWhatItShould({ rule, text, says, fixed: wanted, ...around }: Case): Promise<void> {
  const found = await findingsOf(ruleNamed(rule), text, around);
  const all = found.map(told);
  assert.equal(all.length, says.length, `${text}\n${all.join('\n')}`);
  for (const [index, pattern] of says.entries()) assert.match(all[index] ?? '', pattern, text);
  if (wanted === undefined) return;
  const [change] = fixed(found);
  if (wanted === false) return assert.equal(change?.text, undefined);
  assert.ok(change !== undefined, 'no fix');
  assert.ok(change.text.includes(wanted), change.text);
  assert.deepEqual((await checkExample(ruleNamed(rule), change.text)).unreadable, [], change.text);
}

function told({ severity, atMs, place: { source, start, end }, message, edits }: Finding): string {
  return `${severity} @${atMs ?? '-'} [${source.text.slice(start, end).replaceAll(/\s+/g, ' ')}] ${message}${edits.length > 0 ? ' (fix)' : ''}`;
}

async function flips(rule: Rule): Promise<void> {
  const found = await findingsOf(rule, rule.bad);
  assert.notEqual(found.length, 0, rule.bad);
  assert.deepEqual((await checkExample(rule, rule.bad)).unreadable, []);
  const good = await checkExample(rule, rule.good);
  assert.deepEqual(good.unreadable, []);
  assert.deepEqual(good.findings.filter(({ rule: id }) => id === rule.id).map(told), [], rule.good);
}

async function isRepaired(rule: Rule): Promise<void> {
  const changes = fixed(await findingsOf(rule, rule.bad));
  if (rule.isFixable !== true) return assert.deepEqual(changes, []);
  assert.equal(changes.length, 1);
  const text = changes[0]?.text ?? '';
  assert.notEqual(text, rule.bad);
  assert.deepEqual((await checkExample(rule, text)).unreadable, []);
  assert.deepEqual(await findingsOf(rule, text), [], text);
}
