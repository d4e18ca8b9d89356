import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { NODE } from '../helpers/paths.ts';
import { send } from '../helpers/process.ts';
import { attend, type layBench, onBench } from './scripted.ts';

const COMMAND = ['sh', '-c', 'exit 3'];

const AT_ONCE: readonly (readonly string[])[] = [
  ['--', ...COMMAND],
  ['run', '--', ...COMMAND],
  ['run', ...COMMAND],
  ['--name', 'web-1', ...COMMAND],
  ['--name=web', '--role', 'main', '--', ...COMMAND],
  ['--restart-policy', 'OnFailure', '--', ...COMMAND],
  ['--restart-policy=Always', '--grace-period', '30s', '--graveyard', '/graveyard', '--', ...COMMAND],
  ['--graveyard', '//missing//', '--', ...COMMAND],
  ['--graveyard=/tmp/missing', '--', ...COMMAND],
  ['--grace-period=001500ms', '--', ...COMMAND],
  ['--grace-period', '1m30s', '--', ...COMMAND],
  ['--drain', '0s', '--', ...COMMAND],
  ['--session', '9C-uid', '--log-level', 'debug', '--log-format', 'json', ...COMMAND],
  ['--sleep-after', 'never', '--', ...COMMAND],
  ['--sleep-after=10s', '--', ...COMMAND],
];

const WAITS: readonly (readonly string[])[] = [
  ['--'],
  ['--', ''],
  ['--name', 'x'],
  ['--name'],
  ['--name', 'x', '--name', 'y', '--', ...COMMAND],
  ['--name=x', '--name', 'x', '--', ...COMMAND],
  ['--name', 'Web', '--', ...COMMAND],
  ['--name', '-x', '--', ...COMMAND],
  ['--name', 'x-', '--', ...COMMAND],
  ['--name', '', '--', ...COMMAND],
  ['--name', '../x', '--', ...COMMAND],
  ['--name', 'a'.repeat(64), '--', ...COMMAND],
  ['--names', 'x', '--', ...COMMAND],
  ['--nam', 'x', '--', ...COMMAND],
  ['--role', 'sidecar', '--', ...COMMAND],
  ['--role', 'Main', '--', ...COMMAND],
  ['--restart-policy', 'never', '--', ...COMMAND],
  ['--grace-period', '0s', '--', ...COMMAND],
  ['--grace-period', '000ms', '--', ...COMMAND],
  ['--grace-period', '30', '--', ...COMMAND],
  ['--grace-period', '30s1m', '--', ...COMMAND],
  ['--grace-period', '10000000s', '--', ...COMMAND],
  ['--grace-period', '-1s', '--', ...COMMAND],
  ['--grace-period', '30s', '--drain', '5s', '--', ...COMMAND],
  ['--drain', 'min=1s', '--', ...COMMAND],
  ['--graveyard', 'relative', '--', ...COMMAND],
  ['--graveyard', '/', '--', ...COMMAND],
  ['--graveyard', '/missing/graveyard', '--', ...COMMAND],
  ['--graveyard', '/missing//graveyard/', '--', ...COMMAND],
  ['--graveyard', '/pods/$(POD)', '--', ...COMMAND],
  ['--graveyard', '/a/directory/whose/name/is/too/long/xy', '--', ...COMMAND],
  ['--drain', '99999m', '--', ...COMMAND],
  ['--session', 'a b', '--', ...COMMAND],
  ['--session', '---', ...COMMAND],
  ['--session', 's'.repeat(65), '--', ...COMMAND],
  ['--log-level', 'trace', '--', ...COMMAND],
  ['--log-format', 'yaml', '--', ...COMMAND],
  ['--sleep-after', '0s', '--', ...COMMAND],
  ['--sleep-after', 'always', '--', ...COMMAND],
  ['--start-after', 'x', '--', ...COMMAND],
  ['--stop', 'TERM', '--', ...COMMAND],
  ['-x', ...COMMAND],
];

onBench('init starts the application at once when nothing on the command line can be wrong', async (bench) => {
  for (const words of AT_ONCE) {
    const { init, supervisor } = await attend(bench, words);
    assert.equal((await supervisor.expect('spawned'))[0], '1', words.join(' '));
    assert.deepEqual((await supervisor.expect('exited')).slice(2), ['3', '', '0'], words.join(' '));
    await supervisor.expect('roots-gone');
    supervisor.commit('exit', 0);
    await init.ended;
  }
});

onBench('any other command line waits for the supervisor', async (bench) => {
  for (const words of WAITS) await expectNothing(bench.start(words), words.join(' '));
});

onBench('plain variables do not make the application wait', async (bench) => {
  const uid = '1f0c6b0e-7c53-4b4b-8a60-3c2f1f3b2a11';
  const plain = { SEXTON_POD_UID: uid, SEXTON_NAME: 'web', SEXTON_ROLE: 'main', SEXTON_RESTART_POLICY: 'OnFailure' };
  const { init, supervisor } = await attend(bench, ['--', ...COMMAND], {
    env: { ...plain, SEXTON_GRACE_PERIOD: '30s', SEXTON_LOG_LEVEL: 'debug' },
  });
  await supervisor.expect('spawned');
  supervisor.commit('exit', 0);
  await init.ended;
});

