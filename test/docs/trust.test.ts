/** Each command of docs/trust.md is run, and its table agrees with the bundles. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { NODE, ROOT, SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { needsRoot } from '../runtime/graveyard/volume.ts';
import { proseOf, textOf } from './pages.ts';

const PAGE = textOf('docs/trust.md');
const BLOCKS = [...PAGE.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
/** Such a line is a test that is run by itself, or a step of `.ci/run`. */
const OF_TESTS = /^node (test\/\S+\.ts)(?: (test\/\S+\.ts))?/;
const NEEDS_ROOT = /^(?:setpriv|unshare) /;

describe('docs/trust.md', () => {
  it('docs/trust.md has at most 900 words', () => {
    const words = [...proseOf(PAGE), ...BLOCKS]
      .join(' ')
      .split(/\s+/)
      .filter((word) => /\w/.test(word));
    assert.ok(words.length <= 900, `${words.length} words`);
  });

  const lines = BLOCKS.flatMap((block) => block.trim().split('\n'));
  for (const line of lines.filter((it) => !OF_TESTS.test(it)))
    it(`docs/trust.md has a command that succeeds: ${line.slice(0, 40)}`, {
      skip: NEEDS_ROOT.test(line) && needsRoot,
    }, () => {
      const script = line.replaceAll(/(?<![\w.])\/sexton(?=[/ ])/g, dirname(SEXTON));
      assert.ok(script !== line || line.startsWith('npm '), 'it is about nothing that was built');
      const env = { ...process.env, TMPDIR: temporaryDirectory(), PATH: `${dirname(NODE)}:${process.env.PATH}` };
      const options = { cwd: ROOT, env, encoding: 'utf8' } as const;
      const { status, stderr, stdout } = spawnSync('bash', ['-o', 'pipefail', '-c', script], options);
      assert.equal(status, 0, `${script}\n${stdout}${stderr}`);
    });

  it('docs/trust.md names tests and tools that are there', () => {
    const named = [...lines, ...[...PAGE.matchAll(/`(node test\/[^`]*)`/g)].map(([, line = '']) => line)];
    const files = named.flatMap(
      (line) =>
        OF_TESTS.exec(line)
          ?.slice(1)
          .filter((it) => it !== undefined) ?? [],
    );
    assert.ok(files.length >= 6);
    for (const file of files) assert.ok(existsSync(join(ROOT, file)), file);
  });

  it('docs/trust.md says of each module of Node whether the bundles load it', () => {
    const app = join(dirname(SEXTON), 'app');
    const bundles = ['main', 'run', 'pino', 'tools']
      .map((name) => readFileSync(join(app, `${name}.cjs`), 'latin1'))
      .join('\n');
    const rows = PAGE.split('\n').filter((line) => /^\|.*`node:/.test(line));
    const said = rows.flatMap((row) =>
      [...row.matchAll(/`node:(\w+)`/g)].map(([, name = '']) => [name, !/\| never/.test(row)]),
    );
    assert.ok(said.length >= 15);
    for (const [name, isReached] of said) {
      const load = new RegExp(`(?:require|getBuiltinModule)\\("(?:node:)?${name}"\\)|\\?"node:${name}":`);
      assert.equal(load.test(bundles), isReached, String(name));
    }
  });

  it('docs/trust.md counts the advisories as npm run vex prints them', () => {
    const { stdout } = spawnSync('npm', ['run', '--silent', 'vex'], { cwd: ROOT, encoding: 'utf8' });
    const { statements } = JSON.parse(stdout) as { statements: readonly { status: string }[] };
    const fixed = statements.filter(({ status }) => status === 'fixed').length;
    assert.deepEqual([fixed, statements.length], [5, Number(/Five of (\d+) are reached/.exec(PAGE)?.[1])]);
  });
});
