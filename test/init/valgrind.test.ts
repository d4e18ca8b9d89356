/** valgrind sees the use of a value that was never set, which no sanitizer of gcc does. It looks at init, not at Node. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COMMON, sources } from '../../src/init/build.ts';
import { ROOT, SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { skipOf } from '../servers/graceful-stop.ts';

const FOUND = 99;
const skip = skipOf({ program: '/usr/bin/valgrind', packages: 'valgrind' });
/** It ends by the TERM that it asks for, once its trap is set. */
const STOPPED = ['sh', '-c', 'trap "exit 5" TERM; kill -TERM $PPID; while :; do sleep 0.1; done'];

describe('init under valgrind', { skip }, () => {
  const place = join(ROOT, 'dist', `.valgrind-${process.pid}`);
  before(() => {
    execFileSync('cp', ['--archive', '--link', dirname(SEXTON), place]);
    rmSync(join(place, 'sexton'));
    // Dynamic, since valgrind replaces functions of the C library.
    execFileSync('gcc', [...COMMON, '-O1', '-g', ...sources(), '-o', join(place, 'sexton')], { stdio: 'inherit' });
    symlinkSync('sexton', join(place, 'tini'));
  });
  after(() => rmSync(place, { recursive: true, force: true }));

  const lines: readonly (readonly [title: string, program: string, code: number, words: readonly string[]])[] = [
    ['a plain command', 'sexton', 3, ['--', 'sh', '-c', 'exit 3']],
    ['a stop without Node', 'sexton', 5, ['--', ...STOPPED]],
    ['the place of tini', 'tini', 6, ['-g', '-s', '--', 'sh', '-c', 'exit 6']],
    ['a stop with a drain', 'sexton', 5, ['--drain', '200ms', '--', ...STOPPED]],
    ['messages of sd_notify', 'sexton', 5, ['--notify', 'command', '--', ...STOPPED]],
    ['a graveyard', 'sexton', 5, ['--graveyard', temporaryDirectory(), '--name', 'web', '--', ...STOPPED]],
  ];
  for (const [what, program, code, words] of lines)
    it(`valgrind finds nothing in init with ${what}`, () => {
      const args = ['-q', `--error-exitcode=${FOUND}`, '--track-origins=yes', join(place, program), ...words];
      const { status, stdout, stderr } = spawnSync('valgrind', args, { encoding: 'utf8' });
      assert.equal(status, code, stdout + stderr);
      assert.doesNotMatch(stderr, /^==\d+== \S/m);
    });
});
