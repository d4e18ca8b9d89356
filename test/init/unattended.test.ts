/** Under the names tini and dumb-init: with nothing to decide and nothing to tell there is no supervisor at all. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { childrenOf, send } from '../helpers/process.ts';
import { type Build, STATIC } from './builds.ts';
import { type Bench, eachBuild, type Init, layBench, onTerminal, type StartOptions } from './scripted.ts';

const TERM = 'trap "echo term; exit 9" TERM; echo up; while :; do sleep 0.02; done';
/** sexton's own name has subcommands. */
const FLAGS = { tini: ['-s'], 'dumb-init': [], sexton: ['run', '--name', 'web'] } as const;
const USR1 = 'trap "echo usr1" USR1; trap "exit 0" TERM; echo up; while :; do sleep 0.02; done';

for (const name of ['tini', 'dumb-init', 'sexton'] as const) {
  const flags = FLAGS[name];

  for (const [script, code] of [
    ['exit 0', 0],
    ['exit 7', 7],
    ['kill -KILL $$', 137],
  ] as const) {
    eachBuild(`${name}: a command that ends by itself never has a supervisor: ${script}`, async (t, build) => {
      const { bench, init } = await startAs(t, build, name, [...flags, '--', 'sh', '-c', script]);
      assert.deepEqual(await init.ended, { code, signal: null });
      assert.equal(init.stderr(), '');
      assert.equal(existsSync(bench.path('node-started')), false);
    });
  }

  eachBuild(`${name}: a command that is asked to stop never has a supervisor`, async (t, build) => {
    const { bench, init } = await startAs(t, build, name, [...flags, 'sh', '-c', TERM]);
    await init.says('up');
    send(init.pid, 'SIGTERM');
    assert.deepEqual(await init.ended, { code: 9, signal: null });
    await init.says('term');
    assert.equal(existsSync(bench.path('node-started')), false);
  });

  eachBuild(`${name}: a signal that is forwarded starts no supervisor`, async (t, build) => {
    const { bench, init } = await startAs(t, build, name, [...flags, 'sh', '-c', USR1]);
    await init.says('up');
    send(init.pid, 'SIGUSR1');
    await init.says('usr1');
    send(init.pid, 'SIGTERM');
    assert.deepEqual(await init.ended, { code: 0, signal: null });
    assert.equal(existsSync(bench.path('node-started')), false);
  });

  eachBuild(`${name}: a command that needs no supervisor runs without Node`, async (t, build) => {
    const { init } = await startAlone(t, build, name, [...flags, '--', 'sh', '-c', TERM]);
    await init.says('up');
    send(init.pid, 'SIGTERM');
    assert.deepEqual(await init.ended, { code: 9, signal: null });
    assert.doesNotMatch(init.stderr(), /sexton/);
  });

  eachBuild(`${name}: one warning says why a supervisor that is needed cannot start`, async (t, build) => {
    const { bench, init } = await startAlone(t, build, name, [...flags, '--', 'sh', '-c', 'sleep 600 & exit 3']);
    assert.deepEqual(await init.ended, { code: 3, signal: null });
    const supervisor = `the supervisor is not there; copy the whole sexton directory, not the program alone`;
    assert.equal(init.stderr(), `sexton: cannot read ${bench.path('alone/app/main.cjs')}: ${supervisor}\n`);
  });

  eachBuild(`${name}: init without Node names a command that it cannot start`, async (t, build) => {
    const file = '/does/not/exist';
    const { bench, init } = await startAlone(t, build, name, [...flags, '--', file]);
    assert.deepEqual(await init.ended, { code: name === 'dumb-init' ? 2 : 127, signal: null });
    assert.equal(init.stderr(), `sexton: cannot start ${file}: not found; check the spelling and the PATH\n`);
    const directory = await startAlone(t, build, name, [...flags, '--', bench.dir]);
    assert.deepEqual(await directory.init.ended, { code: name === 'dumb-init' ? 2 : 126, signal: null });
    assert.match(directory.init.stderr(), /^sexton: cannot start .*: it cannot be executed; .*\n$/);
  });

  eachBuild(`${name}: a supervisor reports a command that cannot be started`, async (t, build) => {
    const { init } = await startAs(t, build, name, [...flags, '/does/not/exist']);
    const supervisor = await init.supervisor();
    assert.deepEqual(await supervisor.expect('spawn-failed'), ['1', 'ENOENT']);
    supervisor.commit('exit', 2);
    assert.deepEqual(await init.ended, { code: 2, signal: null });
  });

  eachBuild(`${name}: a supervisor ends what a command leaves behind`, async (t, build) => {
    const { init } = await startAs(t, build, name, [...flags, 'sh', '-c', 'sleep 600 & exit 3']);
    const supervisor = await init.supervisor();
    await supervisor.expect('spawned');
    assert.deepEqual((await supervisor.expect('exited')).slice(2), ['3', '', '0']);
    supervisor.commit('kill', 1, 9);
    await supervisor.expect('roots-gone');
    supervisor.commit('exit', 3);
    assert.deepEqual(await init.ended, { code: 3, signal: null });
  });
}

