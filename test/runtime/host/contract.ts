/**
 * What every host keeps, driven from outside: the same cases run over sexton-init and over execa. A case that a host cannot
 * keep is skipped with the sentence of its `limits` that says so.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { SIGHUP, SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import { send, stateOf } from '../../helpers/process.ts';
import { waitFor, waitForFile, within } from '../../helpers/wait.ts';
import { type HostKind, Rig, spawnOf } from './rig.ts';

const SIGUSR1 = 10;
const SIGUSR2 = 12;
const SIGALRM = 14;
const RTMIN_3 = 37;
/** By default they end a process: signal(7). KILL is among them. */
const DEADLY = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 25, 26, 27, 29, 30, 31];
/** A shell that lives until it is ended, also by a signal that it traps. */
const FOR_EVER = 'while :; do sleep 1000 & wait $!; done';

export function hostContract(kind: HostKind): void {
  describe(kind.name, { concurrency: false }, () => {
    identity(kind);
    spawning(kind);
    ending(kind);
    groups(kind);
    signals(kind);
    commits(kind);
    liveness(kind);
  });
}

async function start(t: TestContext, kind: HostKind): Promise<Rig> {
  const rig = await Rig.start(t, kind);
  await rig.supervisor();
  return rig;
}

/** Whether the host says that it cannot; then the test is skipped for that reason. */
function cannot(t: TestContext, rig: Rig, what: RegExp): boolean {
  const limit = rig.limits.find((sentence) => what.test(sentence));
  if (limit !== undefined) t.skip(limit);
  return limit !== undefined;
}

function identity(kind: HostKind): void {
  test('the host says who it is and when it started', async (t) => {
    const before = Number(process.hrtime.bigint() / 1_000_000n);
    const rig = await Rig.start(t, kind);
    const hello = await rig.supervisor();
    assert.match(hello.hostId, /^[0-9a-f]{32}$/);
    assert.equal(hello.memo, undefined);
    assert.equal(hello.isPid1, false);
    assert.ok(hello.startedAt >= before - 1, `${hello.startedAt} is before ${before}`);
    assert.ok(hello.startedAt <= Number(process.hrtime.bigint() / 1_000_000n));
    const other = await Rig.start(t, kind);
    assert.notEqual((await other.supervisor()).hostId, hello.hostId);
  });
}

function spawning(kind: HostKind): void {
  test('a program that was spawned runs under the pid that was reported, as the leader of its group', async (t) => {
    const rig = await start(t, kind);
    const spawned = await rig.shell(1, 'echo $$; cat /proc/$$/stat');
    assert.equal(spawned.id, 1);
    assert.equal(await rig.output.next(() => true), String(spawned.pid));
    const stat = await rig.output.next(() => true);
    assert.equal(stat.split(') ')[1]?.split(' ')[2], String(spawned.pid));
    const exited = await rig.event('exited');
    assert.deepEqual([exited.id, exited.pid, exited.core], [1, spawned.pid, false]);
    assert.ok(exited.seq > spawned.seq && exited.at >= spawned.at);
  });

  test('the application gets the environment of the host, and nothing of the supervisor', async (t) => {
    const rig = await start(t, kind);
    await rig.shell(1, 'echo "$SCRATCH"; echo "<$SEXTON_INIT_FD>"');
    assert.equal(await rig.output.next(() => true), rig.scratch.dir);
    assert.equal(await rig.output.next(() => true), '<>');
  });

  test('P07 a program that is not there, not executable or no program at all is reported with its errno', async (t) => {
    const rig = await start(t, kind);
    const file = rig.scratch.path('not-executable');
    await writeFile(file, '#!/bin/sh\n');
    await chmod(file, 0o644);
    const wrong = [
      ['there-is-no-such-program', 'ENOENT'],
      [rig.scratch.path('no/such/file'), 'ENOENT'],
      ['', 'ENOENT'],
      [file, 'EACCES'],
      [rig.scratch.dir, 'EACCES'],
      [`${file}/below-a-file`, 'ENOTDIR'],
    ] as const;
    for (const [index, [program, errno]] of wrong.entries()) {
      await rig.commit({ commands: [spawnOf(index + 1, program)] });
      const failed = await rig.event('spawnFailed');
      assert.deepEqual([failed.id, failed.errno], [index + 1, errno], program);
    }
    assert.equal((await rig.shell(wrong.length + 1, 'exit 0')).id, wrong.length + 1);
  });

  test('a spawn of an id that was started already does nothing', async (t) => {
    const rig = await start(t, kind);
    await rig.commit({ commands: [spawnOf(2, '/bin/sh', '-c', 'echo second; read forever')] });
    await rig.event('spawned');
    await rig.commit({
      commands: [spawnOf(1, '/bin/sh', '-c', 'echo first'), spawnOf(2, '/bin/sh', '-c', 'echo again')],
    });
    assert.equal((await rig.event('exited')).id, 2);
    await rig.event('groupGone');
    await rig.shell(3, 'echo third');
    await rig.output.next((line) => line === 'third');
    assert.deepEqual(rig.output.all, ['second', 'third']);
  });
}

