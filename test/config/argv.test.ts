import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCommandLine } from '../../src/config/argv.ts';

function read(line: string) {
  const { given, config, commandAt, problems } = readCommandLine(line.split(' ').filter(Boolean));
  return { given: given.map(({ key, text }) => `${key} ${text}`), config, commandAt, problems };
}

describe('the command line of sexton run', () => {
  const LINES: Readonly<Record<string, readonly [given: readonly string[], commandAt: number | undefined]>> = {
    '': [[], undefined],
    run: [[], undefined],
    'run web': [[], 1],
    'run run': [[], 1],
    'web --drain 5s': [[], 0],
    '--drain 5s web --name x': [['drain 5s'], 2],
    '--drain=5s -- --name': [['drain 5s'], 2],
    '--name x --': [['name x'], undefined],
    '--name x -- -- web': [['name x'], 3],
    '--signals HUP:- - --drain': [['signals HUP:-'], 2],
    '--reload /a=HUP --reload /b=HUP web': [['reload /a=HUP', 'reload /b=HUP'], 4],
  };
  for (const [line, [given, commandAt]] of Object.entries(LINES))
    it(`\`${line}\` begins its command at ${commandAt}`, () =>
      assert.deepEqual(read(line), { given, config: undefined, commandAt, problems: [] }));

  it('the command line may name a configuration file once', () => {
    assert.equal(read('--config /c.yaml web').config, '/c.yaml');
    assert.deepEqual(read('--config /a --config /b web').problems, ['--config /b: given twice; give it once']);
  });

  it('the word after an unknown flag counts as its value, and the flags after it are read', () => {
    const { given, commandAt, problems } = read('--drian 5s --name x web');
    assert.deepEqual([given, commandAt], [['name x'], 4]);
    assert.deepEqual(problems, ['unknown flag --drian; did you mean --drain?']);
    // A single word after the flag is the command.
    assert.equal(read('--drian web').commandAt, 1);
    assert.equal(read('--drian=5s web x').commandAt, 1);
  });
});
