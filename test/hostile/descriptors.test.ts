/** Neighbors that send descriptors whose close sleeps for an hour, to a member that runs as PID 1 of its container. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { withLingering } from '../helpers/lingering.ts';
import { childrenOf, send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { graveyardOf } from './pair.ts';
import { alive } from './sockets.ts';

describe('a descriptor in flight', () => {
  for (const sleepAfter of ['never', '100ms']) {
    scenario(`K17 from a neighbor that connects disturbs no stop, with --sleep-after ${sleepAfter}`, async (stage) => {
      const dir = graveyardOf(stage, 'pod');
      const work = await startWork(stage, dir, sleepAfter);
      if (sleepAfter !== 'never') await waitFor('it sleeps', async () => childrenOf(await work.pid1()).length === 1);
      await withLingering(['connect', join(dir, '.work.sock'), '1', '1'], async (peer) => {
        await peer.says('connected');
        peer.goOn();
        await peer.says('sent');
        peer.goOn();
        await peer.says('closed');
        await stops(work, dir);
      });
    });
  }

  scenario('K17 from the socket of a peer hangs no supervisor, and disturbs no stop', async (stage) => {
    const dir = graveyardOf(stage, 'pod');
    await withLingering(['serve', join(dir, '.rogue.sock'), '1', '1'], async (peer) => {
      await peer.says('listening');
      alive(dir, 'rogue');
      const work = await startWork(stage, dir, 'never');
      const supervisor = await work.supervisor();
      await waitFor('it is connected', () => /"peer":"rogue".*: held/.test(work.stderr()));
      // The reader of the message must hold the last copy of the descriptor.
      send(supervisor, 'SIGSTOP');
      peer.goOn();
      await peer.says('sent');
      send(supervisor, 'SIGCONT');
      // A member that comes later is seen by a supervisor that is there.
      const late = createServer((socket) => socket.unref())
        .listen(join(dir, '.late.sock'))
        .unref();
      await once(late, 'listening');
      alive(dir, 'late');
      await waitFor('it sees another member', () => /"peer":"late".*: held/.test(work.stderr()));
      assert.equal(await work.supervisor(), supervisor);
      await stops(work, dir);
    });
  });

  scenario('K17 at NOTIFY_SOCKET disturbs no stop', async (stage) => {
    const dir = graveyardOf(stage, 'pod');
    const work = await startWork(stage, dir, 'never', ['--notify', 'all']);
    const name = await waitFor('the command has the variable', () => /@(sexton\/[0-9a-f]+)/.exec(work.stdout())?.[1]);
    await withLingering(['notify', name, '1', '1'], async (peer) => {
      await work.signal('SIGSTOP');
      peer.goOn();
      await peer.says('sent');
      await work.signal('SIGCONT');
      await stops(work, dir);
    });
  });
});

async function startWork(stage: Stage, dir: string, sleepAfter: string, more: readonly string[] = []) {
  const flags = ['--name', 'work', '--graveyard', dir, '--restart-policy', 'Never', '--sleep-after', sleepAfter];
  const work = startContainer(stage.scratch, {
    name: 'work',
    flags: [...flags, '--grace-period', '20s', '--log-level', 'debug', '--log-format', 'json', ...more],
    command: ['sh', '-c', `trap 'exit 7' TERM; echo "$NOTIFY_SOCKET"; while :; do sleep 0.05; done`],
  });
  await waitFor('the command runs', () => work.stdout().includes('\n'));
  await waitFor('it has its socket', () => existsSync(join(dir, '.work.sock')));
  return work;
}

/** The command ends by its TERM, and init or a supervisor records the stop. */
async function stops(work: Container, dir: string): Promise<void> {
  await work.signal('SIGTERM');
  assert.equal((await work.exit()).status, 7);
  assert.deepEqual([readTombstone(dir, 'work')?.ExitCode, readTombstone(dir, 'work')?.Reason], [7, 'stopped']);
}