onBench('any other variable of sexton makes the application wait for the supervisor', async (bench) => {
  for (const variable of ['SEXTON_NAME', 'SEXTON_', 'KUBEXIT_NAME', 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT']) {
    await expectNothing(bench.start(['--', ...COMMAND], { env: { [variable]: '' } }), variable);
  }
  const telling: readonly Readonly<Record<string, string>>[] = [
    { SEXTON_ROLE: 'sidecar' },
    { SEXTON_STOP: 'TERM' },
    { SEXTON_POD_UID: 'a b' },
    { SEXTON_GRAVEYARD: '/missing/graveyard' },
    { SEXTON_NAMES: 'web' },
    { SEXTON_NAM: 'web' },
    { SEXTON_DRAIN: '5s', SEXTON_GRACE_PERIOD: '30s' },
  ];
  for (const env of telling) await expectNothing(bench.start(['--', ...COMMAND], { env }), JSON.stringify(env));
  await expectNothing(
    bench.start(['--drain', '5s', '--', ...COMMAND], { env: { SEXTON_GRACE_PERIOD: '30s' } }),
    'both',
  );
  // The command may stand in the file: that is no call for help.
  await expectNothing(bench.start(['run'], { env: { SEXTON_CONFIG: '/etc/sexton.yaml' } }), 'SEXTON_CONFIG');
  for (const variable of ['SEXTON', 'XSEXTON_NAME', 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXITED']) {
    const { init, supervisor } = await attend(bench, ['--', ...COMMAND], { env: { [variable]: '1' } });
    await supervisor.expect('spawned');
    send(init.pid, 'SIGKILL');
    await init.ended;
  }
});

onBench('init reports a program that it could not start at once', async (bench) => {
  const supervisor = await bench.start(['--', '/does/not/exist']).supervisor();
  assert.deepEqual(await supervisor.expect('spawn-failed'), ['1', 'ENOENT']);
});

onBench('a pending stop request prevents the start of the application', async (bench) => {
  // Blocked by the launcher, the signal that it was sent is still pending when it has become init.
  const launcher = ['env', '--block-signal=TERM', 'sh', '-c', '(kill -TERM $$); exec "$@"', 'sh'];
  const { supervisor } = await attend(bench, ['--', ...COMMAND], { launcher });
  assert.equal((await supervisor.expect('signal'))[0], '15');
});

onBench('Node replaces init for subcommands, help and version', async (bench) => {
  for (const words of [
    [],
    ['run'],
    ['status', '--json'],
    ['--help'],
    ['-h'],
    ['--version'],
    ['-V'],
    ['run', '--help'],
    ['explain', '--', 'x'],
  ]) {
    const init = bench.start(words, { env: { NODE_OPTIONS: '--nonsense', SEXTON_INIT_FD: '9' } });
    assert.deepEqual(await init.ended, { code: 42, signal: null }, init.stderr());
    const about = JSON.parse(init.stdout());
    assert.equal(about.pid, init.pid);
    assert.deepEqual(about.argv.slice(1), [bench.path('app/main.cjs'), ...words]);
    assert.deepEqual([about.env.NODE_OPTIONS, about.env.SEXTON_INIT_FD], [undefined, undefined]);
  }
});

onBench('init without Node starts nothing: one line with path and remedy, and exit code 125', async (bench) => {
  const expectRefusal = async (path: string): Promise<void> => {
    for (const words of [['--log-level', 'info', '--', 'sh', '-c', 'echo started'], ['status']]) {
      const init = bench.start(words, { env: { PATH: bench.path('empty') } });
      assert.deepEqual(await init.ended, { code: 125, signal: null });
      assert.match(init.stderr(), /^sexton: cannot [^\n]*; (copy|install) [^\n]*\n$/);
      assert.ok(init.stderr().includes(path), init.stderr());
      assert.equal(init.stdout(), '');
    }
  };
  renameSync(bench.path('app/main.cjs'), bench.path('app/other.cjs'));
  await expectRefusal(bench.path('app/main.cjs'));
  renameSync(bench.path('app/other.cjs'), bench.path('app/main.cjs'));
  rmSync(bench.path('bin/node'));
  await expectRefusal(bench.path('bin/node'));
  mkdirSync(bench.path('lib'));
  const loader = process.arch === 'arm64' ? 'lib/ld-linux-aarch64.so.1' : 'lib/ld-linux-x86-64.so.2';
  writeFileSync(bench.path(loader), '');
  await expectRefusal(bench.path('bin/node'));
});

onBench('init finds Node in PATH, and its own directory behind a link', async (bench) => {
  rmSync(bench.path('bin/node'));
  mkdirSync(bench.path('links'));
  symlinkSync(bench.sexton, bench.path('links/sexton'));
  const init = bench.launch(['sexton', 'status'], {
    cwd: '/',
    env: { PATH: `${bench.path('links')}:${dirname(NODE)}:${process.env.PATH}` },
  });
  assert.deepEqual(await init.ended, { code: 42, signal: null }, init.stderr());
  assert.deepEqual(JSON.parse(init.stdout()).argv.slice(1), [bench.path('app/main.cjs'), 'status']);
});

onBench('init starts Node by the loader that lies beside it', async (bench) => {
  mkdirSync(bench.path('lib'));
  const loader = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';
  writeFileSync(bench.path(`lib/${loader}`), '#!/bin/sh\necho "$@"\n');
  chmodSync(bench.path(`lib/${loader}`), 0o755);
  const init = bench.start(['status']);
  await init.ended;
  const expected = [
    '--library-path',
    bench.path('lib'),
    bench.path('bin/node'),
    '--disable-sigusr1',
    '--openssl-config=/dev/null',
    '--max-semi-space-size=1',
    '--v8-pool-size=1',
  ];
  assert.equal(init.stdout().trim(), [...expected, bench.path('app/main.cjs'), 'status'].join(' '));
});

/** A child that had been started would stand in the queue before the signal. */
async function expectNothing(
  init: ReturnType<Awaited<ReturnType<typeof layBench>>['start']>,
  what: string,
): Promise<void> {
  const supervisor = await init.supervisor();
  send(init.pid, 'SIGUSR1');
  assert.equal((await supervisor.next())[0], 'signal', what);
  supervisor.commit('exit', 0);
  await init.ended;
}
