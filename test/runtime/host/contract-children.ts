/** The contract of a host: starting programs, how they end, and their process groups. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { SIGKILL, SIGTERM, SIGWINCH } from '../../../src/core/signals.ts';
import { stateOf } from '../../helpers/process.ts';
import { build } from '../../helpers/program.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { declares, FOR_EVER, type HostKind, type HostProcess, spawnOf, start, stopOf } from './host-process.ts';

const SIGURG = 23;
/** By default they end a process: signal(7). KILL is among them. */
const DEADLY = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 25, 26, 27, 29, 30, 31];
const REAL_TIME = [34, 37, 64];

export function childrenContract(kind: HostKind): void {
  spawning(kind);
  ending(kind);
  groups(kind);
}

function spawning(kind: HostKind): void {
  test('a spawned program runs under the reported pid, as the leader of its group', async (t) => {
    const host = await start(t, kind);
    const spawned = await host.shell(1, 'echo $$; cat /proc/$$/stat');
    assert.equal(spawned.id, 1);
    assert.equal(await host.output.next(() => true), String(spawned.pid));
    assert.equal((await host.output.next(() => true)).split(') ')[1]?.split(' ')[2], String(spawned.pid));
    const exited = await host.event('exited');
    assert.deepEqual([exited.id, exited.pid, exited.core], [1, spawned.pid, false]);
    assert.ok(exited.seq > spawned.seq && exited.at >= spawned.at);
  });

  test('the application gets the environment of the host, and nothing of the supervisor', async (t) => {
    const host = await start(t, kind);
    await host.shell(1, 'echo "$SCRATCH"; echo "<$SEXTON_INIT_FD>"');
    assert.equal(await host.output.next(() => true), host.scratch.dir);
    assert.equal(await host.output.next(() => true), '<>');
  });

  test('P07 a program that is missing, not executable or no file is reported with its errno', async (t) => {
    const host = await start(t, kind);
    const file = host.scratch.path('not-executable');
    await writeFile(file, '#!/bin/sh\n');
    await chmod(file, 0o644);
    const wrong = [
      ['there-is-no-such-program', 'ENOENT'],
      [host.scratch.path('no/such/file'), 'ENOENT'],
      ['', 'ENOENT'],
      [file, 'EACCES'],
      [host.scratch.dir, 'EACCES'],
      [`${file}/below-a-file`, 'ENOTDIR'],
    ] as const;
    for (const [index, [program, errno]] of wrong.entries()) {
      await host.commit({ commands: [spawnOf(index + 1, program)] });
      const failed = await host.event('spawnFailed');
      assert.deepEqual([failed.id, failed.errno], [index + 1, errno], program);
    }
    assert.equal((await host.shell(wrong.length + 1, 'exit 0')).id, wrong.length + 1);
  });

  test('a spawn of an id that was started already does nothing', async (t) => {
    const host = await start(t, kind);
    await host.commit({ commands: [spawnOf(2, '/bin/sh', '-c', 'echo second; read forever')] });
    await host.event('spawned');
    await host.commit({
      commands: [spawnOf(1, '/bin/sh', '-c', 'echo first'), spawnOf(2, '/bin/sh', '-c', 'echo again')],
    });
    assert.equal((await host.event('exited')).id, 2);
    await host.event('rootsGone');
    await host.shell(3, 'echo third');
    await host.output.next((line) => line === 'third');
    assert.deepEqual(host.output.all, ['second', 'third']);
  });
}

function ending(kind: HostKind): void {
  test('an exit code is reported as it is', async (t) => {
    const host = await start(t, kind);
    for (const [index, code] of [0, 1, 7, 127, 143, 255].entries()) {
      await host.shell(index + 1, `exit ${code}`);
      const exited = await host.event('exited');
      assert.deepEqual([exited.code, exited.signal], [code, undefined]);
      assert.equal((await host.event('rootsGone')).id, index + 1);
    }
  });

  test('P04 a program that a signal ended is reported with that signal', async (t) => {
    const host = await start(t, kind);
    for (const [index, signal] of DEADLY.entries()) await dieOf(host, index + 1, signal);
  });

  test('P04 a program that a real-time signal ended is reported with that signal', async (t) => {
    const host = await start(t, kind);
    const isCode0 = declares(host, /^real-time signals are not received, and/);
    for (const [index, signal] of REAL_TIME.entries()) await dieOf(host, index + 1, signal, isCode0 ? 0 : undefined);
  });

  test('the host exits with the code of the command and ends the group that is left', async (t) => {
    const host = await start(t, kind);
    await host.shell(1, `trap "" TERM HUP INT; echo ready; ${FOR_EVER}`);
    await host.output.next((line) => line === 'ready');
    host.say({ type: 'commit', commit: { ack: undefined, memo: undefined, commands: [{ type: 'exit', code: 42 }] } });
    // Its output is closed only when nothing is left who could write to it.
    assert.deepEqual(await within('the host and its group end', host.ended), { code: 42, signal: null });
  });

  test('an exit comes after all else in its commit', async (t) => {
    const host = await start(t, kind);
    const path = host.scratch.path('live');
    await writeFile(path, 'something stale');
    const commands = [{ type: 'exit', code: 3 } as const, { type: 'listen', path } as const];
    host.say({ type: 'commit', commit: { ack: undefined, memo: undefined, commands } });
    assert.deepEqual(await within('the host ends', host.ended), { code: 3, signal: null });
    // To listen, the host removes the file. The socket itself may or may not be left.
    assert.equal(statSync(path, { throwIfNoEntry: false })?.isFile() ?? false, false);
  });
}

