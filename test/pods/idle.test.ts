/** A drain that waits for the application. No test asserts how long it takes, only what ends it. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { startContainer } from '../helpers/container.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';

function worker({ scratch }: Stage) {
  const busy = scratch.path('busy');
  writeFileSync(busy, '');
  const container = startContainer(scratch, {
    name: 'worker',
    flags: [
      '--name=worker',
      `--graveyard=${scratch.graveyard}`,
      '--grace-period=300s',
      '--drain=min=0,quiet=off,max=250s',
      `--idle-when=file:${busy},period=100ms,for=300ms`,
    ],
    command: ['sleep', '1000'],
  });
  const tells = (what: string, isSo: Parameters<typeof waitForTombstone>[3]) =>
    waitForTombstone(scratch.graveyard, 'worker', what, isSo);
  const drained = () => readTombstone(scratch.graveyard, 'worker')?.History?.find(({ Event }) => Event === 'drained');
  return { busy, container, tells, drained };
}

describe('a drain with --idle-when', { concurrency: 2 }, () => {
  scenario('a worker serves on while its busy file is there, and is stopped when it is gone', async (stage) => {
    const { busy, container, tells, drained } = worker(stage);
    await tells('runs', ({ Phase }) => Phase === 'running');
    await container.signal('SIGTERM');
    await tells('is busy', ({ Phase, Busy }) => Phase === 'draining' && Busy === 'the file is there');
    rmSync(busy);
    assert.equal((await container.exit()).status, 143);
    assert.deepEqual([drained()?.Why, drained()?.Busy], ['idle', 'idle']);
    assert.match(container.stderr(), /the drain is over: the application is idle/);
  });

  scenario('a second stop request stops a busy worker', async (stage) => {
    const { container, tells, drained } = worker(stage);
    await tells('runs', ({ Phase }) => Phase === 'running');
    await container.signal('SIGTERM');
    await tells('is busy', ({ Busy }) => Busy !== undefined);
    await container.signal('SIGINT');
    await container.exit();
    assert.deepEqual([drained()?.Why, drained()?.Busy], ['asked again', 'the file is there']);
  });
});
