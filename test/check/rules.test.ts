import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { RULES, ruleNamed } from '../../src/check/rules/table.ts';
import { EXPECTATIONS } from './expectations.ts';

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

  for (const { title, hold } of EXPECTATIONS) it(title, hold);

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
