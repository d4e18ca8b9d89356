import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readNeeds } from '../../src/delivery/elf.ts';
import { NODE, SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

test('the libraries and the loader that Node names are those that readelf finds', () => {
  const dynamic = execFileSync('readelf', ['--dynamic', '--wide', NODE], { encoding: 'utf8' });
  const names = [...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name]) => name);
  assert.ok(names.includes('libc.so.6'));
  const { needed, interpreter } = readNeeds(NODE);
  assert.deepEqual(needed, names);
  assert.match(interpreter ?? '', /^\/lib.*\/ld-linux-/);
});

test('a static program needs nothing', () => {
  assert.deepEqual(readNeeds(SEXTON), { interpreter: undefined, needed: [] });
});

test('a file that is no ELF file is refused by name', () => {
  const path = join(temporaryDirectory(), 'script');
  writeFileSync(path, '#!/bin/sh\n');
  assert.throws(() => readNeeds(path), { message: `cannot read ${path}: it is not a 64-bit little-endian ELF file` });
});
