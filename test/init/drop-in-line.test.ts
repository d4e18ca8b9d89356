/** What init gives the supervisor for a command line of tini, dumb-init or kubexit. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import fc from 'fast-check';
import '../helpers/seeded.ts';
import { resolveRun } from '../../src/config/resolve.ts';
import { filesOf } from '../config/files.ts';
import { readLine } from '../helpers/line.ts';
import { eachBuild, layBench, TO_GROUP } from './scripted.ts';

type Env = Readonly<Record<string, string>>;

/** The line, its variables, the flags for the supervisor, and the defaults that any other setting beats. */
const LINES: readonly (readonly [line: string, env: Env, flags: string, defaults: string])[] = [
  ['tini web', {}, '--', '--signal-to first --log-level warn --log-format text'],
  ['tini -g -- web', {}, '--signal-to group --', '--log-level warn --log-format text'],
  ['/sbin/tini-static -vg web', {}, '--signal-to group --log-level info --', '--log-format text'],
  ['tini -v -vv web', {}, '--log-level debug --', '--signal-to first --log-format text'],
  [
    'tini -e 143 -e+7 -e143 web',
    {},
    '--exit-code 7=0,143=0 --',
    '--signal-to first --log-level warn --log-format text',
  ],
  ['tini -swp SIGTERM web', {}, '--', '--signal-to first --log-level warn --log-format text'],
  ['tini web', { TINI_KILL_PROCESS_GROUP: '' }, '--', '--signal-to group --log-level warn --log-format text'],
  ['tini web', { TINI_VERBOSITY: '0' }, '--', '--signal-to first --log-level error --log-format text'],
  ['tini web', { TINI_VERBOSITY: 'x' }, '--', '--signal-to first --log-level error --log-format text'],
  ['tini -v web', { TINI_VERBOSITY: '2' }, '--log-level debug --', '--signal-to first --log-format text'],
  ['dumb-init web', {}, '--', '--log-level warn --signals 20:19,21:19,22:19 --log-format text'],
  ['dumb-init_1.2.5 -c web', {}, '--signal-to first --', '--log-level warn --log-format text'],
  ['dumb-init -r 15:3 web', {}, '--signals 15:3,20:19,21:19,22:19 --', '--log-level warn --log-format text'],
  [
    'dumb-init -cr 1:2 --rew=15:0 web',
    {},
    '--signal-to first --signals 1:2,15:0 --',
    '--log-level warn --log-format text',
  ],
  ['dumb-init -c -r 9:1 -r17:1 web', {}, '--signal-to first --', '--log-level warn --log-format text'],
  ['dumb-init -r 20:20 web', {}, '--signals 20:20,21:19,22:19 --', '--log-level warn --log-format text'],
  ['dumb-init --verb web', {}, '--log-level debug --', '--signals 20:19,21:19,22:19 --log-format text'],
  ['dumb-init web', { DUMB_INIT_SETSID: '0' }, '--', '--signal-to first --log-level warn --log-format text'],
  ['dumb-init -c web', { DUMB_INIT_DEBUG: '1' }, '--signal-to first --', '--log-level debug --log-format text'],
  ['kubexit -- web', {}, '--', '--graveyard /graveyard'],
  ['kubexit -v', {}, '-- -v', '--graveyard /graveyard'],
];

eachBuild('init gives sexton’s own flags for each line of another program', async (t, build) => {
  const { sexton } = await layBench(t, build);
  for (const [line, env, flags, defaults] of LINES) {
    const argv = line.split(' ');
    const read = readLine(sexton, argv, env);
    const shown = JSON.stringify([env, line]);
    const command = argv.includes('web') ? ['web'] : [];
    assert.deepEqual(read?.words, [...flags.split(' '), ...command], shown);
    assert.deepEqual(read?.as.defaults, defaults.split(' '), shown);
  }
});

/** Their values are right, so each line starts its command. */
const OPTIONS = {
  tini: ['-s', '-g', '-v', '-w', '-vg', '-pSIGHUP', '-e0', '-e255', '-e', '-sve'],
  'dumb-init': ['-c', '-v', '-r15:3', '-r1:0', '--rewrite=9:9', '--rew', '--single', '-vcr'],
} as const;

