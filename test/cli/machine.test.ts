/** What a configuration file may be: a regular file of at most 1 MiB, in UTF-8. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { machine } from '../../src/cli/machine.ts';
import { resolveRun } from '../../src/config/resolve.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

async function problemsWith(path: string): Promise<readonly string[]> {
  const resolution = await resolveRun(['--config', path, '--', 'true'], {}, machine);
  return resolution.ok ? [] : resolution.problems;
}

describe('the file of --config (D6)', () => {
  const NOT_REGULAR = 'it is not a regular file; name a file that can be read';
  const REFUSED: Readonly<Record<string, readonly [make: (path: string) => unknown, why: string]>> = {
    'a pipe, which may never have a writer': [(path) => execFileSync('mkfifo', [path]), NOT_REGULAR],
    'a device without an end': [(path) => symlinkSync('/dev/zero', path), NOT_REGULAR],
    'a directory': [(path) => mkdirSync(path), 'it is a directory; name the file in it'],
    'a text in Latin-1': [
      (path) => writeFileSync(path, 'command: [printf, "%s", "caf\xe9"]', 'latin1'),
      'it is no text in UTF-8; save it as such',
    ],
  };
  for (const [what, [make, why]] of Object.entries(REFUSED))
    it(`is refused when it is ${what}`, async (t) => {
      const { path } = await tempGraveyard(t);
      make(path('c'));
      assert.deepEqual(await problemsWith(path('c')), [`--config ${path('c')}: cannot be read: ${why}`]);
    });

  it('the file of --config may have 1 MiB and not a byte more', async (t) => {
    const { path } = await tempGraveyard(t);
    const rest = '{"role": "main"}';
    await writeFile(path('c.json'), rest.padEnd(1024 * 1024));
    assert.deepEqual(await problemsWith(path('c.json')), []);
    await writeFile(path('c.json'), rest.padEnd(1024 * 1024 + 1));
    assert.deepEqual(await problemsWith(path('c.json')), [
      `--config ${path('c.json')}: cannot be read: it is larger than 1048576 bytes; name a file that can be read`,
    ]);
  });

  it('the file of --config may be in /proc, where every size is 0', () => {
    assert.match(machine.readText('/proc/self/status'), /^Name:/);
  });
});
