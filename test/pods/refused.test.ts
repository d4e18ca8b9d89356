/** A container that sexton does not start (exit code 125) says why in its termination log, for `kubectl describe`. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { startContainer } from '../helpers/container.ts';
import { SEXTON } from '../helpers/paths.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';

const END = { Version: 1, Reason: 'never-started', ExitCode: 125, ContainerExitCode: 125, Restarts: 0, OomKills: 0 };
const WITHOUT_NODE = ['sh', '-c', 'export PATH=/nonexistent; exec "$@"', 'sh'];

describe('a refused start', { concurrency: 2 }, () => {
  for (const isFlag of [true, false])
    scenario(`a wrong flag appears in the log that ${isFlag ? 'a flag' : 'the environment'} names`, async (stage) => {
      const log = logOf(stage);
      const flags = ['--drain', '5x', '--name', 'web', '--grace-period', 'soon'];
      const named = isFlag
        ? { flags: [...flags, '--termination-log', log] }
        : { flags, env: { SEXTON_TERMINATION_LOG: log } };
      assert.equal((await startContainer(stage.scratch, { ...named, command: ['true'] }).exit()).status, 125);
      const { Summary, Problems, ...rest } = JSON.parse(readFileSync(log, 'utf8'));
      assert.match(Summary, /^never started: --drain 5x: .* \(and 1 more\), exit code 125$/);
      assert.deepEqual(
        Problems.map((problem: string) => problem.split(':')[0]),
        ['--drain 5x', '--grace-period soon'],
      );
      assert.deepEqual(rest, { Name: 'web', ...END });
    });

  scenario('however many problems there are, what is left is whole JSON of at most 4096 bytes', async (stage) => {
    const log = logOf(stage);
    const flags = Array.from({ length: 200 }, (_, i) => `--no-such-flag-${i}-${'x'.repeat(40)}=1`);
    const all = ['--termination-log', log, ...flags];
    assert.equal((await startContainer(stage.scratch, { flags: all, command: ['true'] }).exit()).status, 125);
    const text = readFileSync(log, 'utf8');
    assert.ok(Buffer.byteLength(text) <= 4096, `${Buffer.byteLength(text)}`);
    const { Problems, ContainerExitCode } = JSON.parse(text);
    assert.ok(Problems.length > 5);
    assert.equal(ContainerExitCode, 125);
  });

  scenario('a word that the application has left there stays', async (stage) => {
    const log = logOf(stage);
    writeFileSync(log, 'its own');
    const flags = ['--drain', '5x', '--termination-log', log];
    await startContainer(stage.scratch, { flags, command: ['true'] }).exit();
    assert.equal(readFileSync(log, 'utf8'), 'its own');
  });

  for (const isWhole of [true, false])
    scenario(
      `a link in place of the log is not followed, ${isWhole ? 'by the supervisor' : 'by init alone'}`,
      async (stage) => {
        const log = logOf(stage);
        symlinkSync('private', log);
        const alone = stage.scratch.path('sexton');
        copyFileSync(SEXTON, alone);
        const program = isWhole ? SEXTON : alone;
        const options = { bare: true, env: { SEXTON_TERMINATION_LOG: log }, inside: WITHOUT_NODE };
        const container = startContainer(stage.scratch, {
          ...options,
          command: [program, '--drain', '5x', '--', 'true'],
        });
        assert.equal((await container.exit()).status, 125);
        assert.ok(!existsSync(stage.scratch.path('private')));
      },
      { notInPodman: 'init finds a Node in the image' },
    );

  scenario('a container whose first word is no subcommand says so there', async (stage) => {
    const log = logOf(stage);
    writeFileSync(log, '');
    const env = { SEXTON_TERMINATION_LOG: log };
    const container = startContainer(stage.scratch, { bare: true, env, command: [SEXTON, 'serve'] });
    assert.equal((await container.exit()).status, 125);
    const { Summary, ContainerExitCode } = JSON.parse(readFileSync(log, 'utf8'));
    assert.match(Summary, /^never started: unknown subcommand serve; .*, exit code 125$/);
    assert.equal(ContainerExitCode, 125);
  });

  scenario(
    'an init that was copied alone says what is missing',
    async (stage) => {
      const log = logOf(stage);
      writeFileSync(log, '');
      const alone = stage.scratch.path('se"xton');
      copyFileSync(SEXTON, alone);
      const env = { SEXTON_TERMINATION_LOG: log };
      const options = { bare: true, env, inside: WITHOUT_NODE };
      const container = startContainer(stage.scratch, { ...options, command: [alone, '--', 'true'] });
      assert.equal((await container.exit()).status, 125);
      const { Summary, ...rest } = JSON.parse(readFileSync(log, 'utf8'));
      assert.match(Summary, /^never started: cannot .*copy the whole sexton directory.*, exit code 125$/);
      assert.deepEqual(rest, { Version: 1, Reason: 'never-started', ExitCode: 125, ContainerExitCode: 125 });
      assert.match(container.stderr(), /copy the whole sexton directory/);
    },
    { notInPodman: 'init finds a Node in the image' },
  );
});

function logOf({ scratch }: Stage): string {
  return scratch.path('termination-log');
}