eachBuild('sexton: without Node each interrupt from the terminal reaches the command', async (t, build) => {
  const bench = await layAlone(t, build, 'sexton');
  const counter = 'n=0; trap "n=\\$((n+1)); echo int \\$n" INT; echo up; while :; do sleep 0.02; done';
  writeFileSync(bench.path('counter'), `${counter}\n`);
  // Its descriptor 0 is no terminal, so the interrupts are init's.
  const command = `exec ${bench.path('alone/sexton')} run -- sh ${bench.path('counter')} </dev/null`;
  const init = onTerminal(bench, command, { env: { SEXTON_LOG_LEVEL: undefined } });
  await init.says('up');
  for (const count of [1, 2, 3]) {
    init.write('\x03');
    await init.says(`int ${count}`);
  }
});

eachBuild('dumb-init: a signal that is dropped starts no supervisor', async (t, build) => {
  const { bench, init } = await startAs(t, build, 'dumb-init', ['-r', '10:0', 'sh', '-c', USR1]);
  await init.says('up');
  send(init.pid, 'SIGUSR1');
  // Init takes its signals in the order of their numbers: TERM, 15, comes behind USR1, 10.
  send(init.pid, 'SIGTERM');
  assert.deepEqual(await init.ended, { code: 0, signal: null });
  assert.equal(init.stdout(), 'up\n');
  assert.equal(existsSync(bench.path('node-started')), false);
});

for (const [words, said] of [
  [['-s', '-w', '-p', 'SIGTERM'], /^sexton: reaped an orphan, pid \d+\n$/],
  [['-g'], /^sexton: orphans are not reaped here: .*; add -s, set TINI_SUBREAPER, or make it PID 1\n$/],
] as const) {
  eachBuild(`tini ${words.join(' ')}: no supervisor is needed for what init says itself`, async (t, build) => {
    const orphan = 'sh -c "(sleep 0.05; echo up) &"; sleep 0.3';
    const { bench, init } = await startAs(t, build, 'tini', [...words, 'sh', '-c', orphan]);
    assert.deepEqual(await init.ended, { code: 0, signal: null });
    assert.match(init.stderr(), said);
    assert.equal(existsSync(bench.path('node-started')), false);
  });
}

eachBuild('tini: the warning about orphans is silent where only errors are said', async (t, build) => {
  for (const env of [{ TINI_VERBOSITY: '0' }, { SEXTON_LOG_LEVEL: 'error' }]) {
    const { init } = await startAs(t, build, 'tini', ['true'], { env });
    assert.deepEqual(await init.ended, { code: 0, signal: null });
    assert.equal(init.stderr(), '', JSON.stringify(env));
  }
});

eachBuild('tini: a supervisor ends a daemon', async (t, build) => {
  const leave = `setsid sh -c 'echo up; sleep 600' & sleep 0.3; exit 0`;
  const { init } = await startAs(t, build, 'tini', ['-s', 'sh', '-c', leave]);
  const supervisor = await init.supervisor();
  await supervisor.skip('spawned', 'exited');
  supervisor.commit('kill', 1, 9);
  assert.deepEqual(await supervisor.expect('roots-gone'), ['1']);
  supervisor.commit('exit', 0);
  assert.deepEqual(await init.ended, { code: 0, signal: null });
});

for (const name of ['tini', 'dumb-init'] as const)
  eachBuild(
    `${name}: init changes to / before the command runs, which keeps its directory`,
    async (t, build) => {
      if (spawnSync('strace', ['-V']).error) return t.skip('strace is not installed');
      // What init does late it does too late then.
      const launcher = ['strace', '-o', '/dev/null', '-e', 'trace=chdir', '-e', 'inject=chdir:delay_enter=300000'];
      const script = 'readlink "/proc/$PPID/cwd"; pwd -P';
      const { bench, init } = await startAs(t, build, name, [...FLAGS[name], 'sh', '-c', script], { launcher });
      assert.deepEqual(await init.ended, { code: 0, signal: null });
      assert.equal(init.stdout(), `/\n${realpathSync(bench.dir)}\n`);
    },
    [STATIC], // LeakSanitizer does not work under ptrace
  );

