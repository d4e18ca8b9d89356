import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { RULE_IDS, RULES } from '../../src/check/rules/table.ts';
import { ROOT } from '../helpers/paths.ts';
import { EXPECTATIONS } from './expectations.ts';
import { examples } from './rules.ts';

describe('the rules', () => {
  it('the table of rules holds every folder, in order', () => {
    const folders = readdirSync(join(ROOT, 'src/check/rules')).filter((name) => name.startsWith('SX'));
    assert.deepEqual(RULE_IDS, folders.sort());
  });

  it('every rule has a title, a reason and a remedy', () => {
    for (const { id, title, why, remedy } of RULES) {
      assert.match(title, /^[^.]+[^.]$/, id);
      assert.match(why, /\.$/, id);
      assert.match(remedy, /\.$/, id);
    }
  });

  for (const { title, hold } of EXPECTATIONS) it(title, hold);

  it('a rule reports with the severity that the user asks for', async () => {
    const input = [{ path: 'a.yaml', text: examples('SX206').bad }];
    const { findings } = await check(input, { only: ['SX206'], severities: new Map([['SX206', 'error']]) });
    assert.deepEqual(
      findings.map(({ severity }) => severity),
      ['error'],
    );
  });
});
