/** A supervisor that stands still while the container is to stop. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { AWAKE, type Container, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';

describe('a supervisor that stands still', { concurrency: atOnce(2) }, () => {
  scenario('A3 a hanging supervisor in a drain is replaced, and its command gets TERM in time', async (stage) => {
    const container = await stopIntoDrain(stage, ['--drain', '8s', '--grace-period', '60s']);
    assert.equal((await container.exit()).status, 0, container.stderr());
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [15]);
    assert.match(container.stderr(), /"ended":"hung".*the supervisor was started again/);
  });

  scenario('A3 a supervisor that hangs until the deadline delays neither TERM nor the exit', async (stage) => {
    const container = await stopIntoDrain(stage, ['--drain', '8s', '--grace-period', '10s']);
    assert.equal((await container.exit()).status, 0, container.stderr());
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [15]);
  });
});

async function stopIntoDrain(stage: Stage, flags: readonly string[]): Promise<Container> {
  const container = startContainer(stage.scratch, { flags: [...AWAKE, ...flags], command: member(stage, 'app') });
  await waitForEvent(stage.scratch.log, 'app', 'Started');
  const supervisor = await container.supervisor();
  await container.signal('SIGTERM');
  await waitFor('it drains', () => container.stderr().includes('draining'));
  assert.ok(send(supervisor, 'SIGSTOP'));
  return container;
}
