import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { EXPECTED_SKIPS, type ExpectedSkip, whyUnexpected } from './skips.ts';

const LIST: readonly ExpectedSkip[] = [
  { name: 'root', reason: /^needs root$/, isTrueHere: () => true },
  { name: 'strace', reason: /^(\S+) is not installed/, isTrueHere: (program) => program === 'strace' },
];

test('a reason of the list is expected where it is true', () => {
  assert.equal(whyUnexpected('needs root', undefined, LIST), undefined);
  assert.equal(whyUnexpected('strace is not installed (apt-get install strace)', undefined, LIST), undefined);
});

test('a reason that is not true here, and one that the list does not have, are not expected', () => {
  assert.equal(whyUnexpected('node is not installed', undefined, LIST), 'this is not so on this machine');
  assert.equal(whyUnexpected('true', undefined, LIST), 'test/run/skips.ts has no such reason');
  assert.equal(whyUnexpected('needs root, mostly', undefined, LIST), 'test/run/skips.ts has no such reason');
});

test('TEST_SKIPS leaves only those that it names, and an empty one none', () => {
  assert.equal(whyUnexpected('needs root', 'mount,root', LIST), undefined);
  assert.equal(whyUnexpected('needs root', 'strace', LIST), 'TEST_SKIPS does not name root');
  assert.equal(whyUnexpected('needs root', '', LIST), 'TEST_SKIPS does not name root');
});

test('the list expects no skip for a program that is there, or that no test needs', () => {
  assert.equal(whyUnexpected('/nowhere/mkfs.ext4 is not installed (apt-get install e2fsprogs)', undefined), undefined);
  assert.equal(whyUnexpected('/nowhere/strace is not installed', 'tini'), 'TEST_SKIPS does not name strace');
  assert.equal(whyUnexpected('node is not installed', undefined), 'test/run/skips.ts has no such reason');
  const dir = temporaryDirectory();
  writeFileSync(join(dir, 'strace'), '');
  assert.equal(whyUnexpected(`${dir}/strace is not installed`, undefined), 'this is not so on this machine');
});

test('each name of the list is given once', () => {
  const names = EXPECTED_SKIPS.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
});
