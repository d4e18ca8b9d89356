import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readStopArguments } from '../../src/cli/commands/stop/request.ts';

describe('the words of sexton stop', () => {
  it('are flags and names in any order', () => {
    const plain = {
      action: 'stop',
      names: [],
      graceMs: undefined,
      byRule: undefined,
      waits: true,
      graveyard: undefined,
    };
    assert.deepEqual(readStopArguments('stop', []), plain);
    assert.deepEqual(readStopArguments('stop', ['web', '--grace', '5s', 'proxy', '--no-wait', '--graveyard=/g']), {
      ...plain,
      names: ['web', 'proxy'],
      graceMs: 5_000,
      waits: false,
      graveyard: '/g',
    });
  });

  const WRONG: readonly (readonly [words: string, problem: string])[] = [
    ['--grace 5', '--grace 5: a duration needs a unit; write 5s or 5ms'],
    ['--grace 0', '--grace 0: must be longer than 0; write a duration such as 30s'],
    ['--nowait', 'unknown flag --nowait; did you mean --no-wait?'],
    ['web web', 'web is named twice; name it once'],
    ['Web', 'Web: a name has only lowercase letters, digits and inner dashes, at most 63; write web'],
    ['../x', '../x: a name has only lowercase letters, digits and inner dashes, at most 63; write x'],
  ];
  it('are at most 256 names, as many as a request can carry', () => {
    const names = Array.from({ length: 257 }, (_, index) => `web-${index}`);
    assert.equal(readStopArguments('stop', names.slice(1)).names.length, 256);
    const message = 'cannot run sexton stop: 257 names: at most 256; give no name to stop all';
    assert.throws(() => readStopArguments('stop', names), { message });
  });

  for (const [words, problem] of WRONG) {
    it(`\`${words}\` are refused`, () =>
      assert.throws(() => readStopArguments('stop', words.split(' ')), {
        message: `cannot run sexton stop: ${problem}`,
      }));
  }
});
