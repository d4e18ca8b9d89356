/** The contract of a host: who it says it is, what it keeps for the next supervisor, and that a commit is one whole. */
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import { SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import { MAX_MEMO_BYTES } from '../../../src/runtime/host/frames.ts';
import { cannot, FOR_EVER, type HostKind, Rig, start } from './rig.ts';

const { SIGUSR1 } = constants.signals;

export function commitsContract(kind: HostKind): void {
  identity(kind);
  commits(kind);
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

  test('a supervisor hears all that was queued before anything else can begin', async (t) => {
    const rig = await start(t, kind);
    assert.equal(await rig.heardAtOnce(), 0);
    const memo = 'x'.repeat(MAX_MEMO_BYTES);
    await rig.commit({ memo });
    for (let id = 1; id <= 40; id++) {
      await rig.shell(id, 'exit 0');
      await rig.event('exited');
      await rig.event('groupGone');
    }
    assert.equal((await rig.nextSupervisor()).memo, memo);
    assert.equal(await rig.heardAtOnce(), 120);
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
