/** The programs of the bench are built with whatever compiler is there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

test("E2 every program of the bench compiles without a warning against the machine's own libc", () => {
  const sources = globSync('*.c', { cwd: join(ROOT, 'test/bench') });
  assert.ok(sources.length >= 3);
  for (const source of sources) {
    const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', join(ROOT, 'test/bench', source)];
    const { status, stderr } = spawnSync('cc', flags, { encoding: 'utf8' });
    assert.deepEqual([stderr, status], ['', 0]);
  }
});
