/**
 * P: with a terminal and with none, and with streams that are closed or stand still.
 *
 * The terminal is one that `script` makes, or the container's own, which podman connects to that.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { atOnce, byEngine } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { run } from '../helpers/outcome.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';

const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

function onTerminal(stage: Stage, command: readonly string[], flags: readonly string[] = []): Container {
  return startContainer(stage.scratch, { terminal: true, flags, command, env: { PS1: '$ ', TERM: 'dumb', ENV: '' } });
}

function type(container: Container, text: string): void {
  assert.ok(container.process.stdin);
  container.process.stdin.write(text);
}

function screen(container: Container, pattern: RegExp): Promise<unknown> {
  return waitFor(`the screen shows ${pattern}`, () => pattern.test(container.stdout()));
}

describe('terminals and streams', { concurrency: atOnce(2) }, () => {
  scenario('P05 P14 an interactive shell keeps job control, the window size and its exit code', async (stage) => {
    const { scratch } = stage;
    const shell = onTerminal(
      stage,
      byEngine({ namespaces: ['bash', '--norc', '--noprofile', '-i'], podman: ['sh', '-i'] }),
    );
    const inForeground = member(stage, 'first', { stop: 'INT', exit: 9 }).join(' ');
    type(shell, `${inForeground}; echo first ended by $((0 + $?))\n`);
    await waitForEvent(scratch.log, 'first', 'Started');
    type(shell, CTRL_C);
    await screen(shell, /first ended by 9/);
    assert.deepEqual(readTimeline(scratch.log).signals('first'), [2]);

    type(shell, `${member(stage, 'second', { stop: 'INT', trap: 'WINCH' }).join(' ')}\n`);
    await waitForEvent(scratch.log, 'second', 'Started');
    type(shell, CTRL_Z);
    await screen(shell, /Stopped/);
    type(shell, 'jobs; echo jobs $((1 + 1))\n');
    await screen(shell, /jobs 2/);
    type(shell, 'fg\n');
    const pty = `/proc/${await shell.pid1()}/fd/0`;
    await waitFor('the job is in the foreground again', () => {
      execFileSync('stty', ['-F', pty, 'rows', '41', 'columns', String(90 + Math.floor(performance.now() % 9))]);
      return readTimeline(scratch.log).signals('second').includes(28);
    });
    type(shell, CTRL_C);
    await waitForEvent(scratch.log, 'second', 'Exiting');
    execFileSync('stty', ['-F', pty, 'rows', '43', 'columns', '97']);
    type(shell, 'stty size\n');
    await screen(shell, /43 97/);
    type(shell, 'exit 6\n');
    assert.equal((await shell.exit()).status, 6);
    assert.doesNotMatch(shell.stdout(), /no job control/);
  });

  scenario('P05 a shell without job control of its own leaves with its code when the terminal ends', async (stage) => {
    const shell = onTerminal(stage, ['sh', '-i']);
    type(shell, 'echo ready $((40 + 2))\n');
    await screen(shell, /ready 42/);
    type(shell, '(exit 5)\n\x04');
    assert.equal((await shell.exit()).status, 5);
  });

  for (const flags of [[], ['--graveyard']] as const) {
    const where = flags.length > 0 ? 'with a graveyard' : 'alone';
    scenario(`P14 K12 a Ctrl-C on the terminal reaches the application once, ${where}`, async (stage) => {
      const { scratch } = stage;
      const given = flags.length > 0 ? ['--graveyard', scratch.graveyard] : [];
      const container = onTerminal(stage, member(stage, 'app', { stop: 'INT', term: 600, exit: 4 }), given);
      await waitForEvent(scratch.log, 'app', 'Started');
      type(container, CTRL_C);
      assert.equal((await container.exit()).status, 4);
      assert.deepEqual(readTimeline(scratch.log).signals('app'), [2]);
    });
  }

  // A full pipe without a reading process: every write to it blocks.
  const stalled = 'mkfifo "$SCRATCH/full" && exec 5<>"$SCRATCH/full" && head -c 65536 /dev/zero >&5';
  for (const [what, shell] of [
    ['no terminal', 'exec "$@"'],
    ['stdin closed', 'exec "$@" <&-'],
    ['stdout closed', 'exec "$@" >&-'],
    ['stderr closed', 'exec "$@" 2>&-'],
    ['all three closed', 'exec "$@" <&- >&- 2>&-'],
    ['stdout stalled', `${stalled} && exec "$@" >&5 5>&-`],
    ['stderr stalled', `${stalled} && exec "$@" 2>&5 5>&-`],
    ['files that may have no more than 512 bytes', 'ulimit -f 1 && exec "$@"'],
  ] as const) {
    scenario(`P06 with ${what} signals still act`, async (stage) => {
      const { scratch } = stage;
      const flags = ['--log-level', 'debug', '--graveyard', scratch.graveyard, '--name', 'app'];
      const command = member(stage, 'app', { trap: 'USR1', exit: 4 });
      const container = startContainer(scratch, { inside: ['sh', '-c', shell, 'sh'], flags, command });
      await waitForEvent(scratch.log, 'app', 'Started');
      await container.signal('SIGUSR1');
      await waitForEvent(scratch.log, 'app', 'Signal');
      await container.signal('SIGTERM');
      assert.equal((await container.exit()).status, 4);
      assert.deepEqual(readTimeline(scratch.log).signals('app'), [10, 15]);
      assert.equal(container.stdout(), '', 'nothing on stdout ever');
      assert.doesNotMatch(container.stderr(), /the supervisor was started again/);
    });
  }

  test('P06 a warning by Node itself does not end the supervisor', async () => {
    const warns = 'data:text/javascript,setInterval(() => process.emitWarning("odd"), 100).unref()';
    const flags = ['run', '--log-level', 'error', '--', 'sh', '-c', 'sleep 1; exit 4'];
    const { code, stderr } = await run([NODE, '--import', warns, join(ROOT, 'src/cli/main.ts'), ...flags]);
    assert.doesNotMatch(stderr, /TypeError/);
    assert.equal(code, 4);
  });
});
