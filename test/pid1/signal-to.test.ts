/** A7: a parent that passes signals on to its worker, as npm, foreman and celery do. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { NODE } from '../helpers/paths.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { waitForDeath, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';

/** Ends its work after a TERM, and gives up at a second one. */
const WORKER = `
  let terms = 0;
  process.on('SIGTERM', () => {
    terms += 1;
    if (terms > 1) process.exit(9);
    setTimeout(() => process.exit(0), 2_000);
  });
  setInterval(() => {}, 1000);
  process.send('up');
`;

/** Passes TERM on, when the worker has had time for one of its own, and ends with its worker's code. */
const PARENT = `
  const worker = require('node:child_process').fork(process.env.WORKER);
  process.on('SIGTERM', () => setTimeout(() => worker.kill('SIGTERM'), 200));
  worker.on('message', () => console.log('up'));
  worker.on('exit', (code) => process.exit(code));
`;

describe('a parent that passes signals on', { concurrency: atOnce(2) }, () => {
  for (const [to, status] of [
    ['group', 9],
    ['first', 0],
  ] as const) {
    scenario(
      `A7 --signal-to ${to} brings TERM to its worker ${to === 'first' ? 'once' : 'twice'}`,
      async (stage) => {
        const container = startParent(stage, ['--signal-to', to]);
        await waitFor('the worker is up', () => container.stdout().includes('up'));
        await container.signal('SIGTERM');
        assert.equal((await container.exit()).status, status);
      },
      { notInPodman: 'its image has no Node for the parent' },
    );
  }

  scenario('A7 with --signal-to first the ladder is for the first process and KILL for the group', async (stage) => {
    const { scratch } = stage;
    const command = [
      'sh',
      '-c',
      'trap "" TERM INT; sh -c "trap \\"echo worker\\" TERM INT; echo up; while :; do sleep 0.01; done" & while :; do wait; done',
    ];
    const flags = [
      '--name',
      'app',
      '--graveyard',
      scratch.graveyard,
      '--signal-to',
      'first',
      '--stop',
      'TERM:100ms,INT:100ms,KILL',
    ];
    const container = startContainer(scratch, { flags, command });
    await waitFor('the worker is up', () => container.stdout().includes('up'));
    await waitForTombstone(scratch.graveyard, 'app', 'runs', ({ Phase }) => Phase === 'running');
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 137);
    assert.equal(container.stdout(), 'up\n', 'the worker saw no rung');
    const { History = [] } = await waitForDeath(scratch.graveyard, 'app');
    assert.match(JSON.stringify(History), /SIGTERM.*SIGINT.*SIGKILL/);
  });
});

function startParent(stage: Stage, flags: readonly string[]): Container {
  const { scratch } = stage;
  const [parent, worker] = [scratch.path('parent.cjs'), scratch.path('worker.cjs')];
  writeFileSync(parent, PARENT);
  writeFileSync(worker, WORKER);
  return startContainer(scratch, { flags, command: [NODE, parent], env: { WORKER: worker }, sees: [NODE] });
}
