import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { layInventory } from '../../src/delivery/inventory.ts';
import { AWAKE, startContainer } from '../helpers/container.ts';
import { member } from '../helpers/member.ts';
import { ROOT, SEXTON } from '../helpers/paths.ts';
import { argumentsOf, send } from '../helpers/process.ts';
import { scenario } from '../helpers/scenario.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { needsMount, needsRoot, readOnlyView, tmpfs } from '../runtime/graveyard/volume.ts';

interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

function install(args: readonly string[], options: { uid?: number; program?: string } = {}): Result {
  const { uid, program = SEXTON } = options;
  const own = uid === undefined ? {} : { uid, gid: uid };
  const { stdout, stderr, status } = spawnSync(program, ['install', ...args], { env: {}, encoding: 'utf8', ...own });
  return { stdout, stderr, status };
}

test('D10 a directory that its user may not enter is reported as such', { skip: needsRoot }, () => {
  const dir = join(temporaryDirectory(), 'sexton');
  cpSync(dirname(SEXTON), dir, { recursive: true });
  for (const name of ['bin', 'lib', 'app']) chmodSync(join(dir, name), 0o700);
  chmodSync(dirname(dir), 0o755);
  const ids = { uid: 1234, gid: 1234 };
  const { stderr, status } = spawnSync(join(dir, 'sexton'), ['--drain', '1s', '--', 'true'], {
    env: {},
    encoding: 'utf8',
    ...ids,
  });
  const why = 'permission denied to this user; chmod -R a+rX the sexton directory';
  assert.deepEqual([stderr, status], [`sexton: cannot run ${dir}/bin/node: ${why}\n`, 125]);
});

test('D11 the version names the commit of the build, which is not the digest of an installation', () => {
  const { stdout } = spawnSync(SEXTON, ['version'], { env: {}, encoding: 'utf8' });
  assert.match(stdout, /^sexton \S+ \(commit ([0-9a-f]{12}|unknown)\)\n$/);
});

test('what is installed is whole, says so in one line, and a second time only looks', () => {
  const target = temporaryDirectory();
  const first = install([target]);
  assert.match(first.stdout, /^installed sexton \S+ \(digest [0-9a-f]{12}\) in \S+: \d+ files, \S+ MiB, in \S+ s\n$/);
  assert.deepEqual([first.stderr, first.status], ['', 0]);
  assert.equal(spawnSync(join(target, 'sexton'), ['run', '--', 'sh', '-c', 'exit 7'], { stdio: 'ignore' }).status, 7);
  const again = install([target]);
  assert.match(
    again.stdout,
    /^sexton \S+ \(digest [0-9a-f]{12}\) was in \S+ already: \d+ files, \S+ MiB, checked in \S+ s\n$/,
  );
  // The installed copy can install to the next volume.
  assert.equal(install([temporaryDirectory()], { program: join(target, 'sexton') }).status, 0);
});

test('--expect installs only the sexton with that digest, and copies nothing of another', () => {
  const digest = execFileSync('sha256sum', [join(dirname(SEXTON), 'inventory')], { encoding: 'utf8' }).slice(0, 64);
  const target = temporaryDirectory();
  const other = install(['--expect', `sha256:${'0'.repeat(64)}`, target]);
  assert.equal(other.status, 125);
  const why = `its digest is sha256:${digest}, and --expect names sha256:0{64}; run this command from .*`;
  assert.match(other.stderr, new RegExp(`^sexton: cannot install from \\S+: ${why}\\n$`));
  assert.deepEqual(readdirSync(target), []);
  const wrong = install(['--expect', digest, target]);
  assert.equal(wrong.status, 125);
  assert.match(wrong.stderr, /--expect [0-9a-f]{64}: is no digest; write sha256: and 64 hexadecimal digits\n$/);
  assert.equal(install(['--expect', `sha256:${digest}`, target]).status, 0);
});

