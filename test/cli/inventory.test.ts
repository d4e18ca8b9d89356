/** The list of the delivered directory's files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatInventory, parseInventory } from '../../src/cli/commands/install/inventory.ts';

const SHA = 'ab'.repeat(32);

test('an inventory is sorted by path, and is read as it was written', () => {
  const files = ['sexton', 'lib/libc.so.6', 'lib/ld-linux-x86-64.so.2', 'app/run.cjs'].map((path, index) => ({
    path,
    mode: index === 0 ? 0o755 : 0o644,
    bytes: index,
    sha256: SHA,
  }));
  const text = formatInventory(files);
  assert.equal(formatInventory(files.toReversed()), text);
  const paths = ['app/run.cjs', 'lib/ld-linux-x86-64.so.2', 'lib/libc.so.6', 'sexton'];
  assert.deepEqual(
    parseInventory(text).map(({ path }) => path),
    paths,
  );
  assert.deepEqual(
    parseInventory(text).find(({ path }) => path === 'sexton'),
    files[0],
  );
});

test('an inventory that is cut off, garbled or leads out of its directory is refused', () => {
  const line = `0644 1 ${SHA} app/x`;
  for (const text of ['', line, `${line}\n0644 1 ${SHA}`, `${line}\n\n`, `0644 1 ${SHA.slice(1)} app/x\n`])
    assert.throws(() => parseInventory(text), JSON.stringify(text));
  for (const path of ['../x', 'app/../../x', '/etc/passwd', 'app//x', './x', 'app/'])
    assert.throws(() => parseInventory(`0644 1 ${SHA} ${path}\n`), path);
});
