/** C03, C04, P11: what a command is started with, what it ends with, and what becomes of the processes around it. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe } from 'node:test';
import { member } from '../helpers/member.ts';
import { childrenOf, hasEnded, send } from '../helpers/process.ts';
import { build } from '../helpers/program.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';
import { contain, INTENDED, launch, ours, type PeerName, sideBySide } from './peers.ts';

const NAMES: readonly (readonly [PeerName, string])[] = [
  ['tini', 'C04'],
  ['dumb-init', 'C03'],
  ['sexton', 'P16'],
];

/** Where it is no PID 1 tini warns unless it reaps. */
const QUIET: Readonly<Record<PeerName, readonly string[]>> = {
  tini: ['-s'],
  'dumb-init': [],
  sexton: ['--name', 'app'],
};

describe('commands under the name of another program', { concurrency: 2 }, () => {
  for (const [name, id] of NAMES) {
    sideBySide(
      name,
      `${id} ${name} ends with the command's code, or with 128+n, and says nothing`,
      async (stage, peer) => {
        for (const [script, code] of [
          ['exit 0', 0],
          ['exit 7', 7],
          ['exit 255', 255],
          ['kill -TERM $$', 143],
          ['kill -KILL $$', 137],
          ['kill -SEGV $$', 139],
        ] as const) {
          const run = launch(stage, peer, [...QUIET[name], '--', 'sh', '-c', script]);
          assert.deepEqual(await run.end(), { code, signal: null }, script);
          assert.deepEqual([run.stdout().toString(), run.stderr()], ['', ''], script);
        }
      },
    );

    // sexton itself refuses such a script, as the kernel does.
    if (name !== 'sexton')
      sideBySide(
        name,
        `${id} a script without a first line is run by the shell, as ${name} does it`,
        async (stage, peer) => {
          const script = stage.scratch.path('script');
          writeFileSync(script, 'echo "$0 $#: $*"; exit 4\n');
          chmodSync(script, 0o755);
          const env = { PATH: `${stage.scratch.dir}:${process.env.PATH}` };
          for (const word of [script, 'script']) {
            const run = launch(stage, peer, [...QUIET[name], word, 'a b', 'c'], { env });
            assert.deepEqual(await run.end(), { code: 4, signal: null });
            assert.equal(run.stdout().toString(), `${script} 2: a b c\n`);
          }
        },
      );

    sideBySide(
      name,
      `P11 P09 100 KB, bytes that are no UTF-8 and every variable arrive under the name ${name}`,
      async (stage, peer) => {
        const { scratch } = stage;
        // Only a shell's own words carry such bytes here, and no word of execve(2) may have more than 128 KiB.
        const long = 'x'.repeat(100_000);
        writeFileSync(scratch.path('long'), long);
        const prelude = `ODD="$(printf 'a\\377\\300z')" LONG=$(cat "$SCRATCH/long"); export ODD LONG`;
        const shell = (command: string): string[] => ['sh', '-c', `${prelude}; ${command}`, 'sh'];
        const words = member(stage, 'app', { mode: 'argv' });
        const launcher = shell('exec "$@" "$ODD" "$LONG"');
        const first = launch(stage, peer, [...QUIET[name], '--', ...words], { launcher });
        assert.deepEqual(await first.end(), { code: 0, signal: null });
        const bytes = Buffer.from('a\xff\xc0z', 'latin1');
        const argv = Buffer.concat(words.map((word) => Buffer.from(`${word}\0`)));
        const expected = Buffer.concat([argv, bytes, Buffer.from(`\0${long}\0`)]);
        assert.ok(first.stdout().equals(expected), first.stdout().toString('latin1').slice(0, 500));

        const outer = launch(stage, peer, [...QUIET[name], '--', 'sh', '-c', 'cat /proc/self/environ'], {
          launcher: shell('env -0 >"$SCRATCH/before"; exec "$@"'),
          env: { TINI_VERBOSITY: '0', DUMB_INIT_DEBUG: '0', NODE_OPTIONS: '--nonsense', SEXTON_LOG_LEVEL: 'silent' },
        });
        assert.deepEqual(await outer.end(), { code: 0, signal: null });
        assert.deepEqual(sorted(outer.stdout()), sorted(readFileSync(scratch.path('before'))));
      },
    );

    sideBySide(name, `${id} A6 a link starts the command where there is no /proc`, async (stage, peer) => {
      const links = ['links', 'more'].map((dir) => join(stage.scratch.dir, dir));
      for (const dir of links) mkdirSync(dir);
      const [first = '', second = ''] = links.map((dir) => join(dir, name));
      symlinkSync(peer.program, first);
      symlinkSync(relative(dirname(second), first), second);
      const inside = ['sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
      const container = contain(stage, { ...peer, program: second }, ['--', 'sh', '-c', 'exit 7'], { inside });
      assert.equal((await container.exit()).status, 7);
      assert.equal(container.stderr(), '');
    });

    sideBySide(name, `${id} A6 the command has the signals as ${name} gives them to it`, async (stage, peer) => {
      const ignored = ['--ignore-signal=HUP', '--ignore-signal=RTMIN+16'];
      const launcher = ['env', ...ignored, '--block-signal=USR2', '--block-signal=RTMIN+6'];
      const words = [...QUIET[name], '--', 'grep', '-E', '^Sig(Blk|Ign):', '/proc/self/status'];
      const run = launch(stage, peer, words, { launcher });
      assert.deepEqual(await run.end(), { code: 0, signal: null });
      const shown = run.stdout().toString();
      const masks = [...shown.matchAll(/\t([0-9a-f]+)/g)].map(([, it]) => BigInt(`0x${it}`));
      const bits = (...signals: readonly number[]): bigint =>
        signals.reduce((sum, it) => sum | (1n << BigInt(it - 1)), 0n);
      assert.deepEqual(masks, name === 'dumb-init' ? [0n, bits(50)] : [bits(12, 40), bits(1, 50)]);
    });

    sideBySide(name, `${id} orphans are reaped when ${name} is PID 1`, async (stage, peer) => {
      const { scratch } = stage;
      const container = contain(stage, peer, ['--', ...member(stage, 'app', { orphan: 50, orphanfor: 1, exit: 5 })]);
      await waitForEvent(scratch.log, 'app', 'Started');
      const pid = await container.pid1();
      // Here there is no supervisor, so that the command is the only child.
      await waitFor('only the command is left', () => childrenOf(pid).length <= 1);
      assert.ok(childrenOf(pid).every((it) => !hasEnded(it)));
      await container.signal('SIGTERM');
      assert.equal((await container.exit()).status, 5);
    });
  }

  sideBySide('tini', 'C04 -e makes 0 of each code that it names, also of 128+n', async (stage, peer) => {
    for (const [flags, script, code] of [
      [['-e', '143'], 'kill -TERM $$', 0],
      [['-e', '143'], 'exit 143', 0],
      [['-e', '1', '-e2'], 'exit 2', 0],
      [['-e', '1', '-e2'], 'exit 1', 0],
      [['-e', '1', '-e2'], 'exit 3', 3],
      [['-e', '255'], 'exit 255', 0],
    ] as const) {
      const run = launch(stage, peer, ['-s', ...flags, '--', 'sh', '-c', script]);
      assert.deepEqual(await run.end(), { code, signal: null }, `${flags.join(' ')} ${script}`);
    }
  });

  for (const [shown, flags, env] of [
    ['-s', ['-s'], {}],
    ['TINI_SUBREAPER', [], { TINI_SUBREAPER: '' }],
    ['PR_SET_CHILD_SUBREAPER', [], {}],
  ] as const) {
    sideBySide(
      'tini',
      `C04 with ${shown} orphans come to a tini that is not PID 1, without it they do not`,
      async (stage, peer) => {
        const script = '(sleep 600 & echo $! >"$SCRATCH/orphan"); : >"$SCRATCH/ready"; exec sleep 600';
        for (const adopts of [true, false]) {
          const run = launch(stage, peer, [...(adopts ? flags : []), '--', 'sh', '-c', script], {
            env: adopts ? env : {},
            launcher: adopts && shown === 'PR_SET_CHILD_SUBREAPER' ? [build('dropin/subreaper.c')] : [],
          });
          const orphan = await waitFor(
            'there is an orphan',
            () => Number(read(stage.scratch.path('orphan'))) || undefined,
          );
          await waitFor(
            'its parent is another',
            () => parentOf(orphan) !== undefined && (parentOf(orphan) !== run.pid) !== adopts,
          );
          // The command and the orphan: no supervisor is needed to say anything.
          if (adopts) assert.equal(childrenOf(run.pid).length, 2);
          send(orphan, 'SIGKILL');
          await waitFor('it is gone', () => hasEnded(orphan));
          assert.ok(send(run.pid, 'SIGTERM'));
          assert.deepEqual(await run.end(), { code: 143, signal: null });
          assert.equal(/reap/i.test(run.stderr()), !adopts, 'it says so only when it does not reap');
          writeFileSync(stage.scratch.path('orphan'), '');
        }
      },
    );
  }

  sideBySide('tini', 'C04 -w reports each orphan that was reaped, with its pid', async (stage, peer) => {
    // A process is in /proc until it has been reaped.
    const script = `(sh -c 'echo $$ >pid; mv pid known; echo $$' &)
      until [ -e known ]; do sleep 0.05; done
      read -r pid <known; while [ -e "/proc/$pid" ]; do sleep 0.05; done`;
    const run = launch(stage, peer, ['-s', '-w', '--', 'sh', '-c', script]);
    assert.deepEqual(await run.end(), { code: 0, signal: null });
    assert.match(run.stderr(), new RegExp(`[Rr]eaped.*${run.stdout().toString().trim()}`));
  });

  sideBySide('tini', 'C04 -p brings a signal to the command when the parent dies', async (stage, peer) => {
    const { scratch } = stage;
    const launcher = ['sh', '-c', '"$@" & echo $! >"$SCRATCH/init"; wait', 'sh'];
    const words = member(stage, 'app', { stop: 'USR1' });
    const run = launch(stage, peer, ['-s', '-p', 'SIGUSR1', '--', ...words], { launcher });
    await waitForEvent(scratch.log, 'app', 'Started');
    const init = await waitFor('it is known', () => Number(read(scratch.path('init'))) || undefined);
    assert.ok(send(run.pid, 'SIGKILL'));
    await waitForEvent(scratch.log, 'app', 'Exiting');
    assert.deepEqual(readTimeline(scratch.log).signals('app'), [10]);
    await waitFor('it has ended', () => hasEnded(init));
  });

  for (const [name, id] of NAMES) {
    sideBySide(
      name,
      `${id} A6 the command stays where it was started; ${name} itself is where it keeps no file system busy`,
      async (stage, peer) => {
        const { scratch } = stage;
        const run = launch(stage, peer, [...QUIET[name], ...member(stage, 'app')]);
        await waitForEvent(scratch.log, 'app', 'Started');
        const [child = 0] = childrenOf(run.pid);
        assert.equal(readlinkSync(`/proc/${child}/cwd`), scratch.dir);
        const isInPlace = name === 'sexton' || (!peer.isOurs && INTENDED.staysInPlace.includes(name));
        const own = isInPlace ? scratch.dir : '/';
        await waitFor('it is there', () => readlinkSync(`/proc/${run.pid}/cwd`) === own);
        assert.ok(send(run.pid, 'SIGTERM'));
        assert.deepEqual(await run.end(), { code: 0, signal: null });
      },
    );
  }

  for (const [name, id, flags] of [
    ['dumb-init', 'C03', []],
    ['dumb-init', 'C03', ['-c']],
    ['tini', 'C04', []],
  ] as const) {
    const shown = [name, ...flags].join(' ');
    // Whether it still sees the TERM before the KILL of the kernel is a matter of luck under dumb-init itself.
    scenario(`${id} what the command leaves behind gets TERM under ${shown}, and may finish`, async (stage) => {
      const { scratch } = stage;
      const left = member(stage, 'left', { term: 100, exit: 0, ready: scratch.path('ready') }).join(' ');
      const work = member(stage, 'work', { after: scratch.path('ready'), run: 1, exit: 6 }).join(' ');
      const words = [...flags, '--', 'sh', '-c', `${left} & exec ${work}`];
      assert.equal((await contain(stage, ours(stage, name), words).exit()).status, 6);
      await waitForEvent(scratch.log, 'left', 'Signal');
      assert.deepEqual(readTimeline(scratch.log).signals('left').slice(0, 1), [15]);
      assert.equal(readTimeline(scratch.log).of('left', 'Exiting').length, 1);
    });
  }
});

function sorted(environment: Buffer): string[] {
  // The shell's own differ from one to the next.
  return environment
    .toString('latin1')
    .split('\0')
    .filter((it) => it !== '' && !/^(_|PWD|OLDPWD|SHLVL)=/.test(it))
    .sort();
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return parent === undefined ? undefined : Number(parent);
}
