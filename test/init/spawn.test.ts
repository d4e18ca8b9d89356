import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { send } from '../helpers/process.ts';
import { hold } from './hold.ts';
import { attend, begin, onBench, REFUSED, shell } from './scripted.ts';

/** By default these kill: signal(7). 32 and 33 belong to the C libraries and no shell sends them. */
const DEADLY = Array.from({ length: 64 }, (_, index) => index + 1).filter(
  (number) => ![17, 18, 19, 20, 21, 22, 23, 28, 32, 33].includes(number),
);

onBench('P04 init reports a killed child with exactly its signal, real-time ones included', async (bench) => {
  const { init, supervisor } = await attend(bench, ['--name', 'x', '--frobnicate', '--', 'true']);
  let seq = 0;
  for (const [index, number] of DEADLY.entries()) {
    const id = index + 1;
    supervisor.commit('ack', seq, 'spawn', id, 0, 0, 3, 'sh', '-c', `ulimit -c 0; kill -${number} $$`);
    const [, pid] = await supervisor.expect('spawned');
    assert.deepEqual(await supervisor.expect('exited'), [String(id), pid, '', String(number), '0']);
    assert.deepEqual(await supervisor.expect('roots-gone'), [String(id)]);
    seq += 3;
  }
  supervisor.commit('exit', 0);
  assert.deepEqual(await init.ended, { code: 0, signal: null });
});

onBench('init reports that a child has dumped core', async (bench, t) => {
  if (readFileSync('/proc/sys/kernel/core_pattern', 'latin1').trim() !== 'core')
    return t.skip('needs core files in the working directory');
  const { supervisor } = await attend(bench, shell('ulimit -c unlimited && kill -QUIT $$'), { cwd: bench.dir });
  await supervisor.expect('spawned');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', String(constants.signals.SIGQUIT), '1']);
});

onBench('a signal reaches a child that has not run yet', async (bench, t) => {
  const { init, supervisor } = await attend(bench);
  const holder = await hold(t, 'init/newborn.c', supervisor.about.ppid);
  supervisor.commit('spawn', 1, 0, 0, 2, 'sleep', 1000);
  supervisor.commit('kill', 1, constants.signals.SIGTERM);
  await supervisor.expect('spawned');
  // What comes after the commit's `kill` shows that it was carried out.
  send(init.pid, 'SIGUSR1');
  await supervisor.expect('signal');
  holder.kill('SIGKILL');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['', String(constants.signals.SIGTERM), '0']);
});

onBench('a helper that has not run yet can be ended', async (bench, t) => {
  const { init, supervisor } = await attend(bench);
  const holder = await hold(t, 'init/newborn.c', supervisor.about.ppid);
  supervisor.commit('exec', 1, 0, 2, 'sleep', 1000);
  supervisor.commit('end-helper', 1);
  send(init.pid, 'SIGUSR1');
  await supervisor.expect('signal');
  holder.kill('SIGKILL');
  assert.deepEqual(await supervisor.expect('helper-ended'), ['1', '', '9', '', '']);
});

onBench('init reports exit codes unchanged', async (bench) => {
  const { supervisor } = await attend(bench);
  for (const [index, code] of [0, 1, 125, 126, 127, 128, 143, 255].entries()) {
    supervisor.commit('spawn', index + 1, 0, 0, 3, 'sh', '-c', `exit ${code}`);
    await supervisor.expect('spawned');
    assert.deepEqual((await supervisor.expect('exited')).slice(2), [String(code), '', '0']);
    await supervisor.expect('roots-gone');
  }
});

