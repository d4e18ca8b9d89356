import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readStopArguments } from '../../src/cli/commands/stop/request.ts';
import { stop } from '../../src/cli/commands/stop/stop.ts';
import { readBootId } from '../../src/runtime/clock.ts';
import { writeTombstone } from '../runtime/graveyard/neighbours.ts';
import { needsMount, tmpfs } from '../runtime/graveyard/volume.ts';

describe('the words of sexton stop', () => {
  it('sexton stop takes flags and names in any order', () => {
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
  it('sexton stop takes at most 256 names, as many as a request can carry', () => {
    const names = Array.from({ length: 257 }, (_, index) => `web-${index}`);
    assert.equal(readStopArguments('stop', names.slice(1)).names.length, 256);
    const message = 'cannot run sexton stop: 257 names: at most 256; give no name to stop all';
    assert.throws(() => readStopArguments('stop', names), { message });
  });

  for (const [words, problem] of WRONG) {
    it(`sexton stop refuses \`${words}\``, () =>
      assert.throws(() => readStopArguments('stop', words.split(' ')), {
        message: `cannot run sexton stop: ${problem}`,
      }));
  }
});

it('sexton stop that fails midway names those that it has asked already', { skip: needsMount }, async (t) => {
  // The directory, two tombstones and one request.
  const dir = tmpfs(t, 'size=1m,nr_inodes=4');
  for (const name of ['app', 'web']) writeTombstone(dir, name, { Boot: readBootId() });
  const stopping = stop(['--graveyard', dir, '--no-wait'], {});
  await assert.rejects(stopping, /cannot ask web to stop: ENOSPC: .*; asked already, and stopping: app$/);
  const again = stop(['--graveyard', dir, '--no-wait'], {});
  await assert.rejects(
    again,
    ({ message }: Error) => /cannot ask app /.test(message) && !/asked already/.test(message),
  );
});
