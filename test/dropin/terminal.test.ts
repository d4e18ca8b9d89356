/** C03, C04: on a terminal, as PID 1 of a container and as a job of a shell. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Container } from '../helpers/container.ts';
import { member } from '../helpers/member.ts';
import type { Stage } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';
import { contain, type PeerName, sideBySide } from './peers.ts';

const CTRL_C = '\x03';
const CTRL_Z = '\x1a';
const SHELL = ['bash', '--norc', '--noprofile', '-i'];
const ON_TERMINAL = { terminal: true, env: { PS1: '$ ', TERM: 'dumb', ENV: '' } } as const;

function type(container: Container, text: string): void {
  container.process.stdin?.write(text);
}

function screen(container: Container, pattern: RegExp): Promise<unknown> {
  return waitFor(`the screen shows ${pattern}`, () => pattern.test(container.stdout()));
}

const NAMES: readonly (readonly [PeerName, string, readonly string[]])[] = [
  ['tini', 'C04', []],
  ['tini', 'C04', ['-g']],
  ['dumb-init', 'C03', []],
];

function loops({ scratch }: Stage, name: string): number {
  return readTimeline(scratch.log).of(name, 'Looping').length;
}

/** What is stopped does not loop. */
function goesOn(stage: Stage, name: string, before: number): Promise<unknown> {
  return waitFor(`${name} goes on`, () => loops(stage, name) > before);
}

describe('terminals under the name of another program', { concurrency: 2 }, () => {
  for (const [name, id, flags] of NAMES) {
    const shown = [name, ...flags].join(' ');
    sideBySide(
      name,
      `${id} P14 an interactive shell under ${shown} has its jobs, Ctrl-C, Ctrl-Z and its code`,
      async (stage, peer) => {
        const { scratch } = stage;
        const shell = contain(stage, peer, [...flags, '--', ...SHELL], ON_TERMINAL);
        type(
          shell,
          `${member(stage, 'job', { stop: 'INT', exit: 9, loop: 20 }).join(' ')}; echo ended by $((0 + $?))\n`,
        );
        await waitForEvent(scratch.log, 'job', 'Started');
        type(shell, CTRL_Z);
        await screen(shell, /Stopped/);
        const before = loops(stage, 'job');
        type(shell, 'fg; echo ended by $((0 + $?))\n');
        await goesOn(stage, 'job', before);
        type(shell, CTRL_C);
        await screen(shell, /ended by 9/);
        type(shell, 'exit 6\n');
        assert.equal((await shell.exit()).status, 6);
        assert.doesNotMatch(shell.stdout(), /no job control/);
      },
    );

    sideBySide(name, `${id} a Ctrl-C reaches the command under ${shown} once`, async (stage, peer) => {
      const { scratch } = stage;
      const words = member(stage, 'app', { stop: 'INT', term: 300, exit: 4 });
      const container = contain(stage, peer, [...flags, '--', ...words], ON_TERMINAL);
      await waitForEvent(scratch.log, 'app', 'Started');
      type(container, CTRL_C);
      assert.equal((await container.exit()).status, 4);
      assert.deepEqual(readTimeline(scratch.log).signals('app'), [2]);
    });

    sideBySide(
      name,
      `${id} as a job of a shell ${shown} stops and goes on with its command`,
      async (stage, peer) => {
        const { scratch } = stage;
        // The shell stands where the program would, which it starts.
        const quiet = name === 'tini' ? ['-s'] : [];
        const shell = contain(stage, { ...peer, program: 'setsid' }, ['--wait', '--ctty', ...SHELL], ON_TERMINAL);
        const words = [
          peer.program,
          ...quiet,
          ...flags,
          '--',
          ...member(stage, 'app', { stop: 'INT', exit: 4, loop: 20 }),
        ];
        type(shell, `${words.join(' ')}; echo ended by $((0 + $?))\n`);
        await waitForEvent(scratch.log, 'app', 'Started');
        type(shell, CTRL_Z);
        await screen(shell, /Stopped/);
        const before = loops(stage, 'app');
        type(shell, 'fg; echo ended by $((0 + $?))\n');
        await goesOn(stage, 'app', before);
        type(shell, CTRL_C);
        await screen(shell, /ended by 4/);
        type(shell, 'exit 6\n');
        assert.equal((await shell.exit()).status, 6);
      },
      // tini itself runs on, and the shell with it does not come back.
      name === 'tini' ? 'sexton' : 'both',
    );
  }
});
