import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveRun } from '../../../src/config/resolve.ts';
import { SextonError } from '../../../src/text/errors.ts';
import { filesOf } from '../files.ts';
import { placed, WRONG_INPUTS } from './wrong-input.ts';

describe('D6 D8 K17 K18 wrong input is refused with its one message:', () => {
  for (const input of WRONG_INPUTS) {
    it(input.title, async () => {
      const { argv, env, files, message } = placed(input, '/here');
      const resolution = await resolveRun(argv, env, filesOf(files, ['/here']));
      assert.equal(resolution.ok, false);
      const error = new SextonError('badConfiguration', { problems: resolution.problems });
      assert.equal(error.message, `cannot start: ${message}`);
    });
  }
});
