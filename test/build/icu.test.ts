/** The delivered Node has the English and common ICU data only, and gives the original Node's results for text. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { NODE, PORTABLE_NODE } from '../helpers/paths.ts';
import type { Result } from './text/result.ts';

const ENVIRONMENTS: readonly NodeJS.ProcessEnv[] = [
  {},
  { LANG: 'C.UTF-8', TZ: 'Europe/Berlin' },
  { LC_ALL: 'en_GB.UTF-8', TZ: 'Asia/Kolkata' },
];
const LOCALES = ['de_DE.UTF-8', 'zh_TW.UTF-8', 'th_TH.UTF-8', 'ar_EG.UTF-8', 'tr_TR.UTF-8', 'xx_YY'];

function resultsOf([file = '', ...args]: readonly string[], script: string, env: NodeJS.ProcessEnv): Result[] {
  const words = [...args, join(import.meta.dirname, 'text', script)];
  return JSON.parse(execFileSync(file, words, { env, encoding: 'utf8' })) as Result[];
}

/** Asserts that both Nodes have the same results, and returns these. */
function compare(script: string, env: NodeJS.ProcessEnv): Result[] {
  const original = resultsOf([NODE], script, env);
  const delivered = resultsOf(PORTABLE_NODE, script, env);
  assert.equal(delivered.length, original.length);
  for (const [index, [name, answer]] of original.entries())
    assert.deepEqual(delivered[index], [name, answer], JSON.stringify(env));
  return original;
}

test('the delivered Node handles text in English as the original Node does', (t) => {
  for (const env of ENVIRONMENTS) {
    const results = compare('english.ts', env);
    t.diagnostic(`${results.length} results`);
    assert.ok(results.length > 200);
    const thrown = results.filter(([, answer]) => answer.startsWith('throws')).map(([name]) => name);
    assert.deepEqual(thrown, ['host a\u200db.example', 'a language tag that is none', 'a time zone that is none']);
  }
});

test('what depends on no language is the same in a container with another locale', () => {
  for (const locale of LOCALES) compare('neutral.ts', { LC_ALL: locale });
});

test('nothing throws in a language whose data are left out', () => {
  for (const env of [{}, { LC_ALL: 'ja_JP.UTF-8' }])
    for (const [name, answer] of resultsOf(PORTABLE_NODE, 'languages.ts', env))
      assert.equal(answer, '"a string"', name);
});