eachBuild('the configuration accepts every line of another program that init accepts', async (t, build) => {
  const { sexton } = await layBench(t, build);
  for (const name of ['tini', 'dumb-init'] as const) {
    const lines = fc.array(fc.constantFrom(...OPTIONS[name]), { maxLength: 6 });
    for (const options of fc.sample(lines, 100)) {
      const value = name === 'tini' ? '143' : '31:31';
      const words = options.flatMap((it) => (/(^-[a-z]*[er]|--rew)$/.test(it) ? [it, value] : [it]));
      const line = readLine(sexton, [name, ...words, '--', 'web', '-v']);
      const shown = JSON.stringify([name, ...words]);
      assert.ok(line, shown);
      const resolution = await resolveRun(line.words, {}, filesOf(), line.as);
      assert.ok(resolution.ok, shown);
      assert.deepEqual(resolution.run.program.argv, ['web', '-v'], shown);
      assert.equal(resolution.warnings.length, 0, shown);
    }
  }
});

/** What is wrong with each line, and the remedy. */
const WRONG: readonly (readonly [words: readonly string[], why: string])[] = [
  [['tini'], 'no command is given'],
  [['tini', '-g', '--'], 'no command is given'],
  [['tini', '-gZ', 'web'], '-Z is not an option'],
  [['tini', '--single', 'web'], '--single is not an option'],
  [['tini', '-e'], '-e needs a value'],
  [['tini', '-e', '256', 'web'], '-e "256": write an exit code from 0 to 255'],
  [['tini', '-se', '\x1b[2J', 'web'], '-e "?[2J": write an exit code from 0 to 255'],
  [['tini', '-p', 'TERM', 'web'], '-p "TERM": write a signal such as SIGTERM'],
  [['tini', '-p', 'x'.repeat(5000), 'web'], `-p "${'x'.repeat(100)}": write a signal such as SIGTERM`],
  [['dumb-init', '-r', '', 'web'], '-r "": write FROM:TO, two signal numbers up to 31, TO 0 to drop'],
  [['dumb-init', '--rewrite=TERM:3', 'web'], '-r "TERM:3": write FROM:TO, two signal numbers up to 31, TO 0 to drop'],
  [['dumb-init', '--rewrite'], '--rewrite needs a value'],
  [['dumb-init', '--ver', 'web'], '--ver may be one of several options: write its whole name'],
  [['dumb-init', '--single=1', 'web'], '--single=1: this option takes no value'],
  [['dumb-init', '--all', 'web'], '--all is not an option'],
  [['kubexit', '--'], 'no command is given'],
];

eachBuild('a wrong line of another program is refused by init, with thing and remedy', async (t, build) => {
  const { sexton } = await layBench(t, build);
  for (const [[name = '', ...words], why] of WRONG) {
    const { stdout, stderr, status } = spawnSync(sexton, words, { argv0: name, env: {}, encoding: 'utf8' });
    const message = `sexton: cannot start as ${name}: ${why}; ${name} -h names what it takes\n`;
    assert.deepEqual([stderr, stdout, status], [message, '', name === 'kubexit' ? 2 : 1]);
    assert.equal(readLine(sexton, [name, ...words]), undefined);
  }
});

eachBuild('the supervisor starts the command by its index behind the flags', async (t, build) => {
  const bench = await layBench(t, build);
  symlinkSync('sexton', bench.path('tini'));
  const init = bench.launch([bench.path('tini'), '-sg', '-e', '3', '--', 'sh', '-c', 'echo "$0"; exit 5', 'again']);
  const supervisor = await init.supervisor();
  await supervisor.expect('spawned');
  await supervisor.skip('exited', 'roots-gone');
  // The words are the bundle, --signal-to group --exit-code 3=0 -- and the command.
  supervisor.commit('spawn', 2, TO_GROUP, 6, 0);
  await supervisor.expect('spawned');
  assert.deepEqual((await supervisor.expect('exited')).slice(2), ['5', '', '0']);
  supervisor.commit('exit', 5);
  assert.deepEqual(await init.ended, { code: 5, signal: null });
  assert.equal(init.stdout(), 'again\nagain\n');
});
