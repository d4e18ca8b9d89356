/**
 * K: a bad graveyard, bad names, and what leaks into the application. None of it may hurt the application.
 */
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
import { atOnce, byEngine } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { PODMANS_OWN } from '../helpers/podman.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';

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

  scenario(
    'B5 a link that is put in the place of a running graveyard leads to no write in the own files of the container',
    async (stage) => {
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
    },
  );

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

  scenario('K11 a child of the application that needs longer than it gets its time as well', async (stage) => {
    const { scratch } = stage;
    const container = startContainer(scratch, { command: member(stage, 'app', { grandchild: 500, exit: 3 }) });
    await waitForEvent(scratch.log, 'app', 'Started');
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 3);
    readTimeline(scratch.log).exitsBefore('app', 'app.grandchild');
  });

  scenario(
    'K17 names that break out of the graveyard or mean two members are refused and nothing is started',
    async (stage) => {
      const { scratch } = stage;
      for (const name of ['x, main', '../x', '.hidden', 'Upper', 'a/b', '-x', 'x-', '', 'a'.repeat(64)]) {
        const container = startContainer(scratch, {
          flags: [`--name=${name}`, '--graveyard', scratch.graveyard],
          command: member(stage, 'app', { run: 10 }),
        });
        assert.equal((await container.exit()).status, 125, `name '${name}'`);
        assert.match(container.stderr(), /--name/, `the message for '${name}'`);
      }
      readTimeline(scratch.log).neverStarted('app');
      assert.deepEqual(readdirSync(scratch.graveyard), []);
    },
  );

  scenario(
    'K19 nothing of its own is on stdout, in the environment or among the children’s descriptors',
    async (stage) => {
      const { scratch, fixtures } = stage;
      const given = { KUBEXIT_NAME: 'app', KUBEXIT_GRAVEYARD: scratch.graveyard, LANG: 'C' };
      const command = ['sh', '-c', `${fixtures.member} mode=env | tr '\\0' '\\n'`];
      const container = startContainer(scratch, { flags: ['--log-level', 'debug'], env: given, command });
      assert.equal((await container.exit()).status, 0);
      const names = container
        .stdout()
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('=')[0]);
      // PWD and its like are the shell's own.
      const others = ['PWD', 'OLDPWD', 'SHLVL', '_', ...byEngine({ namespaces: [], podman: PODMANS_OWN })];
      const own = names.filter((it) => !others.includes(it ?? ''));
      assert.deepEqual(own.toSorted(), ['KUBEXIT_GRAVEYARD', 'KUBEXIT_NAME', 'LANG', 'PATH', 'SCRATCH']);
      assert.equal(readTombstone(scratch.graveyard, 'app')?.ExitCode, 0);
    },
  );
});

function foreignTombstone(graveyard: string): void {
  writeFileSync(join(graveyard, 'app'), '{}');
  chownSync(join(graveyard, 'app'), 54321, 54321);
}
