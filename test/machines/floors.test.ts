/** The limit of open files under which a member keeps its promise. Node and the loader take most of them. */
import assert from 'node:assert/strict';
import { startContainer } from '../helpers/container.ts';
import { member } from '../helpers/member.ts';
import { scenario } from '../helpers/scenario.ts';
import { waitForEvent } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';

const FLOOR = 26;
const TOO_FEW = 16;

scenario(`a member with a limit of ${FLOOR} open files sleeps and drains`, async (stage) => {
  const { scratch } = stage;
  const container = startLimited(stage, FLOOR);
  await waitForEvent(scratch.log, 'app', 'Started');
  await waitFor('it is asleep', () => container.stderr().includes('asleep until something happens'));
  await container.signal('SIGTERM');
  assert.equal((await container.exit()).status, 0);
  assert.match(container.stderr(), /"message":"draining: the command is still serving"/);
});

scenario(`a member with a limit of ${TOO_FEW} open files says that it cannot start`, async (stage) => {
  const container = startLimited(stage, TOO_FEW);
  assert.equal((await container.exit()).status, 125);
  assert.match(container.stderr(), /cannot start the supervisor: it dies again and again \(.*\); nothing was started/);
});

function startLimited(stage: Parameters<typeof member>[0], files: number) {
  const flags = ['--name', 'app', '--graveyard', stage.scratch.graveyard, '--restart-policy', 'Never'];
  return startContainer(stage.scratch, {
    inside: ['prlimit', `--nofile=${files}:${files}`],
    flags: [...flags, '--grace-period', '20s', '--drain', '500ms', '--sleep-after', '300ms', '--log-level', 'debug'],
    command: member(stage, 'app'),
  });
}