onBench('P07 init reports why a program cannot be executed', async (bench) => {
  mkdirSync(bench.path('first'));
  mkdirSync(bench.path('second'));
  writeFileSync(bench.path('plain'), 'x', { mode: 0o644 });
  writeFileSync(bench.path('first/denied'), '#!/bin/sh\n', { mode: 0o644 });
  writeFileSync(bench.path('first/shadowed'), '#!/bin/sh\n', { mode: 0o644 });
  writeFileSync(bench.path('second/shadowed'), '#!/bin/sh\nexit 9\n');
  writeFileSync(bench.path('unformatted'), 'echo never\n');
  writeFileSync(bench.path('no-interpreter'), '#!/does/not/exist\n');
  symlinkSync('loop', bench.path('loop'));
  for (const name of ['second/shadowed', 'unformatted', 'no-interpreter']) chmodSync(bench.path(name), 0o755);
  const { supervisor } = await attend(bench, undefined, {
    env: { PATH: `${bench.path('first')}:${bench.path('plain')}:${bench.path('second')}` },
  });
  const cases: readonly (readonly [string, string])[] = [
    [bench.path('absent'), 'ENOENT'],
    ['absent', 'ENOENT'],
    ['', 'ENOENT'],
    [bench.path('plain'), 'EACCES'],
    ['denied', 'EACCES'],
    [bench.path('first'), 'EACCES'],
    [bench.path('unformatted'), 'ENOEXEC'],
    [bench.path('no-interpreter'), 'ENOENT'],
    [bench.path('plain/below'), 'ENOTDIR'],
    [bench.path('loop'), 'ELOOP'],
    [`/${'n'.repeat(300)}`, 'ENAMETOOLONG'],
  ];
  for (const [index, [program, errno]] of cases.entries()) {
    supervisor.commit('spawn', index + 1, 0, 0, 1, program);
    assert.deepEqual(await supervisor.expect('spawn-failed'), [String(index + 1), errno], program);
  }
  // As execvp does: one that may not be executed does not hide the next in PATH.
  supervisor.commit('spawn', 50, 0, 0, 1, 'shadowed');
  await supervisor.expect('spawned');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['9', '', '0']);
});

/** The application writes what it sees to a file, once started by init and once without it. */
const LOOK = {
  descriptors: 'for f in /proc/$$/fd/*; do basename $f; done',
  state:
    'grep -E "^(SigPnd|SigBlk|SigIgn|SigCgt|NoNewPrivs|Seccomp)" /proc/self/status; cat /proc/self/limits; umask; pwd',
  environment: 'tr "\\0" "\\n" < /proc/$$/environ',
} as const;

const LAUNCHERS: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  'stdin closed': ['sh', '-c', 'exec "$@" <&-', 'sh'],
  'stdout closed': ['sh', '-c', 'exec "$@" >&-', 'sh'],
  'all closed': ['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh'],
  'two more': ['sh', '-c', 'exec "$@" 5</dev/null 9>/dev/null', 'sh'],
  'few allowed': ['sh', '-c', 'ulimit -n 64; exec "$@" 5</dev/null', 'sh'],
  'signals ignored': ['env', '--ignore-signal=PIPE,CHLD,USR1,RTMIN+3'],
  'signals blocked': ['env', '--block-signal=USR2,TERM,RTMIN+1'],
  'soft limits lowered': ['sh', '-c', 'ulimit -Sn 300; ulimit -Sc 0; umask 027; exec "$@"', 'sh'],
};

for (const [how, launcher] of Object.entries(LAUNCHERS)) {
  for (const [what, script] of Object.entries(LOOK)) {
    const id = what === 'descriptors' ? 'P10' : what === 'state' ? 'P13' : 'P09';
    onBench(`${id} the application has the ${what} of a direct start: ${how}`, async (bench) => {
      const unused = { LD_UNUSED: '1', NODE_OPTIONS: '--no-warnings', UV_X: '1', MALLOC_ARENA_MAX: '2' };
      const env = { SEXTON_LOG_LEVEL: 'info', ...unused };
      const words = ['sh', '-c', `{ ${script}; } >"$SX_DIR/$0"`];
      const direct = spawnSync(launcher[0] ?? 'env', [...launcher.slice(1), ...words, 'direct'], {
        env: { PATH: process.env.PATH ?? '', SX_DIR: bench.dir, ...env },
        cwd: bench.dir,
        stdio: 'pipe',
      });
      assert.equal(direct.status, 0, String(direct.stderr));
      const { supervisor } = await attend(bench, ['--', ...words, 'supervised'], { launcher, env });
      await supervisor.expect('spawned');
      assert.deepEqual((await supervisor.expect('exited')).slice(2), ['0', '', '0']);
      assert.equal(readFileSync(bench.path('supervised'), 'latin1'), readFileSync(bench.path('direct'), 'latin1'));
    });
  }
}

