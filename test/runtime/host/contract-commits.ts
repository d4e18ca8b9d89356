/** The contract of a host: who it says it is, what it keeps for the next supervisor, and that a commit is one whole. */
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import { SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import { MAX_MEMO_BYTES } from '../../../src/runtime/host/frames.ts';
import { hasEnded } from '../../helpers/process.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { declares, FOR_EVER, type HostKind, HostProcess, start } from './host-process.ts';

const { SIGUSR1 } = constants.signals;

export function commitsContract(kind: HostKind): void {
  identity(kind);
  commits(kind);
}

function identity(kind: HostKind): void {
  test('the host says who it is and when it started', async (t) => {
    const before = Number(process.hrtime.bigint() / 1_000_000n);
    const host = await HostProcess.start(t, kind);
    const hello = await host.supervisor();
    assert.match(hello.hostId, /^[0-9a-f]{32}$/);
    assert.equal(hello.memo, undefined);
    assert.equal(hello.isPid1, false);
    assert.ok(hello.startedAt >= before - 1, `${hello.startedAt} is before ${before}`);
    assert.ok(hello.startedAt <= Number(process.hrtime.bigint() / 1_000_000n));
    const other = await HostProcess.start(t, kind);
    assert.notEqual((await other.supervisor()).hostId, hello.hostId);
  });
}

function commits(kind: HostKind): void {
  test('what was not acknowledged comes again, and what was does not', async (t) => {
    const host = await start(t, kind);
    const spawned = await host.shell(1, 'exit 4');
    const exited = await host.event('exited');
    const gone = await host.event('rootsGone');
    await host.nextSupervisor();
    assert.deepEqual(await host.event('spawned'), spawned);
    assert.deepEqual(await host.event('exited'), exited);
    await host.commit({ ack: exited.seq });
    await host.nextSupervisor();
    assert.deepEqual(await host.event('rootsGone'), gone);
    await host.commit({ ack: gone.seq });
    const hello = await host.nextSupervisor();
    assert.equal((await host.shell(2, 'exit 0')).seq, gone.seq + 1);
    assert.match(hello.hostId, /^[0-9a-f]{32}$/);
  });

  test('a supervisor hears all that was queued before anything else can begin', async (t) => {
    const host = await start(t, kind);
    assert.equal(await host.heardAtOnce(), 0);
    const memo = 'x'.repeat(MAX_MEMO_BYTES);
    await host.commit({ memo });
    for (let id = 1; id <= 40; id++) {
      await host.shell(id, 'exit 0');
      await host.event('exited');
      await host.event('rootsGone');
    }
    assert.equal((await host.nextSupervisor()).memo, memo);
    assert.equal(await host.heardAtOnce(), 120);
  });

  test('the memo is handed to the next supervisor', async (t) => {
    const host = await HostProcess.start(t, kind);
    const first = await host.supervisor();
    const memo = JSON.stringify({ text: 'Übergabe €\n', long: 'x'.repeat(60_000) });
    await host.commit({ memo });
    const second = await host.nextSupervisor();
    assert.equal(second.memo, memo);
    assert.equal(second.hostId, first.hostId);
    assert.equal(second.startedAt, first.startedAt);
    // A commit without a memo keeps the old one. Another one replaces it.
    await host.commit({ ack: 0 });
    assert.equal((await host.nextSupervisor()).memo, memo);
    await host.commit({ memo: '{}' });
    assert.equal((await host.nextSupervisor()).memo, '{}');
  });

  for (const [title, wrong] of [
    ['a commit with one wrong part is not applied at all', { signal: 65, ackMore: 0 }],
    ['an acknowledgement of what has not happened refuses the commit', { signal: SIGKILL, ackMore: 5 }],
  ] as const)
    test(title, async (t) => {
      const host = await start(t, kind);
      await host.commit({ memo: 'before' });
      const spawned = await host.shell(1, `echo ready; ${FOR_EVER}`);
      const commands = [SIGKILL, wrong.signal].map((signal) => ({ type: 'kill', id: 1, signal }) as const);
      const commit = { ack: spawned.seq + wrong.ackMore, memo: 'after', commands };
      // What this process itself refuses it says; what init refuses ends the connection.
      if (wrong.signal === SIGKILL) host.say({ type: 'commit', commit });
      else assert.match((await host.order({ type: 'commit', commit })) ?? 'no error', /cannot send signal 65/);
      assert.equal((await host.nextSupervisor()).memo, 'before');
      assert.deepEqual(await host.event('spawned'), spawned);
      process.kill(host.pid, 'SIGUSR1');
      // Not `exited`: it was not killed.
      assert.equal((await host.event('signal')).signal, SIGUSR1);
    });

  test('P12 the application does not notice that the supervisor is killed', async (t) => {
    const host = await start(t, kind);
    const isAlone = declares(host, /if it is killed the application runs on alone$/);
    const { pid } = await host.shell(1, `trap "echo got HUP" HUP; trap "exit 6" TERM; echo ready; ${FOR_EVER}`);
    await host.output.next((line) => line === 'ready');
    if (isAlone) {
      process.kill(host.supervisorPid, 'SIGKILL');
      await waitFor('the supervisor has ended', () => hasEnded(host.supervisorPid));
      assert.equal(hasEnded(pid), false);
      process.kill(-pid, 'SIGKILL');
      await within('the output is closed', host.ended);
      assert.deepEqual(host.output.all, ['ready']);
      return;
    }
    await host.nextSupervisor();
    assert.equal((await host.event('spawned')).pid, pid);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGTERM }] });
    assert.equal((await host.event('exited')).code, 6);
    assert.deepEqual(host.output.all, ['ready']);
  });
}