function ending(kind: HostKind): void {
  test('an exit code is reported as it is', async (t) => {
    const rig = await start(t, kind);
    for (const [index, code] of [0, 1, 7, 127, 143, 255].entries()) {
      await rig.shell(index + 1, `exit ${code}`);
      const exited = await rig.event('exited');
      assert.deepEqual([exited.code, exited.signal], [code, undefined]);
      assert.equal((await rig.event('groupGone')).id, index + 1);
    }
  });

  test('P04 a program that a signal ended is reported with that signal', async (t) => {
    const rig = await start(t, kind);
    for (const [index, signal] of DEADLY.entries()) await dieOf(rig, index + 1, signal);
  });

  test('P04 a program that a real-time signal ended is reported with that signal', async (t) => {
    const rig = await start(t, kind);
    if (cannot(t, rig, /real-time/i)) return;
    for (const [index, signal] of [34, RTMIN_3, 64].entries()) await dieOf(rig, index + 1, signal);
  });

  test('the host exits with the code it was told and ends the group that is left', async (t) => {
    const rig = await start(t, kind);
    await rig.shell(1, `trap "" TERM HUP INT; echo ready; ${FOR_EVER}`);
    await rig.output.next((line) => line === 'ready');
    rig.say({ type: 'commit', commit: { ack: undefined, memo: undefined, commands: [{ type: 'exit', code: 42 }] } });
    // Its output is closed only when nobody is left who could write to it.
    assert.deepEqual(await within('the host and its group end', rig.ended), { code: 42, signal: null });
  });

  test('an exit comes after all else in its commit', async (t) => {
    const rig = await start(t, kind);
    const marker = rig.scratch.path('socket');
    const commands = [{ type: 'exit', code: 3 } as const, { type: 'listen', path: marker } as const];
    rig.say({ type: 'commit', commit: { ack: undefined, memo: undefined, commands } });
    assert.deepEqual(await within('the host ends', rig.ended), { code: 3, signal: null });
  });
}

/** Core dumps are switched off, so that none is written. */
async function dieOf(rig: Rig, id: number, signal: number): Promise<void> {
  const { pid } = await rig.shell(id, `ulimit -c 0; echo ready ${id}; exec sleep 1000`);
  await rig.output.next((line) => line === `ready ${id}`);
  process.kill(pid, signal);
  const exited = await rig.event('exited');
  assert.deepEqual([exited.code, exited.signal], [undefined, signal]);
  await rig.event('groupGone');
}

