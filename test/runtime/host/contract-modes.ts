/**
 * The contract of a host: strays, one process in place of its group, the death of the parent, and what is said of
 * orphans.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import { hasEnded } from '../../helpers/process.ts';
import { waitFor } from '../../helpers/wait.ts';
import { declares, FOR_EVER, type HostKind, start } from './host-process.ts';

const SIGUSR1 = 10;

export function modesContract(kind: HostKind): void {
  test('a sweep where there is no stray is over at once', async (t) => {
    const host = await start(t, kind);
    await host.commit({ commands: [{ type: 'sweep', signal: SIGTERM }] });
    await host.event('straysGone');
    await host.shell(1, FOR_EVER);
    await host.commit({ commands: [{ type: 'sweep', signal: SIGKILL }] });
    await host.event('straysGone');
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGTERM }] });
    assert.equal((await host.event('exited')).signal, SIGTERM);
  });

  test('the strays of an application are counted, and swept', async (t) => {
    const host = await start(t, kind);
    const isBlind = declares(host, /^orphans are not reaped, counted or swept$/);
    const pids = ['a', 'b'].map((name) => host.scratch.path(name));
    const stray = (path: string): string => `setsid sh -c 'echo $$ >${path}; exec sleep 1000' &`;
    const ready = pids.map((path) => `while [ ! -s ${path} ]; do :; done;`).join('');
    await host.shell(1, `${pids.map(stray).join(' ')} ${ready}`);
    await host.event('exited');
    assert.equal((await host.event('groupGone')).strays, isBlind ? 0 : 2);
    await host.commit({ commands: [{ type: 'sweep', signal: SIGTERM }] });
    await host.event('straysGone');
    for (const path of pids) {
      const pid = Number(readFileSync(path, 'utf8'));
      assert.equal(hasEnded(pid), !isBlind);
      if (isBlind) process.kill(pid, 'SIGKILL');
    }
  });

  test('C04 with firstOnly a signal reaches the first process only while it lives, then the group', async (t) => {
    const host = await start(t, kind);
    const traps = 'trap "echo second got TERM" TERM; trap "echo second got USR1" USR1';
    const second = `sh -c '${traps}; touch "$SCRATCH/up"; ${FOR_EVER}' &`;
    const first = 'trap "echo first got TERM" TERM; trap "exit 3" USR1; while [ ! -e "$SCRATCH/up" ]; do :; done';
    await host.commit({
      commands: [
        { type: 'firstOnly', id: 1 },
        { type: 'forward', id: 1, table: { [SIGUSR1]: SIGTERM } },
      ],
    });
    await host.shell(1, `${second} ${first}; echo ready; ${FOR_EVER}`);
    await host.output.next((line) => line === 'ready');
    process.kill(host.pid, SIGUSR1);
    await host.event('forwarded');
    await host.output.next((line) => line === 'first got TERM');
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGUSR1 }] });
    assert.equal((await host.event('exited')).code, 3);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGUSR1 }] });
    await host.output.next((line) => line === 'second got USR1');
    assert.deepEqual(host.output.all, ['ready', 'first got TERM', 'second got USR1']);
    await host.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    await host.event('groupGone');
  });

  test('C03 the host says which orphans it reaps, once it was told to', async (t) => {
    const host = await start(t, kind);
    const isBlind = declares(host, /^orphans are not reaped, counted or swept$/);
    const pids: number[] = [];
    for (const id of [1, 2]) {
      await host.shell(id, 'sleep 1000 & echo $!');
      pids.push(Number(await host.output.next(() => true)));
      await host.event('exited');
      await host.commit({ commands: [{ type: 'kill', id, signal: SIGKILL }] });
      await host.event('groupGone');
      if (id === 1) await host.commit({ commands: [{ type: 'tellReaped' }] });
    }
    if (!isBlind) await waitFor('it says so', () => host.errors.length > 0);
    assert.deepEqual(host.errors, isBlind ? [] : [`sexton: reaped an orphan, pid ${pids[1]}`]);
  });
}
