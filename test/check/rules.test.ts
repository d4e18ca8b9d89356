import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { fixed } from '../../src/check/fix.ts';
import { RULES, ruleNamed } from '../../src/check/rules/table.ts';
import { CLEAN, FOUND } from './manifests.ts';
import { CLEAN_AROUND, FOUND_AROUND } from './manifests-around.ts';
import { CLEAN_BY_IMAGE, FOUND_BY_IMAGE } from './manifests-images.ts';
import { checkExample, findingsOf } from './rules.ts';

describe('the rules', () => {
  it('have ids of their own, and say all that a page needs', () => {
    const ids = RULES.map(({ id }) => id);
    assert.deepEqual(ids, [...new Set(ids)].sort());
    for (const { id, title, why, remedy } of RULES) {
      assert.match(title, /^[^.]+[^.]$/, id);
      assert.match(why, /\.$/, id);
      assert.match(remedy, /\.$/, id);
    }
  });

  for (const rule of RULES) {
    it(`${rule.id} flips from the bad example to the good one`, async () => {
      const found = await findingsOf(rule, rule.bad);
      assert.notEqual(found.length, 0, rule.bad);
      assert.deepEqual((await checkExample(rule, rule.bad)).unreadable, []);
      const good = await checkExample(rule, rule.good);
      assert.deepEqual(good.unreadable, []);
      assert.deepEqual(
        good.findings.filter(({ rule: id }) => id === rule.id).map(({ message }) => message),
        [],
        rule.good,
      );
    });

    it(`${rule.id} is ${rule.isFixable ? '' : 'not '}repaired by --fix`, async () => {
      const found = await findingsOf(rule, rule.bad);
      const changes = fixed(found);
      if (rule.isFixable !== true) return assert.deepEqual(changes, []);
      assert.equal(changes.length, 1);
      const text = changes[0]?.text ?? '';
      assert.notEqual(text, rule.bad);
      assert.deepEqual((await checkExample(rule, text)).unreadable, []);
      assert.deepEqual(await findingsOf(rule, text), [], text);
    });
  }

  for (const { rule, what, text, ...around } of [...FOUND, ...FOUND_BY_IMAGE, ...FOUND_AROUND]) {
    it(`${rule} finds ${what}`, async () => {
      assert.deepEqual((await checkExample(ruleNamed(rule), text, around)).unreadable, []);
      assert.notDeepEqual(await findingsOf(ruleNamed(rule), text, around), [], text);
    });
  }

  for (const { rule, what, text, ...around } of [...CLEAN, ...CLEAN_BY_IMAGE, ...CLEAN_AROUND]) {
    it(`${rule} leaves ${what} alone`, async () => {
      assert.deepEqual(
        (await findingsOf(ruleNamed(rule), text, around)).map(({ message }) => message),
        [],
        text,
      );
    });
  }

  it('give each finding the severity that is asked for', async () => {
    const { bad } = ruleNamed('SX206');
    const input = [{ path: 'a.yaml', text: bad }];
    const { findings } = await check(input, { only: ['SX206'], severities: new Map([['SX206', 'error']]) });
    assert.deepEqual(
      findings.map(({ severity }) => severity),
      ['error'],
    );
  });
});