function groups(kind: HostKind): void {
  test('K11 a signal reaches the grandchildren', async (t) => {
    const rig = await start(t, kind);
    const grandchild = `sh -c 'trap "echo grandchild ends; exit" TERM; echo ready; ${FOR_EVER}'`;
    await rig.shell(1, `trap "wait; exit 9" TERM; ${grandchild} & wait`);
    await rig.output.next((line) => line === 'ready');
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGTERM }] });
    await rig.output.next((line) => line === 'grandchild ends');
    assert.equal((await rig.event('exited')).code, 9);
    // A sleep that the grandchild began just then did not get the TERM.
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    await rig.event('groupGone');
  });

  test('a stopped program acts on TERM, because CONT follows', async (t) => {
    const rig = await start(t, kind);
    const { pid } = await rig.shell(1, `trap "exit 5" TERM; echo ready; ${FOR_EVER}`);
    await rig.output.next((line) => line === 'ready');
    process.kill(pid, 'SIGSTOP');
    await waitFor('it is stopped', () => stateOf(pid) === 'T');
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGTERM }] });
    assert.equal((await rig.event('exited')).code, 5);
  });

  test('the group is gone only when the last grandchild is, and can be signalled until then', async (t) => {
    const rig = await start(t, kind);
    const grandchild = `sh -c 'trap "echo left behind got HUP" HUP; trap exit TERM; echo ready; ${FOR_EVER}'`;
    // The shell ends when the grandchild has its traps: `exit` after reading from a pipe that it holds.
    await rig.shell(
      1,
      `mkfifo "$SCRATCH/ready"; (${grandchild} | tee "$SCRATCH/ready") & read line < "$SCRATCH/ready"; exit 3`,
    );
    assert.equal((await rig.event('exited')).code, 3);
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGUSR2 + 11 /* URG: does nothing */ }] });
    process.kill(rig.pid, 'SIGWINCH');
    // Events come in order: had the group been reported gone, it would stand here.
    assert.equal((await rig.event('signal')).signal, 28);
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    assert.equal((await rig.event('groupGone')).id, 1);
    // Nobody is there: nothing happens, to anybody.
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    assert.equal((await rig.shell(2, 'exit 0')).id, 2);
  });
}

function signals(kind: HostKind): void {
  test('signals that the host gets are reported in order', async (t) => {
    const rig = await start(t, kind);
    const sent = [SIGUSR1, SIGTERM, SIGHUP, SIGALRM, 2, 3, 28, 30];
    for (const signal of sent) {
      process.kill(rig.pid, signal);
      const event = await rig.event('signal');
      assert.equal(event.signal, signal);
      assert.equal(event.fromTerminal, false);
    }
  });

  test('the sender of a signal is reported', async (t) => {
    const rig = await start(t, kind);
    if (cannot(t, rig, /sender/)) return;
    process.kill(rig.pid, 'SIGUSR2');
    assert.equal((await rig.event('signal')).senderPid, process.pid);
  });

  test('P02 a real-time signal is reported', async (t) => {
    const rig = await start(t, kind);
    if (cannot(t, rig, /real-time/i)) return;
    process.kill(rig.pid, RTMIN_3);
    assert.equal((await rig.event('signal')).signal, RTMIN_3);
  });

  test('a signal that comes before the first spawn is kept', async (t) => {
    const rig = await start(t, kind);
    process.kill(rig.pid, 'SIGTERM');
    const early = await rig.event('signal');
    assert.equal(early.signal, SIGTERM);
    await rig.nextSupervisor();
    assert.deepEqual(await rig.event('signal'), early);
    assert.ok((await rig.shell(1, 'exit 0')).seq > early.seq);
  });

  test('P03 a signal that comes before the supervisor is kept', async (t) => {
    // The host starts on its own, so what it cannot do has to be known before.
    const known = await start(t, kind);
    if (cannot(t, known, /before Node has started/)) return;
    const rig = await Rig.start(t, kind);
    // Between exec and the first instruction, TERM ends any process that is not PID 1.
    await waitFor('it has run its first instruction', () => isBlocked(rig.pid, SIGTERM));
    process.kill(rig.pid, 'SIGTERM');
    await rig.supervisor();
    assert.equal((await rig.event('signal')).signal, SIGTERM);
  });

  test('a signal in the table is forwarded at once, as the table says, and recorded', async (t) => {
    const rig = await start(t, kind);
    await rig.commit({ commands: [{ type: 'forward', id: 1, table: { [SIGUSR1]: SIGUSR2, [SIGHUP]: SIGHUP } }] });
    // There is no group yet, so it is not lost but reported.
    process.kill(rig.pid, 'SIGUSR1');
    assert.equal((await rig.event('signal')).signal, SIGUSR1);
    await rig.shell(
      1,
      `trap "echo got USR2" USR2; trap "echo got HUP" HUP; trap "echo got USR1" USR1; echo ready; ${FOR_EVER}`,
    );
    await rig.output.next((line) => line === 'ready');
    process.kill(rig.pid, 'SIGUSR1');
    const first = await rig.event('forwarded');
    assert.deepEqual([first.signal, first.as], [SIGUSR1, SIGUSR2]);
    await rig.output.next((line) => line === 'got USR2');
    process.kill(rig.pid, 'SIGHUP');
    assert.deepEqual((await rig.event('forwarded')).as, SIGHUP);
    await rig.output.next((line) => line === 'got HUP');
    // What is not in the table is for the supervisor to decide.
    process.kill(rig.pid, 'SIGTERM');
    assert.equal((await rig.event('signal')).signal, SIGTERM);
    // Another table replaces the first.
    await rig.commit({ commands: [{ type: 'forward', id: 1, table: { [SIGTERM]: SIGUSR1 } }] });
    process.kill(rig.pid, 'SIGUSR1');
    assert.equal((await rig.event('signal')).signal, SIGUSR1);
    process.kill(rig.pid, 'SIGTERM');
    assert.equal((await rig.event('forwarded')).as, SIGUSR1);
    await rig.output.next((line) => line === 'got USR1');
    assert.deepEqual(rig.output.all, ['ready', 'got USR2', 'got HUP', 'got USR1']);
  });
}

