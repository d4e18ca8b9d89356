import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { statOf } from '../../src/runtime/host/process-stat.ts';
import { hasEnded, stateOf } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { type Bench, canUnshare, onBench, onTerminal, PID_NAMESPACE } from './scripted.ts';

const { SIGINT, SIGCONT, SIGWINCH } = constants.signals;
const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

/** An application that counts its interrupts and ends with their number. */
function layCounter(bench: Bench): string {
  const path = bench.path('counter');
  writeFileSync(
    path,
    'n=0; trap "n=\\$((n+1)); echo int \\$n" INT; echo up\nwhile :; do read -r l && [ "$l" = end ] && exit $n; done\n',
  );
  return `sh ${path}`;
}

function layReader(bench: Bench): string {
  const path = bench.path('reader');
  writeFileSync(path, 'echo up; read -r l; echo "got $l"; exit 0\n');
  return `sh ${path}`;
}

onBench('P05 K12 Ctrl-C reaches the application once, and init not at all', async (bench) => {
  const init = onTerminal(bench, `exec ${bench.sexton} -- ${layCounter(bench)}`);
  const supervisor = await init.supervisor();
  const [, pid] = await supervisor.expect('spawned');
  await init.says('up');
  assert.equal(foregroundOf(supervisor.about.ppid), Number(pid));
  init.write(CTRL_C);
  await init.says('int 1');
  init.write('end\n');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['1', '', '0']);
  assert.equal(foregroundOf(supervisor.about.ppid), supervisor.about.ppid, 'the foreground is ours again');
  await supervisor.expect('roots-gone');
  supervisor.commit('exit', 9);
  assert.equal((await init.ended).code, 9);
});

onBench('P14 K12 as PID 1 on a terminal: Ctrl-C reaches the application once', async (bench, t) => {
  if (!canUnshare()) return t.skip('needs PID namespaces');
  const init = onTerminal(bench, `exec ${PID_NAMESPACE.join(' ')} ${bench.sexton} -- ${layCounter(bench)}`);
  const supervisor = await init.supervisor();
  assert.equal(supervisor.hello[3], '1');
  await supervisor.expect('spawned');
  await init.says('up');
  init.write(CTRL_C);
  await init.says('int 1');
  init.write('end\n');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['1', '', '0']);
  await supervisor.expect('roots-gone');
  supervisor.commit('exit', 9);
  assert.equal((await init.ended).code, 9);
});

onBench('init marks a signal from the terminal, and does not report a change of the window size', async (bench) => {
  const init = onTerminal(bench, `exec ${bench.sexton} --frobnicate`);
  const supervisor = await init.supervisor();
  const terminal = readlinkSync(`/proc/${supervisor.about.ppid}/fd/0`);
  assert.equal(spawnSync('stty', ['-F', terminal, 'cols', '99', 'rows', '33']).status, 0);
  init.write(CTRL_C);
  const [name, seq, , ...rest] = await supervisor.next();
  assert.deepEqual([name, seq, ...rest], ['signal', '1', String(SIGINT), '0', '1']);
});

onBench('a change of the window size reaches an application in the background', async (bench) => {
  writeFileSync(bench.path('winch'), 'trap "echo winch; exit 0" WINCH; echo up; while :; do sleep 0.02; done\n');
  const init = onTerminal(bench, `exec ${bench.sexton} -- sh ${bench.path('winch')} </dev/null`);
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  await init.says('up');
  const terminal = readlinkSync(`/proc/${supervisor.about.ppid}/fd/1`);
  assert.equal(spawnSync('stty', ['-F', terminal, 'cols', '99', 'rows', '33']).status, 0);
  assert.equal((await supervisor.expect('signal'))[0], String(SIGWINCH));
  supervisor.commit('kill', 1, SIGWINCH);
  await init.says('winch');
});

onBench('P05 Ctrl-Z stops the application and init with it, and fg continues both', async (bench) => {
  const shell = onTerminal(bench, 'exec bash --norc --noprofile -i');
  shell.write(`${bench.sexton} -- ${layReader(bench)}\n`);
  const supervisor = await shell.supervisor();
  const [, pid] = await supervisor.expect('spawned');
  await shell.says('up\r\n');
  shell.write(CTRL_Z);
  await shell.says('Stopped');
  assert.deepEqual([stateOf(supervisor.about.ppid), stateOf(Number(pid))], ['T', 'T']);
  shell.write('fg\n');
  assert.equal((await supervisor.expect('signal'))[0], String(SIGCONT));
  await waitFor('the application has the foreground', () => foregroundOf(supervisor.about.ppid) === Number(pid));
  shell.write('hello\n');
  await shell.says('got hello');
  await supervisor.expect('exited');
  supervisor.commit('exit', 0);
  shell.write('echo "prompt is back"; exit\n');
  await shell.says('\nprompt is back');
});

onBench('P05 Ctrl-Z also stops the other processes of the job', async (bench) => {
  const shell = onTerminal(bench, 'exec bash --norc --noprofile -i');
  shell.write(`${bench.sexton} -- ${layReader(bench)} | cat\n`);
  const supervisor = await shell.supervisor();
  await supervisor.expect('spawned');
  await shell.says('up\r\n');
  shell.write(CTRL_Z);
  await shell.says('Stopped');
  shell.write('fg\n');
  assert.equal((await supervisor.expect('signal'))[0], String(SIGCONT));
  shell.write('hello\n');
  await shell.says('got hello');
});

onBench('P05 init in the background leaves the terminal to the shell until fg', async (bench) => {
  const shell = onTerminal(bench, 'exec bash --norc --noprofile -i');
  const go = bench.path('go');
  writeFileSync(bench.path('patient'), `until [ -e ${go} ]; do sleep 0.02; done; exec ${layReader(bench)}\n`);
  shell.write(`${bench.sexton} -- sh ${bench.path('patient')} &\n`);
  const supervisor = await shell.supervisor();
  const [, pid] = await supervisor.expect('spawned');
  writeFileSync(go, '');
  await waitFor('reading from the background has stopped both', () =>
    [supervisor.about.ppid, Number(pid)].every((it) => stateOf(it) === 'T'),
  );
  shell.write('echo "shell still reads"\n');
  await shell.says('\nshell still reads');
  shell.write('fg\n');
  await waitFor('the application has the foreground', () => foregroundOf(supervisor.about.ppid) === Number(pid));
  shell.write('hello\n');
  await shell.says('got hello');
});

onBench('P05 an end in the background leaves the terminal to the shell', async (bench) => {
  const shell = onTerminal(bench, 'exec bash --norc --noprofile -i');
  shell.write(`${bench.sexton} -- true &\n`);
  const supervisor = await shell.supervisor();
  const init = supervisor.about.ppid;
  const bash = statOf(init)?.parent ?? 0;
  await supervisor.skip('spawned', 'exited');
  supervisor.commit('exit', 0);
  await waitFor('init has ended', () => hasEnded(init));
  assert.equal(foregroundOf(bash), bash);
  shell.write('echo "shell still reads"\n');
  await shell.says('\nshell still reads');
});

/** The foreground group of a process's terminal: field 8 of proc_pid_stat(5). */
function foregroundOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[5]);
}