function groups(kind: HostKind): void {
  test('K11 with signalTo group a stop reaches the grandchildren', async (t) => {
    const host = await start(t, kind);
    const grandchild = `sh -c 'trap "echo grandchild ends; exit" TERM; echo ready; ${FOR_EVER}'`;
    const words = ['/bin/sh', '-c', `trap "wait; exit 9" TERM; ${grandchild} & wait`] as const;
    await host.commit({ commands: [{ ...spawnOf(1, ...words), to: 'group' }] });
    await host.event('spawned');
    await host.output.next((line) => line === 'ready');
    await host.commit({ commands: [stopOf(1, SIGTERM)] });
    await host.output.next((line) => line === 'grandchild ends');
    assert.equal((await host.event('exited')).code, 9);
    // A sleep that the grandchild began just then did not get the TERM.
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    await host.event('rootsGone');
  });

  test('a stopped program acts on TERM, because CONT follows', async (t) => {
    const host = await start(t, kind);
    const { pid } = await host.shell(1, `trap "exit 5" TERM; echo ready; ${FOR_EVER}`);
    await host.output.next((line) => line === 'ready');
    process.kill(pid, 'SIGSTOP');
    await waitFor('it is stopped', () => stateOf(pid) === 'T');
    await host.commit({ commands: [stopOf(1, SIGTERM)] });
    assert.equal((await host.event('exited')).code, 5);
  });

  test('the roots are gone only when the last grandchild is, and can be signalled until then', async (t) => {
    const host = await start(t, kind);
    const grandchild = `sh -c 'trap "echo left behind got HUP" HUP; trap exit TERM; echo ready; ${FOR_EVER}'`;
    // The shell ends when the grandchild has its traps: `exit` after reading from a pipe that it holds.
    await host.shell(
      1,
      `mkfifo "$SCRATCH/ready"; (${grandchild} | tee "$SCRATCH/ready") & read line < "$SCRATCH/ready"; exit 3`,
    );
    assert.equal((await host.event('exited')).code, 3);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGURG }] });
    process.kill(host.pid, 'SIGWINCH');
    // Events come in order: had they been reported gone, it would stand here.
    assert.equal((await host.event('signal')).signal, SIGWINCH);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    assert.equal((await host.event('rootsGone')).id, 1);
    // Nothing is left that could get this signal.
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    assert.equal((await host.shell(2, 'exit 0')).id, 2);
  });

  test('a grandchild of which only the first thread has ended is not gone', async (t) => {
    const host = await start(t, kind);
    await host.shell(
      1,
      `mkfifo "$SCRATCH/go"; ${build('init/headless.c')} & echo $!; read line < "$SCRATCH/go"; exit 3`,
    );
    const pid = Number(await host.output.next((line) => line !== 'headless'));
    await waitFor('its first thread has ended', () => stateOf(pid) === 'Z');
    await writeFile(host.scratch.path('go'), 'now\n');
    assert.equal((await host.event('exited')).code, 3);
    process.kill(host.pid, 'SIGWINCH');
    assert.equal((await host.event('signal')).signal, SIGWINCH);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    assert.equal((await host.event('rootsGone')).id, 1);
  });
}

/** It writes no core dump. `code`: what the host takes the death for, where it does not know the signal. */
async function dieOf(host: HostProcess, id: number, signal: number, code?: number): Promise<void> {
  const { pid } = await host.shell(id, `ulimit -c 0; echo ready ${id}; exec sleep 1000`);
  await host.output.next((line) => line === `ready ${id}`);
  process.kill(pid, signal);
  const exited = await host.event('exited');
  assert.deepEqual([exited.code, exited.signal], [code, code === undefined ? signal : undefined]);
  await host.event('rootsGone');
}
