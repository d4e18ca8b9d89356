/** R05: the file that marks what was written before the last run of the pod's init containers. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { beginGeneration, readGeneration } from '../../../src/runtime/graveyard/generation.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';

describe('the generation of a pod', () => {
  it('R05 the generation of a pod changes with each beginning, which leaves no other file behind', async () => {
    const dir = temporaryDirectory();
    assert.deepEqual(await readGeneration(dir), {});
    await beginGeneration(dir);
    const { generation: first } = await readGeneration(dir);
    await beginGeneration(dir);
    const { generation: second } = await readGeneration(dir);
    assert.match(first ?? '', /^[-0-9a-f]{36}$/);
    assert.match(second ?? '', /^[-0-9a-f]{36}$/);
    assert.notEqual(first, second);
    assert.deepEqual(readdirSync(dir), ['.generation']);
  });

  it('a generation cannot begin where a directory has its name, and leaves no other file behind', async () => {
    const dir = temporaryDirectory();
    mkdirSync(join(dir, '.generation'));
    await assert.rejects(beginGeneration(dir), { code: 'EISDIR' });
    assert.deepEqual(readdirSync(dir), ['.generation']);
  });

  it('the generation of a pod is missing, with a reason, when the file is not what sexton writes', async () => {
    const dir = temporaryDirectory();
    await beginGeneration(dir);
    const path = join(dir, '.generation');
    const right = readFileSync(path, 'latin1');
    const capitals = right.toUpperCase().replace(/[0-9]/g, 'A');
    for (const text of ['', right.slice(0, 20), `${right}more`, capitals, '\0'.repeat(36), 'x'.repeat(100_000)]) {
      writeFileSync(path, text);
      const { generation, why } = await readGeneration(dir);
      assert.equal(generation, undefined, JSON.stringify(text.slice(0, 40)));
      assert.match(why ?? '', /generation: (not what sexton begin writes|larger than 64 bytes)$/);
    }
  });

  it('the generation of a pod is not read through a link', async () => {
    const [dir, other] = [temporaryDirectory(), temporaryDirectory()];
    await beginGeneration(other);
    symlinkSync(join(other, '.generation'), join(dir, '.generation'));
    assert.deepEqual(await readGeneration(dir), { why: `${dir}/.generation: a symbolic link` });
  });
});