/** `SigBlk` of proc_pid_status(5). */
function isBlocked(pid: number, signal: number): boolean {
  const mask = /^SigBlk:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

function commits(kind: HostKind): void {
  test('what was not acknowledged comes again, and what was does not', async (t) => {
    const rig = await start(t, kind);
    const spawned = await rig.shell(1, 'exit 4');
    const exited = await rig.event('exited');
    const gone = await rig.event('groupGone');
    await rig.nextSupervisor();
    assert.deepEqual(await rig.event('spawned'), spawned);
    assert.deepEqual(await rig.event('exited'), exited);
    await rig.commit({ ack: exited.seq });
    await rig.nextSupervisor();
    assert.deepEqual(await rig.event('groupGone'), gone);
    await rig.commit({ ack: gone.seq });
    const hello = await rig.nextSupervisor();
    const later = await rig.shell(2, 'exit 0');
    assert.equal(later.seq, gone.seq + 1);
    assert.match(hello.hostId, /^[0-9a-f]{32}$/);
  });

  test('the memo is handed to the next supervisor', async (t) => {
    const rig = await Rig.start(t, kind);
    const first = await rig.supervisor();
    const memo = JSON.stringify({ text: 'Übergabe €\n', long: 'x'.repeat(60_000) });
    await rig.commit({ memo });
    const second = await rig.nextSupervisor();
    assert.equal(second.memo, memo);
    assert.equal(second.hostId, first.hostId);
    assert.equal(second.startedAt, first.startedAt);
    // Left alone by a commit without one, and an empty one is one.
    await rig.commit({ ack: 0 });
    assert.equal((await rig.nextSupervisor()).memo, memo);
    await rig.commit({ memo: '' });
    assert.equal((await rig.nextSupervisor()).memo, '');
  });

  test('a commit with one wrong part is not applied at all', async (t) => {
    const rig = await start(t, kind);
    await rig.commit({ memo: 'before' });
    const spawned = await rig.shell(1, `echo ready; ${FOR_EVER}`);
    const bad = { type: 'kill', id: 1, signal: 65 } as const;
    const error = await rig.order({
      type: 'commit',
      commit: { ack: spawned.seq, memo: 'after', commands: [{ type: 'kill', id: 1, signal: SIGKILL }, bad] },
    });
    assert.match(error ?? 'no error', /cannot send signal 65/);
    const hello = await rig.nextSupervisor();
    assert.equal(hello.memo, 'before');
    assert.deepEqual(await rig.event('spawned'), spawned);
    process.kill(rig.pid, 'SIGUSR1');
    // Not `exited`: it was not killed.
    assert.equal((await rig.event('signal')).signal, SIGUSR1);
  });

  test('an acknowledgement of what has not happened refuses the commit', async (t) => {
    const rig = await start(t, kind);
    const spawned = await rig.shell(1, `echo ready; ${FOR_EVER}`);
    await rig.commit({ memo: 'before' });
    const commit = {
      ack: spawned.seq + 5,
      memo: 'after',
      commands: [{ type: 'kill', id: 1, signal: SIGKILL } as const],
    };
    rig.say({ type: 'commit', commit });
    const hello = await rig.nextSupervisor();
    assert.equal(hello.memo, 'before');
    assert.deepEqual(await rig.event('spawned'), spawned);
    process.kill(rig.pid, 'SIGUSR1');
    assert.equal((await rig.event('signal')).signal, SIGUSR1);
  });

  test('P12 the application does not notice that the supervisor is killed', async (t) => {
    const rig = await start(t, kind);
    if (cannot(t, rig, /supervisor crashes/)) return;
    const { pid } = await rig.shell(1, `trap "echo got HUP" HUP; trap "exit 6" TERM; echo ready; ${FOR_EVER}`);
    await rig.output.next((line) => line === 'ready');
    await rig.nextSupervisor();
    assert.equal((await rig.event('spawned')).pid, pid);
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGTERM }] });
    assert.equal((await rig.event('exited')).code, 6);
    assert.deepEqual(rig.output.all, ['ready']);
  });
}

