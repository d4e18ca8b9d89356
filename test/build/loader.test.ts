/** The changes to the loader that is delivered beside Node. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { withoutImagePaths } from '../../src/delivery/loader.ts';
import { SEXTON } from '../helpers/paths.ts';

const PATHS = ['/etc/ld.so.preload', '/etc/ld.so.cache', '/lib/x86_64-linux-gnu/', '/usr/lib/'];

test('B3 the delivered loader names no file of the image', () => {
  const lib = join(dirname(SEXTON), 'lib');
  const [loader = ''] = readdirSync(lib).filter((name) => name.startsWith('ld-linux-'));
  const text = readFileSync(join(lib, loader), 'latin1');
  for (const path of ['/etc/ld.so.preload', '/etc/ld.so.cache', '/lib/', '/usr/lib/'])
    assert.ok(!text.includes(`\0${path}\0`), path);
});

test('B3 each path in a loader is overwritten by one of its length, and nothing else is', () => {
  const before = `\x7fELF\0${PATHS.join('\0')}\0/lib/ld.so of another\0`;
  const after = withoutImagePaths(Buffer.from(before, 'latin1'), 'ld.so').toString('latin1');
  const expected = ['/dev/null/.preload', '/dev/null/.cache', `/dev${'/'.repeat(18)}`, '/dev/////'];
  assert.equal(after, `\x7fELF\0${expected.join('\0')}\0/lib/ld.so of another\0`);
});

test('B3 a loader that names other files is refused', () => {
  for (const missing of ['/etc/ld.so.preload', '/etc/ld.so.cache']) {
    const loader = Buffer.from(`\0${PATHS.filter((it) => it !== missing).join('\0')}\0`);
    assert.throws(() => withoutImagePaths(loader, '/nix/ld.so'), /cannot use the loader \/nix\/ld\.so/);
  }
});
