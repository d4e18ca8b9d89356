import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

function sexton(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout, stderr, status } = spawnSync(SEXTON, args, { env, encoding: 'utf8' });
  return { stdout, stderr, status };
}
const generationIn = (dir: string): string => readFileSync(join(dir, '.generation'), 'utf8');

describe('sexton begin', () => {
  it('R05 sexton begin silently writes a generation into the graveyard of a flag or variable', () => {
    const dir = temporaryDirectory();
    const quiet = { stdout: '', stderr: '', status: 0 };
    assert.deepEqual(sexton(['begin', '--graveyard', dir]), quiet);
    const first = generationIn(dir);
    assert.deepEqual(sexton(['begin'], { SEXTON_GRAVEYARD: dir }), quiet);
    assert.notEqual(generationIn(dir), first);
  });

  it('R05 sexton install --graveyard does what sexton begin does', () => {
    const [dir, target] = [temporaryDirectory(), temporaryDirectory()];
    const { stderr, status } = sexton(['install', '--graveyard', dir, target]);
    assert.deepEqual([stderr, status], ['', 0]);
    assert.match(generationIn(dir), /^[-0-9a-f]{36}\n$/);
  });

  const none = join(temporaryDirectory(), 'none');
  const SLIPS: readonly (readonly [readonly string[], string])[] = [
    [
      ['begin', '--graveyard', none],
      `cannot write ${none}/.generation: no such directory; mount the volume of the graveyard there, writable for this uid`,
    ],
    [
      ['begin', '--graveyard', 'here'],
      'cannot run sexton begin: --graveyard here: must be an absolute path; write one such as /graveyard, or $PWD/here in a shell',
    ],
    [['begin', 'x'], 'cannot run sexton begin: unexpected argument x; see sexton begin --help'],
  ];
  for (const [args, problem] of SLIPS) {
    it(`sexton begin refuses \`${args.join(' ')}\``, () => {
      assert.deepEqual(sexton(args), { stdout: '', stderr: `sexton: ${problem}\n`, status: 125 });
    });
  }
});
