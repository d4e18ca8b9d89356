/** A share of the wrong inputs against the built program: exit 125, one message, no output, nothing started. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { type Outcome, run } from '../../helpers/outcome.ts';
import { SEXTON } from '../../helpers/paths.ts';
import { tempGraveyard } from '../../helpers/scratch.ts';
import { placed, WRONG_INPUTS } from './wrong-input.ts';

/** The resolver's test has all of them. */
const SHARE = 8;

describe('sexton refuses wrong input before anything starts:', { concurrency: 2 }, () => {
  for (const input of WRONG_INPUTS.filter((_, index) => index % SHARE === 0)) {
    it(input.title, async (t) => {
      const { dir, path } = await tempGraveyard(t);
      const { argv, env, files, message } = placed(input, dir);
      for (const [file, content] of Object.entries(files)) await writeFile(file, content);
      const { code, stdout, stderr } = await runSexton(argv, { PATH: process.env.PATH ?? '', ...env });
      assert.equal(stderr, `sexton: cannot start: ${message}\n`);
      assert.equal(code, 125);
      assert.equal(stdout, '');
      assert.equal(existsSync(path('started')), false, 'the command was started');
    });
  }

  it('the same command line without the slip does start the command', async (t) => {
    const { path } = await tempGraveyard(t);
    assert.equal((await runSexton(['--drain', '1ms', '--', '/bin/touch', path('started')])).code, 0);
    assert.ok(existsSync(path('started')));
  });
});

function runSexton(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Outcome> {
  return run([SEXTON, ...argv], env);
}

describe('the built program', { concurrency: 2 }, () => {
  it('the built program reports an error of another subcommand as one of run', async (t) => {
    const { dir } = await tempGraveyard(t);
    const { code, stderr } = await runSexton(['status', '--graveyard', `${dir}/none`]);
    const remedy = 'name the shared directory with --graveyard DIR';
    assert.equal(stderr, `sexton: cannot read the graveyard ${dir}/none: no such directory; ${remedy}\n`);
    assert.equal(code, 125);
  });

  it('the built program reads YAML with the parser of another bundle', async (t) => {
    const { dir, path } = await tempGraveyard(t);
    await writeFile(path('sexton.yaml'), `command: [/bin/touch, ${path('started')}]\ndrain: 1ms\n`);
    const { code } = await runSexton(['--config', `${dir}/sexton.yaml`]);
    assert.equal(code, 0);
    assert.ok(existsSync(path('started')));
  });
});