test('another user installs into a directory that all may write, for all users', { skip: needsRoot }, () => {
  const target = temporaryDirectory();
  chmodSync(target, 0o777);
  assert.equal(install([target], { uid: 12345 }).status, 0);
  const ran = spawnSync(join(target, 'sexton'), ['version'], { uid: 23456, gid: 23456, encoding: 'utf8' });
  assert.match(ran.stdout, /^sexton /);
  const closed = temporaryDirectory();
  const { stderr, status } = install([closed], { uid: 12345 });
  assert.match(stderr, /^sexton: cannot install to \S+: uid 12345 may not write there; .*\n$/);
  assert.equal(status, 125);
});

test('too small a volume is refused before anything is written', { skip: needsMount }, (t) => {
  const target = tmpfs(t, 'size=20m,mode=777');
  const { stderr, stdout, status } = install([target]);
  assert.match(
    stderr,
    /^sexton: cannot install to \S+: it needs \d+\.\d MiB and 20\.0 MiB are free; give the volume more room\n$/,
  );
  assert.deepEqual([stdout, status], ['', 125]);
  assert.equal(execFileSync('find', [target, '-type', 'f'], { encoding: 'utf8' }), '');
});

test('a read-only volume is refused, unless all is there already', { skip: needsMount }, (t) => {
  const target = temporaryDirectory();
  const view = readOnlyView(t, target);
  const { stderr, status } = install([view]);
  assert.match(stderr, /^sexton: cannot install to \S+: the file system is read-only; mount the volume writable .*\n$/);
  assert.equal(status, 125);
  install([target]);
  assert.equal(install([view]).status, 0);
});

test('sexton install without a directory, with two or with an unknown flag says what it takes', () => {
  for (const args of [[], ['/a', '/b'], ['--force', '/a']]) {
    const { stderr, status } = install(args);
    assert.match(stderr, /^sexton: cannot run sexton install: .*\n$/);
    assert.equal(status, 125);
  }
});

test('sexton install from the repository says what to run instead', () => {
  const main = join(ROOT, 'src/cli/main.ts');
  const target = temporaryDirectory();
  const { stderr, status } = spawnSync(process.execPath, [main, 'install', target], { encoding: 'utf8' });
  assert.match(stderr, /^sexton: cannot install from \S+: it has no inventory; run this command from the image/);
  assert.equal(status, 125);
});

scenario('what runs from a version that was replaced goes on, also when its supervisor dies', async (stage) => {
  const { scratch } = stage;
  const target = temporaryDirectory();
  install([target]);
  const old = dirname(readlinkSync(join(target, 'sexton')));
  // `bare`, as the helper would start the program of the build. AWAKE, as the installation below may take long.
  const container = startContainer(scratch, {
    bare: true,
    command: [
      join(target, 'sexton'),
      'run',
      '--log-level',
      'info',
      ...AWAKE,
      '--',
      ...member(stage, 'app', { exit: 3 }),
    ],
  });
  await waitForEvent(scratch.log, 'app', 'Started');
  const next = temporaryDirectory();
  cpSync(dirname(SEXTON), next, { recursive: true });
  writeFileSync(join(next, 'licenses', 'sexton.txt'), 'another');
  layInventory(next);
  const { stdout } = install([target], { program: join(next, 'sexton') });
  assert.match(stdout, new RegExp(`; kept ${old.split('/').at(-1)}, from which something may still run\n$`));
  assert.notEqual(dirname(readlinkSync(join(target, 'sexton'))), old);
  const first = await container.supervisor();
  assert.ok(send(first, 'SIGKILL'));
  assert.ok(argumentsOf(await container.supervisor(first)).some((it) => it.startsWith(join(target, old))));
  await container.signal('SIGTERM');
  assert.equal((await container.exit()).status, 3);
  assert.deepEqual(readTimeline(scratch.log).signals('app'), [15]);
  assert.equal(install(['--remove-old', target], { program: join(next, 'sexton') }).status, 0);
  assert.ok(!existsSync(join(target, old)));
  assert.equal(
    readFileSync(join(target, dirname(readlinkSync(join(target, 'sexton'))), 'licenses/sexton.txt'), 'utf8'),
    'another',
  );
});
