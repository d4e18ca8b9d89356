import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { test } from 'node:test';
import { SIGHUP, SIGTERM } from '../../../src/core/signals.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { declares, FOR_EVER, type HostKind, HostProcess, start } from './host-process.ts';
import { orders } from './orders.ts';

const { SIGUSR1, SIGUSR2, SIGALRM } = constants.signals;
const RTMIN_3 = 37;

export function signalsContract(kind: HostKind): void {
  test('signals that the host gets are reported in order', async (t) => {
    const host = await start(t, kind);
    const sent = [SIGUSR1, SIGTERM, SIGHUP, SIGALRM, 2, 3, 28, 30];
    for (const signal of sent) {
      process.kill(host.pid, signal);
      const event = await host.event('signal');
      assert.equal(event.signal, signal);
      assert.equal(event.fromTerminal, false);
    }
  });

  test('the sender of a signal is reported', async (t) => {
    const host = await start(t, kind);
    const isUnknown = declares(host, /^the sender of a signal .*not known$/);
    process.kill(host.pid, 'SIGUSR2');
    assert.equal((await host.event('signal')).senderPid, isUnknown ? 0 : process.pid);
  });

  test('P02 a real-time signal is reported', async (t) => {
    const host = await start(t, kind);
    const isDeadly = declares(host, /^real-time signals are not received, and/);
    process.kill(host.pid, RTMIN_3);
    // Node has no name for what ended it.
    if (isDeadly) assert.deepEqual(await within('the host ends', host.ended), { code: 0, signal: null });
    else assert.equal((await host.event('signal')).signal, RTMIN_3);
  });

  test('a signal that comes before the first spawn is kept', async (t) => {
    const host = await start(t, kind);
    process.kill(host.pid, 'SIGTERM');
    const early = await host.event('signal');
    assert.equal(early.signal, SIGTERM);
    await host.nextSupervisor();
    assert.deepEqual(await host.event('signal'), early);
    await host.commit({ ack: early.seq });
    assert.ok((await host.shell(1, 'exit 0')).seq > early.seq);
  });

  test('A5 an unacknowledged stop request keeps a child from starting, and no other signal does', async (t) => {
    const host = await start(t, kind);
    const program = { fromIndex: 0, argv: ['true'] } as const;
    process.kill(host.pid, 'SIGUSR1');
    await host.event('signal');
    process.kill(host.pid, 'SIGTERM');
    const stop = await host.event('signal');
    await host.commit({ commands: [{ type: 'spawn', id: 1, to: 'tree', program }] });
    const { id, errno } = await host.event('spawnFailed');
    assert.deepEqual([id, errno], [1, 'ECANCELED']);
    // Its id is free, and a signal that is no stop request does not keep the child from starting.
    await host.commit({ ack: stop.seq });
    process.kill(host.pid, 'SIGHUP');
    await host.event('signal');
    await host.commit({ commands: [{ type: 'spawn', id: 1, to: 'tree', program }] });
    assert.equal((await host.event('spawned')).id, 1);
  });

  test('P03 a signal that comes before the supervisor is kept', async (t) => {
    // The host starts on its own, so what it cannot do has to be known before.
    if (declares(await start(t, kind), /^a signal before Node has started ends/)) {
      const held = await HostProcess.start(t, { name: 'ExecaHost', isHeld: true });
      process.kill(held.pid, 'SIGTERM');
      assert.deepEqual(await within('the host ends', held.ended), { code: null, signal: 'SIGTERM' });
      return;
    }
    const host = await HostProcess.start(t, kind);
    // Between exec and the first instruction, TERM ends any process that is not PID 1.
    await waitFor('it has run its first instruction', () => isBlocked(host.pid, SIGTERM));
    process.kill(host.pid, 'SIGTERM');
    await host.supervisor();
    assert.equal((await host.event('signal')).signal, SIGTERM);
  });

  test('a signal in the table is forwarded at once, as the table says, and recorded', async (t) => {
    const host = await start(t, kind);
    await host.commit({ commands: [orders({ when: 'each', table: { [SIGUSR1]: SIGUSR2, [SIGHUP]: SIGHUP } })] });
    // There is no group yet, so it is not lost but reported.
    process.kill(host.pid, 'SIGUSR1');
    assert.equal((await host.event('signal')).signal, SIGUSR1);
    await host.shell(
      1,
      `trap "echo got USR2" USR2; trap "echo got HUP" HUP; trap "echo got USR1" USR1; echo ready; ${FOR_EVER}`,
    );
    await host.output.next((line) => line === 'ready');
    process.kill(host.pid, 'SIGUSR1');
    const first = await host.event('ordered');
    assert.deepEqual([first.signal, first.as], [SIGUSR1, SIGUSR2]);
    await host.output.next((line) => line === 'got USR2');
    process.kill(host.pid, 'SIGHUP');
    assert.deepEqual((await host.event('ordered')).as, SIGHUP);
    await host.output.next((line) => line === 'got HUP');
    // What is not in the table is for the supervisor to decide.
    process.kill(host.pid, 'SIGTERM');
    assert.equal((await host.event('signal')).signal, SIGTERM);
    // Another table replaces the first.
    await host.commit({ commands: [orders({ when: 'each', table: { [SIGTERM]: SIGUSR1 } })] });
    process.kill(host.pid, 'SIGUSR1');
    assert.equal((await host.event('signal')).signal, SIGUSR1);
    process.kill(host.pid, 'SIGTERM');
    assert.equal((await host.event('ordered')).as, SIGUSR1);
    await host.output.next((line) => line === 'got USR1');
    assert.deepEqual(host.output.all, ['ready', 'got USR2', 'got HUP', 'got USR1']);
  });

  test('K13 the row `first` passes on and records one signal, and then `each` applies', async (t) => {
    const host = await start(t, kind);
    await host.shell(1, `trap "echo got USR1" USR1; trap "echo got USR2" USR2; echo ready; ${FOR_EVER}`);
    await host.output.next((line) => line === 'ready');
    const once = { when: 'first', table: { [SIGTERM]: SIGUSR1, [SIGHUP]: SIGUSR1 } } as const;
    await host.commit({ commands: [orders(once, { when: 'each', table: { [SIGHUP]: SIGUSR2 } })] });
    process.kill(host.pid, 'SIGTERM');
    const first = await host.event('ordered');
    assert.deepEqual([first.signal, first.as], [SIGTERM, SIGUSR1]);
    await host.output.next((line) => line === 'got USR1');
    process.kill(host.pid, 'SIGTERM');
    assert.equal((await host.event('signal')).signal, SIGTERM);
    process.kill(host.pid, 'SIGHUP');
    assert.equal((await host.event('ordered')).as, SIGUSR2);
    await host.output.next((line) => line === 'got USR2');
    // Orders without the row take it back.
    await host.commit({ commands: [orders(once), orders()] });
    process.kill(host.pid, 'SIGTERM');
    assert.equal((await host.event('signal')).signal, SIGTERM);
    assert.deepEqual(host.output.all, ['ready', 'got USR1', 'got USR2']);
  });
}

/** `SigBlk` of proc_pid_status(5). */
function isBlocked(pid: number, signal: number): boolean {
  const mask = /^SigBlk:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
