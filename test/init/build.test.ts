import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { COMMON } from '../../src/init/build.ts';
import { ROOT } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { built, STATIC } from './builds.ts';
import { begin, layBench, shell } from './scripted.ts';

const QEMU = 'qemu-aarch64-static';
const CROSS = 'aarch64-linux-gnu-gcc';

test('sexton-init is one static, position-independent file of less than 84 KiB with musl', (t) => {
  if (spawnSync('musl-gcc', ['--version']).error) return t.skip('musl-gcc is not installed');
  const bytes = statSync(STATIC.path).size;
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < 84 * 1024, `${bytes} bytes`);
  const file = spawnSync('readelf', ['-hld', STATIC.path], { encoding: 'utf8' });
  assert.equal(file.status, 0, `readelf: ${file.error ?? file.stderr}`);
  assert.doesNotMatch(file.stdout, /INTERP|NEEDED/);
  assert.match(file.stdout, /Type: +DYN/);
  // Stack protector: mov %fs:0x28,%rax
  const canary = Buffer.from('64488b042528000000', 'hex');
  assert.equal(readFileSync(STATIC.path).includes(canary), process.arch === 'x64');
});

test('the fuzz targets compile', () => {
  const dir = join(ROOT, 'test/init/fuzz');
  const files = readdirSync(dir).filter((name) => name.endsWith('.c'));
  assert.notEqual(files.length, 0);
  for (const name of files) {
    const { stderr } = spawnSync('cc', [...COMMON, '-fsyntax-only', join(dir, name)], { encoding: 'utf8' });
    assert.equal(stderr, '', name);
  }
});

test('an idle init has less than 100 KB of private memory', async (t) => {
  if (spawnSync('musl-gcc', ['--version']).error) return t.skip('musl-gcc is not installed');
  const { init, supervisor } = await begin(await layBench(t, STATIC));
  init.write('exit 0\n');
  await supervisor.skip('exited', 'roots-gone');
  supervisor.commit('memo', 'm'.repeat(65_000), 'memo', 'small', 'spawn', 2, 0, 0, 1, 'true', 'ack', 1);
  await supervisor.skip('spawned', 'exited', 'roots-gone');
  // The acknowledgement of 16 outputs gives their pages back.
  for (let id = 1; id <= 16; id += 1) {
    supervisor.commit('exec', id, 4096, 4, 'head', '-c', '4096', '/dev/zero');
    await supervisor.skip('helper-ended');
  }
  supervisor.ack(22);
  supervisor.commit('exec', 17, 4096, 1, 'true');
  await supervisor.skip('helper-ended');
  const status = spawnSync('grep', ['RssAnon', `/proc/${init.pid}/status`], { encoding: 'utf8' }).stdout;
  t.diagnostic(status.trim());
  assert.ok(Number(/(\d+) kB/.exec(status)?.[1]) < 100, status);
});

test('without a cross compiler a build names its packages, and the flag that needs none', () => {
  const other = process.arch === 'x64' ? 'arm64' : 'x64';
  const pack = [join(ROOT, 'src/delivery/package.ts'), '--arch', other, '--out', temporaryDirectory()];
  const { status, stderr } = spawnSync(process.execPath, pack, { env: { PATH: '/nonexistent' }, encoding: 'utf8' });
  assert.equal(status, 1);
  const remedy = `install gcc-\\S+ libc6-dev-\\S+-cross, or write -- --arch ${process.arch}`;
  assert.match(stderr, new RegExp(`^pack: cannot compile sexton-init for ${other}: no \\S+ is there; ${remedy}\\n$`));
});

test('the arm64 build starts and stops a command under emulation', async (t: TestContext) => {
  if (spawnSync(QEMU, ['--version']).error) return t.skip(`${QEMU} is not installed`);
  if (spawnSync(CROSS, ['--version']).error) return t.skip(`${CROSS} is not installed`);
  const bench = await layBench(t, { name: 'arm64', path: built('arm64', { arch: 'arm64' }) });
  const init = bench.start(shell('trap "echo term; exit 3" TERM; echo up; while :; do read -r l; done'), {
    launcher: [QEMU],
  });
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  await init.says('up');
  supervisor.commit('kill', 1, 15);
  await init.says('term');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['3', '', '0']);
  await supervisor.expect('roots-gone');
  init.process.kill('SIGUSR1');
  assert.equal((await supervisor.expect('signal'))[0], '10');
  supervisor.commit('spawn', 2, 0, 0, 1, '/does/not/exist');
  assert.deepEqual(await supervisor.expect('spawn-failed'), ['2', 'ENOENT']);
  supervisor.commit('exit', 4);
  assert.deepEqual(await init.ended, { code: 4, signal: null });
});
