import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatWords, parseWords } from '../../../src/config/notation/words.ts';
import { comesBack } from './comes-back.ts';

function shellWords(text: string): readonly string[] {
  const script = `for word in ${text}; do printf '%s\\0' "$word"; done`;
  return execFileSync('/bin/sh', ['-f', '-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('a command in one text', () => {
  const TEXTS = [
    'cat /tmp/ready',
    '  cat \t /tmp/ready\n',
    `sh -c 'test -e "/a b" || exit 1'`,
    `a "b c" 'd e' f\\ g`,
    `a"b"'c'\\d`,
    `a "" ''`,
    `a "\\"\\\\\\a"`,
    `a '\\'`,
    `a 'it'\\''s'`,
    `a "it's"`,
    'a,b=c -x=1 {} [x] ~ #y %z',
  ];
  for (const text of TEXTS) {
    it(`${JSON.stringify(text)} has the words of a shell`, () => {
      assert.deepEqual(parseWords(text), {
        ok: true,
        value: shellWords(text.trim().replace(' #y', ' \\#y').replace('~', '\\~')),
      });
    });
  }

  it('a command in one text comes back the same, whatever its words', () => {
    const word = fc
      .oneof(fc.string({ unit: 'binary' }), fc.constantFrom("'", '"', '\\', ' ', ',period=', '$(x)', ''))
      .filter((one) => !one.includes('\0'));
    const words = fc.array(word, { minLength: 1, maxLength: 4 }).filter(([program]) => program !== '');
    comesBack(words, parseWords, formatWords);
  });

  it('a command in one text keeps for a shell in quotes what only a shell can do', () => {
    for (const text of ['a|b', 'a & b', 'a;b', 'a<b', 'a>b', 'echo $X', 'echo `x`', '(a)']) {
      assert.equal(parseWords(text).ok, false, text);
      assert.deepEqual(parseWords(`sh -c '${text}'`), { ok: true, value: ['sh', '-c', text] });
      assert.deepEqual(parseWords(`sh -c "${text}"`), { ok: true, value: ['sh', '-c', text] });
    }
  });
});
