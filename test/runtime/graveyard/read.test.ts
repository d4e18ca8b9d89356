import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatTombstone, MAX_BYTES } from '../../../src/core/format/tombstone.ts';
import { readGraveyard, readMember } from '../../../src/runtime/graveyard/read.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { listen, writeTombstone } from './neighbours.ts';
import { Helper, needsRoot } from './volume.ts';

describe('readGraveyard', () => {
  it('readGraveyard reads all members, and says why it did not read the other files', async (t) => {
    const dir = temporaryDirectory();
    for (const name of ['b', 'a']) writeTombstone(dir, name);
    writeFileSync(join(dir, 'kubexit'), 'Born: 2020-01-02T03:04:05Z\n');
    writeFileSync(join(dir, '.hidden'), formatTombstone({ Version: 1, Name: 'hidden' }));
    writeFileSync(join(dir, 'Odd name\n'), 'x');
    writeFileSync(join(dir, 'empty'), '');
    writeFileSync(join(dir, 'huge'), `{"Version": 1, "Name": "huge"}${' '.repeat(MAX_BYTES)}`);
    writeFileSync(join(dir, 'sparse'), '');
    truncateSync(join(dir, 'sparse'), 2 ** 40);
    symlinkSync(join(dir, 'a'), join(dir, 'link'));
    mkdirSync(join(dir, 'folder'));
    execFileSync('mkfifo', [join(dir, 'fifo')]);
    await listen(t, join(dir, 'socket'), () => {});

    const { members, unreadable } = await readGraveyard(dir);
    const found = members.map(({ Name, Version }) => `${Name} ${Version}`);
    assert.deepEqual(found, ['a 1', 'b 1', 'kubexit 0']);
    assert.deepEqual(unreadable.map(({ name, why }) => `${name}: ${why}`).sort(), [
      'Odd name\n: not a member name',
      'empty: empty',
      'fifo: not a plain file',
      'folder: not a plain file',
      `huge: larger than ${MAX_BYTES} bytes`,
      'link: a symbolic link',
      'socket: not a plain file',
      `sparse: larger than ${MAX_BYTES} bytes`,
    ]);
  });

  it('readGraveyard takes a missing graveyard for an empty one, and rejects a plain file', async () => {
    const dir = temporaryDirectory();
    assert.deepEqual(await readGraveyard(join(dir, 'absent')), { members: [], unreadable: [] });
    writeFileSync(join(dir, 'file'), '');
    await assert.rejects(readGraveyard(join(dir, 'file')), { code: 'ENOTDIR' });
  });

  it('readGraveyard says why it cannot read a file of another uid', { skip: needsRoot }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o755);
    writeTombstone(dir, 'a');
    chmodSync(join(dir, 'a'), 0o600);
    const module = new URL('../../../src/runtime/graveyard/read.ts', import.meta.url).href;
    const source = `import { readGraveyard } from ${JSON.stringify(module)};
      console.log(JSON.stringify(await readGraveyard(${JSON.stringify(dir)})));`;
    const { members, unreadable } = JSON.parse(await new Helper(t, source, { uid: 54_321 }).line());
    assert.deepEqual(members, []);
    assert.match(unreadable[0].why, /EACCES/);
  });

  it('readGraveyard distinguishes a missing file from one that does not parse', async () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'a'), '{"Version": 1, "Na');
    assert.deepEqual(await readMember(dir, 'a'), { kind: 'unparsable', why: 'not complete JSON' });
    assert.deepEqual(await readMember(dir, 'b'), { kind: 'missing' });
  });
});