function liveness(kind: HostKind): void {
  test('a peer holds a connection until the host is gone', async (t) => {
    const rig = await start(t, kind);
    const path = rig.scratch.path('live');
    await writeFile(path, 'something stale');
    const peer = await listenAndConnect(rig, path);
    assert.equal((await stat(path)).mode & 0o777, 0o666);
    const closed = closing(peer);
    process.kill(rig.pid, 'SIGKILL');
    await within('the connection is closed', closed);
    await rig.ended;
  });

  test('another path replaces the first, and the connections stay', async (t) => {
    const rig = await start(t, kind);
    const [first, second] = [rig.scratch.path('live-1'), rig.scratch.path('live-2')];
    const peer = await listenAndConnect(rig, first);
    let isClosed = false;
    const closed = closing(peer).then(() => {
      isClosed = true;
    });
    const later = await listenAndConnect(rig, second);
    const refused = connect(first);
    await once(refused, 'error');
    // The same path again, as every supervisor that comes back says it.
    const again = await listenAndConnect(rig, second);
    assert.equal(isClosed, false);
    send(rig.pid, 'SIGKILL');
    await within('all are closed', Promise.all([closed, closing(later), closing(again)]));
    await rig.ended;
  });

  test('a path where nothing can be bound does no harm', async (t) => {
    const rig = await start(t, kind);
    await rig.commit({ commands: [{ type: 'listen', path: rig.scratch.path('no/such/directory/live') }] });
    assert.equal((await rig.shell(1, 'exit 0')).id, 1);
  });
}

/** Also by a reset, which is what a connection gets that the host had no time to accept. */
function closing(peer: Socket): Promise<void> {
  return new Promise((resolve) => peer.once('close', () => resolve()));
}

async function listenAndConnect(rig: Rig, path: string): Promise<Socket> {
  await rig.commit({ commands: [{ type: 'listen', path }] });
  await waitForFile(path);
  // The file is there a moment before somebody listens, and a stale one even longer.
  return waitFor('the host listens', async () => {
    const socket = connect(path);
    socket.on('error', () => {});
    try {
      await once(socket, 'connect');
    } catch {
      return undefined;
    }
    socket.resume();
    return socket;
  });
}
