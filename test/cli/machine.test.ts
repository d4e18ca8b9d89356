/** What a configuration file may be: a regular file of at most 1 MiB. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { machine } from '../../src/cli/machine.ts';
import { resolveRun } from '../../src/config/resolve.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

async function problemsWith(path: string): Promise<readonly string[]> {
  const resolution = await resolveRun(['--config', path, '--', 'true'], {}, machine);
  return resolution.ok ? [] : resolution.problems;
}

describe('the file of --config (D6)', () => {
  it('the file of --config is refused when it is a pipe, which may never have a writer', async (t) => {
    const { path } = await tempGraveyard(t);
    execFileSync('mkfifo', [path('pipe')]);
    assert.deepEqual(await problemsWith(path('pipe')), [
      `--config ${path('pipe')}: cannot be read: it is not a regular file; name a file that can be read`,
    ]);
  });

  it('the file of --config is refused when it is a device without an end', async () => {
    assert.deepEqual(await problemsWith('/dev/zero'), [
      '--config /dev/zero: cannot be read: it is not a regular file; name a file that can be read',
    ]);
  });

  it('the file of --config is refused when it is a directory', async (t) => {
    const { path } = await tempGraveyard(t);
    await mkdir(path('d'));
    assert.deepEqual(await problemsWith(path('d')), [
      `--config ${path('d')}: cannot be read: it is a directory; name the file in it`,
    ]);
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
