/** The same sources, Node and tools give the same directory. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { NODE, ROOT, SEXTON } from '../helpers/paths.ts';
import { needsRoot } from '../runtime/graveyard/volume.ts';

const UID = 23456;

test('another user builds the same bytes, in another place, with other settings', { skip: needsRoot }, (t) => {
  const place = join(ROOT, 'dist', `.again-${process.pid}`);
  t.after(() => rmSync(place, { recursive: true, force: true }));
  mkdirSync(place);
  for (const name of ['src', 'package.json', 'LICENSE'])
    cpSync(join(ROOT, name), join(place, name), { recursive: true });
  // By links: Node alone has 120 MB.
  execFileSync('cp', ['--archive', '--link', join(ROOT, 'node_modules'), place]);
  mkdirSync(join(place, 'dist'));
  for (const path of ['', 'src', 'dist']) chmodSync(join(place, path), 0o777);
  const inventory = (directory: string): string => readFileSync(join(directory, 'inventory'), 'utf8');
  const { commit } = JSON.parse(execFileSync(SEXTON, ['version', '--json'], { encoding: 'utf8' })) as {
    commit: string;
  };
  execFileSync(NODE, [join(place, 'src/delivery/build.ts'), '--commit', commit], {
    uid: UID,
    gid: UID,
    cwd: '/',
    env: { PATH: process.env.PATH, TZ: 'Asia/Tokyo', LC_ALL: 'C', HOME: '/nonexistent', SOURCE_DATE_EPOCH: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.equal(inventory(join(place, 'dist/sexton')), inventory(dirname(SEXTON)));
});