for (const [name, words, env] of [
  ['tini', ['-s', '-v'], {}],
  ['tini', ['-s', '-e', '143'], {}],
  ['tini', ['-s'], { TINI_VERBOSITY: '3' }],
  ['tini', ['-s'], { SEXTON_LOG_LEVEL: 'info' }],
  ['tini', ['-s'], { SEXTON_GRACE_PERIOD: '30s' }],
  ['tini', ['-s'], { SEXTON_SLEEP_AFTER: '1m' }],
  ['dumb-init', ['-v'], {}],
  ['dumb-init', [], { DUMB_INIT_DEBUG: '1' }],
  ['sexton', ['--log-level', 'info'], {}],
  ['sexton', ['run', '--log-level=debug'], { SEXTON_LOG_LEVEL: 'warn' }],
  ['sexton', [], { SEXTON_LOG_LEVEL: 'info' }],
  ['sexton', ['--graveyard', '/pod'], {}],
  ['sexton', ['--drain', '1ms'], {}],
] as const) {
  const line = [...Object.entries(env).map((entry) => entry.join('=')), name, ...words].join(' ');
  eachBuild(`a supervisor starts at once where it has something to do: ${line}`, async (t, build) => {
    const { init } = await startAs(t, build, name, [...words, '--', 'sleep', '600'], { env });
    (await init.supervisor()).commit('exit', 0);
    assert.deepEqual(await init.ended, { code: 0, signal: null });
  });
}

const DEAF =
  'trap "echo term" TERM; trap "echo int" INT; trap "exit 3" HUP; trap "echo usr1" USR1; echo up; while :; do sleep 0.02; done';

eachBuild('sexton: init forwards each stop request as tini does, and starts no supervisor', async (t, build) => {
  const { bench, init } = await startAs(t, build, 'sexton', ['--grace-period', '90m', '--', 'sh', '-c', DEAF]);
  await init.says('up');
  for (const [signal, said] of [
    ['SIGTERM', 'up\nterm\n'],
    ['SIGTERM', 'up\nterm\nterm\n'],
    ['SIGINT', 'up\nterm\nterm\nint\n'],
  ] as const) {
    send(init.pid, signal);
    await init.says(said);
  }
  send(init.pid, 'SIGHUP');
  assert.deepEqual(await init.ended, { code: 3, signal: null });
  assert.equal(existsSync(bench.path('node-started')), false);
});

eachBuild('sexton: a supervisor reports the KILL at the end of a grace period', async (t, build) => {
  const { bench, init } = await startAs(t, build, 'sexton', ['--grace-period', '200ms', '--', 'sh', '-c', DEAF]);
  await init.says('up');
  assert.equal(existsSync(bench.path('node-started')), false);
  send(init.pid, 'SIGTERM');
  const supervisor = await init.supervisor();
  assert.deepEqual(supervisor.hello.slice(3), ['0', '', '', '', '', '', '0']);
  await supervisor.expect('spawned');
  const [name, , asked, ...signals] = await supervisor.next();
  assert.deepEqual([name, ...signals.slice(1, 4)], ['ordered', 'first', '15', '15']);
  // Late in the grace period its children have had TERM.
  let [overdue, , killed] = await supervisor.next();
  while (overdue === 'told') [overdue, , killed] = await supervisor.next();
  assert.equal(overdue, 'ordered');
  // A little before the platform's own KILL.
  assert.ok(Number(killed) - Number(asked) >= 190, `${asked} ${killed}`);
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', '9', '0']);
  supervisor.commit('exit', 137);
  assert.deepEqual(await init.ended, { code: 137, signal: null });
});

eachBuild('sexton: init does not report forwarded signals to a later supervisor', async (t, build) => {
  const { init } = await startAs(t, build, 'sexton', [
    '--',
    'sh',
    '-c',
    `setsid sh -c 'echo away; exec sleep 600' & ${USR1}`,
  ]);
  for (const word of ['away', 'up']) await init.says(word);
  send(init.pid, 'SIGUSR1');
  await init.says('usr1');
  send(childrenOf(init.pid)[0] ?? 0, 'SIGTERM');
  const supervisor = await init.supervisor();
  await supervisor.skip('spawned', 'exited');
  supervisor.commit('kill', 1, 9);
  await supervisor.expect('roots-gone');
  supervisor.commit('exit', 0);
  await init.ended;
});

/** A copy of the program alone, without Node and the rest of its directory: `alone/NAME`. */
async function layAlone(t: TestContext, build: Build, name: string): Promise<Bench> {
  const bench = await layBench(t, build);
  mkdirSync(bench.path('alone'));
  copyFileSync(bench.sexton, bench.path(`alone/${name}`));
  return bench;
}

async function startAlone(
  t: TestContext,
  build: Build,
  name: string,
  words: readonly string[],
): Promise<{ bench: Bench; init: Init }> {
  const bench = await layAlone(t, build, name);
  return {
    bench,
    init: bench.launch([bench.path(`alone/${name}`), ...words], { env: { SEXTON_LOG_LEVEL: undefined } }),
  };
}

async function startAs(
  t: TestContext,
  build: Build,
  name: string,
  words: readonly string[],
  options: StartOptions = {},
): Promise<{ bench: Bench; init: Init }> {
  const bench = await layBench(t, build);
  bench.noteSupervisors();
  if (name !== 'sexton') symlinkSync(bench.sexton, bench.path(name));
  const env = { SEXTON_LOG_LEVEL: undefined, ...options.env };
  return { bench, init: bench.launch([...(options.launcher ?? []), bench.path(name), ...words], { ...options, env }) };
}
