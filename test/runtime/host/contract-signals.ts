/** The contract of a host: the signals that it gets itself. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { test } from 'node:test';
import { SIGHUP, SIGTERM } from '../../../src/core/signals.ts';
import { waitFor } from '../../helpers/wait.ts';
import { cannot, FOR_EVER, type HostKind, Rig, start } from './rig.ts';

const { SIGUSR1, SIGUSR2, SIGALRM } = constants.signals;
const RTMIN_3 = 37;

export function signalsContract(kind: HostKind): void {
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
    await rig.commit({ ack: early.seq });
    assert.ok((await rig.shell(1, 'exit 0')).seq > early.seq);
  });

  test('A5 a stop request that is not acknowledged keeps a child from starting, and another signal does not', async (t) => {
    const rig = await start(t, kind);
    const program = { fromIndex: 0, argv: ['true'] } as const;
    process.kill(rig.pid, 'SIGUSR1');
    await rig.event('signal');
    process.kill(rig.pid, 'SIGTERM');
    const stop = await rig.event('signal');
    await rig.commit({ commands: [{ type: 'spawn', id: 1, program }] });
    const { id, errno } = await rig.event('spawnFailed');
    assert.deepEqual([id, errno], [1, 'ECANCELED']);
    // Its id is free; and what is no stop request, by the word of the supervisor, keeps nobody.
    await rig.commit({ ack: stop.seq });
    process.kill(rig.pid, 'SIGHUP');
    await rig.event('signal');
    await rig.commit({ commands: [{ type: 'spawn', id: 1, program }] });
    assert.equal((await rig.event('spawned')).id, 1);
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

  test('K13 of the signals in `once` the first is forwarded and recorded; then they are out of it, and the table counts', async (t) => {
    const rig = await start(t, kind);
    await rig.shell(1, `trap "echo got USR1" USR1; trap "echo got USR2" USR2; echo ready; ${FOR_EVER}`);
    await rig.output.next((line) => line === 'ready');
    const once = { type: 'once', id: 1, table: { [SIGTERM]: SIGUSR1, [SIGHUP]: SIGUSR1 } } as const;
    await rig.commit({ commands: [once, { type: 'forward', id: 1, table: { [SIGHUP]: SIGUSR2 } }] });
    process.kill(rig.pid, 'SIGTERM');
    const first = await rig.event('forwarded');
    assert.deepEqual([first.signal, first.as], [SIGTERM, SIGUSR1]);
    await rig.output.next((line) => line === 'got USR1');
    process.kill(rig.pid, 'SIGTERM');
    assert.equal((await rig.event('signal')).signal, SIGTERM);
    process.kill(rig.pid, 'SIGHUP');
    assert.equal((await rig.event('forwarded')).as, SIGUSR2);
    await rig.output.next((line) => line === 'got USR2');
    // An empty table takes it back.
    await rig.commit({ commands: [once, { type: 'once', id: 1, table: {} }] });
    process.kill(rig.pid, 'SIGTERM');
    assert.equal((await rig.event('signal')).signal, SIGTERM);
    assert.deepEqual(rig.output.all, ['ready', 'got USR1', 'got USR2']);
  });
}

/** `SigBlk` of proc_pid_status(5). */
function isBlocked(pid: number, signal: number): boolean {
  const mask = /^SigBlk:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
