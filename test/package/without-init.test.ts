/** The npm package without an init to become, or with a Node too old: what works, and one line about what does not. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NODE, ROOT } from '../helpers/paths.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { MAJORS, nodeDirectory, packed, TOO_OLD } from './installed.ts';

const INIT = `lib/sexton-linux-${process.arch}`;
const COMMAND = ['run', '--log-format', 'json', '--', 'sh', '-c', 'echo "ran $(env | grep -c ^SEXTON_)"; exit 5'];

/** It ran, the failure of the command is an error, and one warning says why there is no init and what is missing. */
function assertWithoutInit(ran: ReturnType<typeof spawnSync>, why: RegExp): void {
  assert.deepEqual([ran.status, String(ran.stdout)], [5, 'ran 0\n'], String(ran.stderr));
  const lines = String(ran.stderr).trim().split('\n');
  const told = lines.map((line) => JSON.parse(line));
  const errors = told.filter(({ level }) => level === 'error');
  assert.deepEqual([errors.length, errors[0]?.message, errors[0]?.exitCode], [1, 'exited', 5]);
  const warnings = told.filter(({ level }) => level === 'warn');
  assert.equal(warnings.length, 1);
  const [{ message }] = warnings;
  assert.match(message, /^running without sexton-init \(.*\): .*real-time signals.*; orphans are not reaped\b/);
  assert.match(message, why);
}

async function copyOfPackage(t: TestContext): Promise<string> {
  const copy = (await tempGraveyard(t)).path('sexton');
  cpSync(packed().directory, copy, { recursive: true });
  return copy;
}

test('Node is the supervisor where the package has no init for the machine, and warns of it', async (t) => {
  const copy = await copyOfPackage(t);
  rmSync(join(copy, INIT));
  for (const major of MAJORS) {
    const ran = spawnSync(join(nodeDirectory(major), 'node'), [join(copy, 'bin/sexton.cjs'), ...COMMAND]);
    assertWithoutInit(ran, new RegExp(`\\(the package has none for linux ${process.arch}\\)`));
  }
});

test('Node is the supervisor where init may not be executed', async (t) => {
  const copy = await copyOfPackage(t);
  chmodSync(join(copy, INIT), 0o644);
  assertWithoutInit(spawnSync(NODE, [join(copy, 'bin/sexton.cjs'), ...COMMAND]), /may not be executed \(noexec/);
});

test('Node is the supervisor on a file system that is mounted noexec', async (t) => {
  const scratch = await tempGraveyard(t);
  const rootless = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const mounted = 'mount -t tmpfs -o noexec none "$1" && cp -r "$2" "$1/sexton" && shift 2 && exec "$@"';
  const sexton = [NODE, join(scratch.graveyard, 'sexton/bin/sexton.cjs'), ...COMMAND];
  const shell = ['sh', '-c', mounted, 'sh', scratch.graveyard, packed().directory, ...sexton];
  assertWithoutInit(spawnSync('unshare', ['--mount', ...rootless, ...shell]), /may not be executed \(noexec/);
});

for (const [what, change, why] of [
  ['on another platform', 'Object.defineProperty(process, "platform", { value: "darwin" })', /has none for darwin/],
  ['under a Node that cannot become another program', 'process.execve = undefined', /has no process\.execve/],
] as const) {
  test(`Node is the supervisor ${what}`, async (t) => {
    const scratch = await tempGraveyard(t);
    writeFileSync(scratch.path('change.cjs'), change);
    const sexton = ['--require', scratch.path('change.cjs'), join(packed().directory, 'bin/sexton.cjs'), ...COMMAND];
    assertWithoutInit(spawnSync(NODE, sexton), why);
  });
}

for (const subcommand of ['run', 'explain'])
  test(`without an init ${subcommand} refuses --notify in one line`, () => {
    const words = [join(ROOT, 'src/cli/main.ts'), subcommand, '--notify', 'command', '--', 'echo', 'started'];
    const ran = spawnSync(NODE, words, { encoding: 'utf8' });
    assert.deepEqual([ran.status, ran.stdout], [125, '']);
    assert.match(ran.stderr, /^sexton: cannot start: --notify: needs sexton-init, .*\n$/);
  });

test('a Node that is too old says in one line which one is needed, and starts nothing', () => {
  const old = join(nodeDirectory(TOO_OLD), 'node');
  const ran = spawnSync(old, [join(packed().directory, 'bin/sexton.cjs'), ...COMMAND], { encoding: 'utf8' });
  assert.deepEqual([ran.status, ran.stdout], [125, '']);
  assert.match(ran.stderr, /^sexton: cannot run on Node 20\.[0-9.]+: install Node 22\.22 or newer\n$/);
});
