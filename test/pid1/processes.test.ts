/** P: the processes of a container: orphans, what the application inherits, what cannot be started, who may run it. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { startContainer } from '../helpers/container.ts';
import { atOnce, byEngine } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { childrenOf, hasEnded } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';

describe('processes under PID 1', { concurrency: atOnce(2) }, () => {
  scenario('P01 K10 no zombie is left of 10,000 orphans', async (stage) => {
    const { scratch } = stage;
    const container = startContainer(scratch, { command: member(stage, 'app', { orphan: 10_000, exit: 3 }) });
    await waitForEvent(scratch.log, 'app', 'Orphaned');
    const pid = await container.pid1();
    // The application itself is a child as well.
    await waitFor('all orphans have ended', () => childrenOf(pid).filter((it) => !hasEnded(it)).length === 1);
    await waitFor('all orphans are reaped', () => childrenOf(pid).length === 1);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 3);
  });

  scenario('P07 what cannot be started gives 127 when it is not there, else 126', async (stage) => {
    const { scratch } = stage;
    const [plain, textual, directory] = [scratch.path('plain'), scratch.path('textual'), scratch.path('directory')];
    writeFileSync(plain, '#!/bin/sh\n');
    chmodSync(plain, 0o644);
    writeFileSync(textual, 'echo there is no shebang\n');
    chmodSync(textual, 0o755);
    mkdirSync(directory);
    const cases: readonly (readonly [string, number])[] = [
      [plain, 126],
      [textual, 126],
      [directory, 126],
      [`${plain}/below`, 126],
      [scratch.path('absent'), 127],
      ['no-such-program-in-path', 127],
    ];
    for (const [index, [program, status]] of cases.entries()) {
      const alone = startContainer(scratch, { command: [program] });
      assert.equal((await alone.exit()).status, status, program);
      assert.match(alone.stderr(), new RegExp(program), 'the message names it');
      const flags = ['--name', `m${index}`, '--graveyard', scratch.graveyard];
      assert.equal((await startContainer(scratch, { flags, command: [program] }).exit()).status, status, program);
      const tombstone = readTombstone(scratch.graveyard, `m${index}`);
      assert.equal(tombstone?.ExitCode, status, program);
      assert.ok(tombstone?.Died, program);
    }
  });

  scenario('P08 it runs as uid 12345 without capabilities, with a read-only root and a hidden /proc', async (stage) => {
    const { scratch } = stage;
    const surroundings = { user: 12345, hardened: true } as const;
    const state = scratch.path('state');
    const start = (name: string, flags: readonly string[]) => {
      const command = member(stage, name, { mode: 'state,run', out: `${state}-${name}` });
      return startContainer(scratch, { ...surroundings, flags: ['--name', name, ...flags], command });
    };
    const containers = [start('alone', []), start('main', ['--graveyard', scratch.graveyard])] as const;
    for (const name of ['alone', 'main']) await waitForEvent(scratch.log, name, 'Started');
    assert.match(readFileSync(`${state}-main`, 'latin1'), /^uid 12345$/m);
    for (const container of containers) {
      await container.signal('SIGTERM');
      assert.equal((await container.exit()).status, 0);
    }
    assert.deepEqual(readTimeline(scratch.log).signals('main'), [15]);
    assert.equal(readTombstone(scratch.graveyard, 'main')?.Reason, 'stopped');
    const writing = startContainer(scratch, { ...surroundings, command: ['sh', '-c', ': > /etc/sexton-was-here'] });
    assert.notEqual((await writing.exit()).status, 0, 'the root is really read-only');
  });
});

describe('what the application inherits', { concurrency: atOnce(2) }, () => {
  /** What it sees alone and under sexton, from the same surroundings. */
  async function both(
    stage: Stage,
    mode: string,
    shell: string,
    words: readonly string[] = [],
  ): Promise<[Buffer, Buffer]> {
    const { scratch, fixtures } = stage;
    const out = scratch.path('out');
    const seen: Buffer[] = [];
    for (const bare of [true, false]) {
      const command = [fixtures.member, `mode=${mode}`, `out=${out}`, ...words];
      const container = startContainer(scratch, { inside: ['sh', '-c', shell, 'sh'], bare, command, stdio: 'ignore' });
      assert.equal((await container.exit()).status, 0, bare ? 'alone' : 'under sexton');
      seen.push(readFileSync(out));
      writeFileSync(out, '');
    }
    const [alone = Buffer.alloc(0), under = Buffer.alloc(0)] = seen;
    return [alone, under];
  }

  scenario('P09 K19 its environment is the container’s, byte for byte', async (stage) => {
    const shell = `export BYTES="$(printf '\\377\\376\\001')" LINES="$(printf 'a\\nb=c')" EMPTY= NODE_OPTIONS=--no-warnings; exec "$@"`;
    const [alone, under] = await both(stage, 'env', shell);
    assert.ok(alone.includes(Buffer.from('BYTES=\xff\xfe\x01\0', 'latin1')), 'the bytes are there at all');
    assert.deepEqual(under.toString('latin1'), alone.toString('latin1'));
  });

  scenario('P10 it has exactly the descriptors that sexton inherited', async (stage) => {
    for (const shell of [
      'exec "$@"',
      'exec 3</dev/zero 7<>/dev/null 9</etc/hosts; exec "$@"',
      'exec 0<&- 4</dev/zero; exec "$@"',
    ]) {
      const [alone, under] = await both(stage, 'fds', shell);
      assert.ok(alone.length > 0);
      // Each container's pipe has a number of its own.
      const [seen, expected] = [under, alone].map((it) => it.toString('latin1').replaceAll(/\[\d+\]/g, '[]'));
      assert.equal(seen, expected, shell);
    }
  });

  scenario('P11 arguments and environment of 100 KB and bytes that are no UTF-8 arrive intact', async (stage) => {
    const shell = `export LARGE="$(head -c 100000 /dev/zero | tr '\\0' e)" ODD="$(printf 'x\\200\\xff')"
      exec "$@" "$(printf '\\377\\376\\001')" "$(head -c 100000 /dev/zero | tr '\\0' a)" '' 'two words' --flag`;
    for (const mode of ['env', 'argv']) {
      const [alone, under] = await both(stage, mode, shell);
      assert.ok(alone.length > 100_000);
      assert.ok(alone.equals(under), mode);
    }
  });

  scenario('P13 ignored signals, mask and limits are those sexton was started with', async (stage) => {
    const limits = 'ulimit -Sn 1234; ulimit -Sc 0; umask 037; cd /dev';
    const shell = byEngine({
      namespaces: `${limits}; exec nice -n 3 env --block-signal=USR1,44 --ignore-signal=USR2,HUP,50 "$@"`,
      // Nothing in the image sets a mask or a priority: these are what the runtime gives.
      podman: `${limits}; trap '' USR2 HUP; exec "$@"`,
    });
    const inherited = (state: Buffer) => {
      const kept = /^(blocked|ignored|limit\d+|umask|nice|cwd|uid|gid|stdin) /;
      return state
        .toString('latin1')
        .split('\n')
        .filter((line) => kept.test(line));
    };
    for (const surroundings of [shell, 'exec "$@"']) {
      const [alone, under] = await both(stage, 'state', surroundings);
      assert.deepEqual(inherited(under), inherited(alone));
    }
    const [alone] = await both(stage, 'state', shell);
    assert.match(alone.toString('latin1'), /^limit7 1234 /m, 'the surroundings are what they shall be');
    assert.doesNotMatch(
      alone.toString('latin1'),
      byEngine({ namespaces: /^(ignored|blocked) 0+$/m, podman: /^ignored 0+$/m }),
    );
  });
});
