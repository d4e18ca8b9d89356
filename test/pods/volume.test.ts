/** K: a bad graveyard, bad names, and what leaks into the application. None of it may hurt the application. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { AWAKE, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';

describe('what a bad volume does to kubexit', { concurrency: atOnce(4) }, () => {
  for (const [what, spoil] of [
    ['a graveyard that cannot be written', (dir: string) => chmodSync(dir, 0o755)],
    ['a graveyard that is not there', (dir: string) => chmodSync(join(dir, '..'), 0o755)],
    ['a tombstone that belongs to another uid', (dir: string) => foreignTombstone(dir)],
    ['a directory in the place of its tombstone', (dir: string) => mkdirSync(join(dir, 'app'))],
  ] as const) {
    scenario(`K07 ${what} does not disturb a healthy application`, async (stage) => {
      const { scratch } = stage;
      const graveyard = what.includes('not there') ? scratch.path('absent') : scratch.graveyard;
      writeFileSync(scratch.log, '');
      chmodSync(scratch.log, 0o666);
      spoil(scratch.graveyard);
      const flags = ['--name', 'app', '--graveyard', graveyard, ...AWAKE];
      const container = startContainer(scratch, {
        user: 12345,
        flags,
        command: member(stage, 'app', { exit: 5, term: 100 }),
      });
      await waitForEvent(scratch.log, 'app', 'Started');
      await container.supervisor();
      await container.signal('SIGTERM');
      assert.equal((await container.exit()).status, 5);
      const log = readTimeline(scratch.log);
      log.notRestarted('app');
      assert.deepEqual(log.signals('app'), [15]);
      if (!what.includes('another uid')) assert.match(container.stderr(), /graveyard|tombstone/, 'the log says so');
    });
  }

  scenario('B5 a link in place of a used graveyard leads to no write into the container’s files', async (stage) => {
    const { scratch } = stage;
    const graveyard = join(scratch.graveyard, 'sub');
    const own = scratch.path('own');
    mkdirSync(graveyard);
    mkdirSync(own);
    writeFileSync(join(own, 'app'), 'mine');
    const container = startContainer(scratch, {
      flags: ['--name', 'app', '--graveyard', graveyard],
      command: member(stage, 'app', { exit: 5, term: 100 }),
    });
    await waitForTombstone(graveyard, 'app', 'runs', (it) => it.Phase === 'running');
    await waitForEvent(scratch.log, 'app', 'Started');
    renameSync(graveyard, join(scratch.graveyard, 'away'));
    symlinkSync(own, graveyard);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 5);
    assert.deepEqual([readdirSync(own), readFileSync(join(own, 'app'), 'utf8')], [['app'], 'mine']);
    assert.match(container.stderr(), /cannot write the tombstone .* is a symbolic link; name the directory itself/);
  });

  scenario('K08 on a full volume a death is still written and the exit code is right', async (stage) => {
    const { scratch } = stage;
    const graveyard = scratch.path('small');
    mkdirSync(graveyard);
    const container = startContainer(scratch, {
      tmpfs: graveyard,
      flags: ['--name', 'app', '--graveyard', graveyard],
      command: member(stage, 'app', { after: scratch.path('full'), run: 200, exit: 3 }),
    });
    const root = `/proc/${await container.pid1()}/root`;
    await waitForTombstone(join(root, graveyard), 'app', 'runs', (it) => it.Phase === 'running');
    // Open, it stays readable when the container, and the mount with it, is gone.
    const volume = openSync(join(root, graveyard), 'r');
    stage.t.after(() => closeSync(volume));
    const seen = `/proc/self/fd/${volume}`;
    assert.throws(() => writeFileSync(join(seen, '.fill'), Buffer.alloc(128 << 10)), { code: 'ENOSPC' });
    writeFileSync(scratch.path('full'), '');
    assert.equal((await container.exit()).status, 3);
    const tombstone = JSON.parse(readFileSync(join(seen, 'app'), 'utf8'));
    assert.deepEqual([tombstone.ExitCode, tombstone.Reason, tombstone.Phase], [3, 'error', 'dead']);
    assert.ok(tombstone.Died);
  });

  scenario('K11 grandchildren behind a shell end their work before the container does', async (stage) => {
    const { scratch } = stage;
    const worker = member(stage, 'worker', { term: 400 }).join(' ');
    const flags = ['--name', 'app', '--graveyard', scratch.graveyard];
    const container = startContainer(scratch, { flags, command: ['sh', '-c', `${worker}; true`] });
    await waitForEvent(scratch.log, 'worker', 'Started');
    await container.signal('SIGTERM');
    await container.exit();
    const log = readTimeline(scratch.log);
    assert.deepEqual(log.signals('worker'), [15]);
    log.at('worker', 'Exiting');
  });
});

function foreignTombstone(graveyard: string): void {
  writeFileSync(join(graveyard, 'app'), '{}');
  chownSync(join(graveyard, 'app'), 54321, 54321);
}
