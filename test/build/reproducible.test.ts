/** The same sources, Node and tools give the same directory. */
import assert from 'node:assert/strict';
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NODE, ROOT, SEXTON } from '../helpers/paths.ts';
import { needsRoot } from '../runtime/graveyard/volume.ts';
import { skipOf } from '../servers/graceful-stop.ts';

const UID = 23456;
const noFaketime = skipOf({ program: '/usr/bin/faketime', packages: 'faketime' });

test('another user builds the same bytes, in another place, with other settings', { skip: needsRoot }, (t) => {
  const env = { TZ: 'Asia/Tokyo', LC_ALL: 'C', HOME: '/nonexistent', SOURCE_DATE_EPOCH: '1' };
  buildAgain(t, [], { uid: UID, gid: UID, env });
});

test('a build of older files, three years later, gives the same bytes', { skip: noFaketime }, (t) => {
  buildAgain(t, ['faketime', '-f', '+1096d'], { env: {} });
});

/** Builds from a copy of the sources with a date of its own, and compares all digests. `by`: words before the command. */
function buildAgain(t: TestContext, by: readonly string[], { env, ...user }: ExecFileSyncOptions): void {
  const place = join(ROOT, 'dist', `.again-${process.pid}`);
  t.after(() => rmSync(place, { recursive: true, force: true }));
  mkdirSync(place);
  for (const name of ['src', 'package.json', 'LICENSE'])
    cpSync(join(ROOT, name), join(place, name), { recursive: true });
  execFileSync('find', [place, '-exec', 'touch', '--date=2019-03-04', '{}', '+']);
  // By links: Node alone has 120 MB.
  execFileSync('cp', ['--archive', '--link', join(ROOT, 'node_modules'), place]);
  mkdirSync(join(place, 'dist'));
  for (const path of ['', 'src', 'dist']) chmodSync(join(place, path), 0o777);
  const inventory = (directory: string): string => readFileSync(join(directory, 'inventory'), 'utf8');
  const { commit } = JSON.parse(execFileSync(SEXTON, ['version', '--json'], { encoding: 'utf8' })) as {
    commit: string;
  };
  const [program = NODE, ...args] = [...by, NODE, join(place, 'src/delivery/build.ts'), '--commit', commit];
  execFileSync(program, args, {
    ...user,
    cwd: '/',
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.equal(inventory(join(place, 'dist/sexton')), inventory(dirname(SEXTON)));
}
