import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readArguments, readLeadingFlags } from '../../src/cli/commands/arguments.ts';
import { COMMAND_NAMES, COMMANDS } from '../../src/cli/commands/commands.ts';
import type { CommandFlag } from '../../src/config/arguments.ts';

describe('the words after a subcommand', () => {
  it('flags and words come in any order and in both notations, until -- ends the flags', () => {
    assert.deepEqual(readArguments('stop', ['web', '--grace', '5s', 'db', '--no-wait', '--graveyard=/g'], 9), {
      flags: { grace: '5s', 'no-wait': true, graveyard: '/g' },
      words: ['web', 'db'],
    });
    assert.deepEqual(readArguments('report', ['-o', 'json', '-', '--', '--fail-on'], 9), {
      flags: { output: 'json' },
      words: ['-', '--fail-on'],
    });
  });

  it('the flags of a subcommand come before the command line that follows', () => {
    const rest = ['--drain', '5s', '--', 'web', '-o', 'json'];
    assert.deepEqual(readLeadingFlags('explain', ['-o', 'json', ...rest]), { flags: { output: 'json' }, rest });
    assert.deepEqual(readLeadingFlags('explain', rest), { flags: {}, rest });
    assert.deepEqual(readLeadingFlags('explain', ['--output=text']), { flags: { output: 'text' }, rest: [] });
  });

  it('-o and --output take a value after a blank, an equals sign or nothing', () => {
    for (const name of ['status', 'explain', 'report'] as const)
      for (const words of [['-o', 'json'], ['-o=json'], ['-ojson'], ['--output=json'], ['--output', 'json']])
        assert.deepEqual(readArguments(name, words, 0), { flags: { output: 'json' }, words: [] });
    assert.deepEqual(readArguments('check', ['-o=json', '-o', 'sarif=a.sarif'], 0), {
      flags: { output: ['json', 'sarif=a.sarif'] },
      words: [],
    });
  });

  const takingOne = COMMAND_NAMES.filter((name) => COMMANDS[name].flags.length > 0);
  for (const name of takingOne) {
    it(`sexton ${name} refuses a flag that is given twice, unless it may repeat`, () => {
      const flags: readonly CommandFlag[] = COMMANDS[name].flags;
      for (const { name: flag, takes, choices, isRepeated } of flags) {
        if (isRepeated) continue;
        const given = takes === undefined ? [`--${flag}`] : [`--${flag}`, choices?.[0] ?? 'x'];
        const label = given.join(' ');
        const message = `cannot run sexton ${name}: ${label}: --${flag} was given before; give it once`;
        assert.throws(() => readArguments(name, [...given, ...given], 9), { message });
      }
    });
  }

  const WRONG: readonly (readonly [words: string, problem: string])[] = [
    ['--wait', 'unknown flag --wait; see sexton status --help'],
    ['--watc', 'unknown flag --watc; did you mean --watch?'],
    ['-w', 'unknown flag -w; see sexton status --help'],
    ['--wide=yes', '--wide: takes no value'],
    ['--output', '--output: needs a value; write --output text|json'],
    ['--output=', '--output: needs a value; write --output text|json'],
    ['--output --wide', '--output: needs a value; write --output text|json'],
    ['--output jsn', '--output jsn: must be one of text, json; did you mean json?'],
    ['-o=jsn', '-o jsn: must be one of text, json; did you mean json?'],
    ['--format json', 'unknown flag --format; did you mean --output?'],
    ['a b', 'unexpected argument b; see sexton status --help'],
  ];
  for (const [words, problem] of WRONG) {
    it(`sexton status refuses \`${words}\``, () =>
      assert.throws(() => readArguments('status', words.split(' '), 1), {
        message: `cannot run sexton status: ${problem}`,
      }));
  }
});
