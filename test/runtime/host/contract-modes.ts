/** The contract of a host: strays, one process in place of its group, the death of the parent, and what is said of orphans. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SIGKILL, SIGTERM } from '../../../src/core/signals.ts';
import { hasEnded } from '../../helpers/process.ts';
import { waitFor } from '../../helpers/wait.ts';
import { cannot, FOR_EVER, type HostKind, start } from './rig.ts';

const SIGUSR1 = 10;

export function modesContract(kind: HostKind): void {
  test('a sweep where there is no stray is over at once', async (t) => {
    const rig = await start(t, kind);
    await rig.commit({ commands: [{ type: 'sweep', signal: SIGTERM }] });
    await rig.event('straysGone');
    await rig.shell(1, FOR_EVER);
    await rig.commit({ commands: [{ type: 'sweep', signal: SIGKILL }] });
    await rig.event('straysGone');
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGTERM }] });
    assert.equal((await rig.event('exited')).signal, SIGTERM);
  });

  test('the strays of an application are counted, and swept', async (t) => {
    const rig = await start(t, kind);
    if (cannot(t, rig, /orphans/)) return;
    const pids = ['a', 'b'].map((name) => rig.scratch.path(name));
    const stray = (path: string): string => `setsid sh -c 'echo $$ >${path}; exec sleep 1000' &`;
    const ready = pids.map((path) => `while [ ! -s ${path} ]; do :; done;`).join('');
    await rig.shell(1, `${pids.map(stray).join(' ')} ${ready}`);
    await rig.event('exited');
    assert.equal((await rig.event('groupGone')).strays, 2);
    await rig.commit({ commands: [{ type: 'sweep', signal: SIGTERM }] });
    await rig.event('straysGone');
    for (const path of pids) assert.ok(hasEnded(Number(readFileSync(path, 'utf8'))));
  });

  test('C04 with single a signal reaches the first process only while it lives, then the group', async (t) => {
    const rig = await start(t, kind);
    const traps = 'trap "echo second got TERM" TERM; trap "echo second got USR1" USR1';
    const second = `sh -c '${traps}; touch "$SCRATCH/up"; ${FOR_EVER}' &`;
    const first = 'trap "echo first got TERM" TERM; trap "exit 3" USR1; while [ ! -e "$SCRATCH/up" ]; do :; done';
    await rig.commit({
      commands: [
        { type: 'single', id: 1 },
        { type: 'forward', id: 1, table: { [SIGUSR1]: SIGTERM } },
      ],
    });
    await rig.shell(1, `${second} ${first}; echo ready; ${FOR_EVER}`);
    await rig.output.next((line) => line === 'ready');
    process.kill(rig.pid, SIGUSR1);
    await rig.event('forwarded');
    await rig.output.next((line) => line === 'first got TERM');
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGUSR1 }] });
    assert.equal((await rig.event('exited')).code, 3);
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGUSR1 }] });
    await rig.output.next((line) => line === 'second got USR1');
    assert.deepEqual(rig.output.all, ['ready', 'first got TERM', 'second got USR1']);
    await rig.commit({ commands: [{ type: 'kill', id: 1, signal: SIGKILL }] });
    await rig.event('groupGone');
  });

  test('C03 the host says which orphans it reaps, once it was told to', async (t) => {
    const rig = await start(t, kind);
    if (cannot(t, rig, /orphans/)) return;
    const pids: number[] = [];
    for (const id of [1, 2]) {
      await rig.shell(id, 'sleep 1000 & echo $!');
      pids.push(Number(await rig.output.next(() => true)));
      await rig.event('exited');
      await rig.commit({ commands: [{ type: 'kill', id, signal: SIGKILL }] });
      await rig.event('groupGone');
      if (id === 1) await rig.commit({ commands: [{ type: 'tellReaped' }] });
    }
    await waitFor('it says so', () => rig.errors.length > 0);
    assert.deepEqual(rig.errors, [`sexton: reaped an orphan, pid ${pids[1]}`]);
  });
}