/** Shells clear the mask for themselves, so here no shell is between. */
for (const how of ['plain', 'signals ignored', 'signals blocked']) {
  onBench(`P13 a program that is not a shell inherits mask and dispositions: ${how}`, async (bench) => {
    const launcher = LAUNCHERS[how] ?? [];
    const words = ['grep', '-E', '^(SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt)', '/proc/self/status'];
    const direct = spawnSync('env', [...launcher, ...words], { encoding: 'utf8' });
    assert.equal(direct.status, 0, direct.stderr);
    const { init, supervisor } = await attend(bench, ['--', ...words], { launcher: ['env', ...launcher] });
    await supervisor.skip('spawned', 'exited');
    supervisor.commit('exit', 0);
    await init.ended;
    assert.equal(init.stdout(), direct.stdout);
  });
}

onBench('P10 init leaves closed descriptors 0, 1 and 2 closed', async (bench) => {
  const { init, supervisor } = await attend(bench, ['--', 'true'], { launcher: LAUNCHERS['all closed'] ?? [] });
  await supervisor.expect('spawned');
  supervisor.commit('listen', bench.path('live'), 'kill', 1, 9);
  await supervisor.expect('exited');
  const open = readdirSync(`/proc/${init.pid}/fd`).map(Number);
  assert.ok(open.length >= 2 && open.every((fd) => fd > 2), String(open));
});

onBench('P11 init passes arguments on byte for byte, from the command line and from a frame', async (bench) => {
  const long = 'x'.repeat(100_000);
  // Node cannot pass bytes that are not UTF-8, a shell can.
  const launcher = ['sh', '-c', 'exec "$@" "$(printf "\\377\\376")" ""', 'sh'];
  const words = [...REFUSED, ...shell('printf "%s|" "$@" >"$SX_DIR/$0"'), 'own', long];
  const { supervisor } = await attend(bench, words, { launcher });
  supervisor.commit('spawn', 1, 0, 3, 0);
  await supervisor.skip('spawned', 'exited');
  assert.equal(readFileSync(bench.path('own'), 'latin1'), `${long}|\xff\xfe||`);
  supervisor.commit('spawn', 2, 0, 0, 6, 'sh', '-c', 'printf "%s|" "$@" >"$SX_DIR/$0"', 'framed', long, 'grün');
  await supervisor.skip('roots-gone', 'spawned', 'exited');
  assert.equal(readFileSync(bench.path('framed'), 'utf8'), `${long}|grün|`);
});

onBench('the application leads a process group of its own in the session of init', async (bench) => {
  const { init, pid } = await begin(bench);
  assert.equal(groupAndSession(Number(pid))[0], Number(pid));
  assert.equal(groupAndSession(Number(pid))[1], groupAndSession(init.pid)[1]);
});

onBench('the supervisor has its own session, only stderr, and a clean environment', async (bench) => {
  const launcher = ['sh', '-c', 'exec "$@" 7</dev/zero', 'sh'];
  const env = {
    NODE_OPTIONS: '--nonsense',
    LD_BIND_NOW: '1',
    UV_THREADPOOL_SIZE: '9',
    CHOKIDAR_USEPOLLING: '1',
    GLIBC_TUNABLES: 'a',
    MALLOC_X: '1',
    OPENSSL_CONF: '/x',
    SSL_CERT_FILE: '/x',
    SEXTON_INIT_FD: '77',
    SEXTON_NAME: 'kept',
    NODENAME: 'kept',
  };
  const { about } = await bench.start(['run', '--', 'true'], { launcher, env }).supervisor();
  const { PATH: _, SX_DIR: __, PWD: ___, SEXTON_LOG_LEVEL: ____, ...rest } = about.env;
  const solo = existsSync('/graveyard') ? {} : { SEXTON_INIT_SOLO: '1' };
  assert.deepEqual(rest, { SEXTON_INIT_FD: '3', ...solo, SEXTON_NAME: 'kept', NODENAME: 'kept' });
  assert.deepEqual(about.argv.slice(1), [bench.path('app/main.cjs'), 'run', '--', 'true']);
  assert.equal(groupAndSession(about.pid)[1], about.pid);
  const fds = `/proc/${about.pid}/fd`;
  const [stdin, stdout, ...others] = readdirSync(fds).map((fd) => readlinkSync(join(fds, fd)));
  assert.deepEqual([stdin, stdout], ['/dev/null', '/dev/null']);
  assert.deepEqual(
    others.filter((it) => it === '/dev/zero' || it.endsWith('oom_score_adj')),
    [],
  );
});

/** Fields 5 and 6 of proc_pid_stat(5). */
function groupAndSession(pid: number): [number, number] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[2]), Number(fields[3])];
}
