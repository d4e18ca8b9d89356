import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { COMMAND_NAMES, COMMANDS } from '../../src/cli/commands/commands.ts';
import { FLAGS, KEYS, variableOf } from '../../src/config/flags.ts';
import { SIDECARS } from '../../src/config/notation/sidecars.ts';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { type Outcome, run } from '../helpers/outcome.ts';
import { NODE, ROOT, SEXTON } from '../helpers/paths.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

function sexton(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return run([NODE, join(ROOT, 'src/cli/main.ts'), ...args], env);
}

const LONGEST_LINE = 80;

function assertNarrow(output: string): void {
  for (const line of output.split('\n')) assert.ok(line.length <= LONGEST_LINE, line);
}

describe('sexton help', { concurrency: 2 }, () => {
  it('sexton help names every flag with its default, in lines of 80 columns', async () => {
    const { stdout, code } = await sexton(['help', 'flags']);
    for (const key of KEYS)
      assert.match(stdout, new RegExp(`^--${FLAGS[key].name} .+\\n( {4}.+\\n)+? {4}Default: .+\\.$`, 'm'));
    assertNarrow(stdout);
    assert.equal(code, 0);
  });

  it('sexton help names every variable, every key of a file and every sidecar', async () => {
    const variables = (await sexton(['help', 'environment'])).stdout;
    for (const key of KEYS) assert.match(variables, new RegExp(`^${variableOf(FLAGS[key].name)} `, 'm'));
    assert.match(variables, /^OTEL_SERVICE_NAME /m);
    assert.match((await sexton(['help', 'begin'])).stdout, /Default: SEXTON_GRAVEYARD, else \/graveyard\./);
    const config = (await sexton(['help', 'config'])).stdout;
    for (const key of KEYS) assert.match(config, new RegExp(`^${FLAGS[key].fileKey ?? key} `, 'm'));
    assertNarrow(variables + config);
    const sidecars = (await sexton(['help', 'sidecars'])).stdout;
    for (const name of Object.keys(SIDECARS)) assert.match(sidecars, new RegExp(`^${name} +:\\d+/`, 'm'));
    assertNarrow(sidecars);
  });

  it('sexton help names its topics, and the nearest one to a misspelt one', async () => {
    assert.match(
      (await sexton(['--help'])).stdout,
      /^flags, environment, config, probes, exit-codes, sidecars, man\.$/m,
    );
    const { stderr, stdout, code } = await sexton(['help', 'flag']);
    assert.equal(stderr, 'sexton: cannot run sexton help: unknown topic flag; did you mean flags?\n');
    assert.equal(stdout, '');
    assert.equal(code, 125);
  });
});

describe('--help (D5)', { concurrency: 2 }, () => {
  for (const name of COMMAND_NAMES) {
    it(`\`sexton ${name} --help\` shows the usage and the flags, as its topic does`, async () => {
      const { stdout, stderr, code } = await sexton([name, '--help']);
      if (name !== 'help') assert.ok(stdout.startsWith(`sexton ${COMMANDS[name].usage[0]}\n`), stdout);
      for (const flag of COMMANDS[name].flags) assert.match(stdout, new RegExp(`^--${flag.name}( |$)`, 'm'));
      assertNarrow(stdout);
      assert.equal(stderr, '');
      assert.equal(code, 0);
      if (name !== 'help') assert.equal((await sexton(['help', name])).stdout, stdout);
    });
  }

  it('the usage shows the lines that run a command as they are typed', async () => {
    const { stdout } = await sexton(['--help']);
    assert.match(
      stdout,
      /^sexton run \[flags\] \[--\] command \[args\.\.\.\]\nsexton \[flags\] -- command \[args\.\.\.\]\n/,
    );
    assert.doesNotMatch(stdout, /^sexton \[run\]/m);
  });

  it('sexton help that cannot be written ends with one line and exit code 125', async () => {
    const child = spawn('sh', ['-c', '"$@" > /dev/full', 'sh', NODE, join(ROOT, 'src/cli/main.ts'), 'help']);
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assert.equal(stderr, 'sexton: cannot write to stdout: no space left on device\n');
    assert.equal(code, 125);
  });
});

describe('sexton version', { concurrency: 2 }, () => {
  it('sexton version prints the version of the package and where it comes from', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const word of ['version', '--version', '-V']) {
      assert.deepEqual(await sexton([word]), { stdout: `sexton ${version} (from source)\n`, stderr: '', code: 0 });
    }
  });
});

describe('an unknown subcommand', { concurrency: 2 }, () => {
  it('an unknown subcommand is refused with the nearest, and with how to run a command', async () => {
    assert.deepEqual(await sexton(['stauts']), {
      stdout: '',
      stderr:
        'sexton: unknown subcommand stauts; did you mean sexton status? To run a command, write sexton -- stauts\n',
      code: 125,
    });
    const { stderr } = await sexton(['nginx', '-g', 'daemon off;']);
    assert.equal(stderr, 'sexton: unknown subcommand nginx; to run a command, write sexton -- nginx\n');
  });
});

describe('sexton explain', { concurrency: 2 }, () => {
  it('sexton explain prints each value with its source', async () => {
    const { stdout, code } = await sexton(['explain', '--drain', '5s', '--', 'nginx'], { SEXTON_NAME: 'web' });
    assert.match(stdout, /^KEY +VALUE +SOURCE$/m);
    assert.match(stdout, /^drain +5s +--drain$/m);
    assert.match(stdout, /^name +web +SEXTON_NAME$/m);
    assert.match(stdout, /^role +main +default$/m);
    assert.match(stdout, /^command +\["nginx"\] +command line$/m);
    assert.equal(code, 0);
  });

  it('sexton explain says in one line whether there is a Node process, and why', async () => {
    const explain = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const { stdout } = await run([SEXTON, 'explain', '-o', 'json', ...words, '--', 'nginx'], env);
      const { node, logLevel } = JSON.parse(stdout) as { readonly node: string; readonly logLevel: string };
      return [node.replace(/(?<=command) cannot start.*/, ''), logLevel];
    };
    const never = 'no Node process until the command';
    assert.deepEqual(await explain(['--sleep-after', '10s', '--grace-period', '9s']), [never, 'warn']);
    const always = 'there is a Node process from the start: ';
    assert.deepEqual(await explain(['--log-level', 'info']), [`${always}--log-level info`, 'info']);
    assert.deepEqual(await explain([], { SEXTON_DRAIN: '5s' }), [`${always}SEXTON_DRAIN=5s`, 'info']);
    const { stdout } = await sexton(['explain', '--', 'nginx']);
    assert.match(stdout, /^node: there is a Node process from the start: there is no sexton-init here$/m);
  });

  it('sexton explain lists what init does by itself', async () => {
    const words = ['explain', '--signals', 'HUP:USR1', '--stop', 'QUIT', '--grace-period', '20s', '--', 'nginx'];
    const { stdout } = await run([SEXTON, ...words], {});
    assert.deepEqual(stdout.match(/(?<=^init: ).*/gm), [
      'each signal but INT, TERM: pass it on, HUP as USR1',
      'the first of INT, TERM: pass it on, INT as QUIT, TERM as QUIT',
      'a stop request that no supervisor has acknowledged for 5.0 s: send QUIT',
      'a stop request that no supervisor has acknowledged for 20 s: KILL',
    ]);
  });

  it('sexton explain says whom a stop reaches, and when what has not had the signal gets it', async () => {
    const explain = async (words: readonly string[], program: readonly string[] = [SEXTON]) => {
      const { stdout } = await run([...program, 'explain', ...words, '--', 'nginx'], {});
      return /^stop: (.*)$/m.exec(stdout)?.[1];
    };
    const tree =
      'TERM reaches parents before their children (the process group where sexton is neither PID 1 nor a subreaper)';
    const never = 'what has not had it gets none, as it is not known when KILL comes without --grace-period';
    const late = (when: string) => `what has not had it gets it ${when} after the stop request`;
    assert.equal(await explain([]), `${tree}; ${never}`);
    // KILL comes after 19.5 s, and two thirds of the time from the signal on are these.
    assert.equal(await explain(['--grace-period', '20s']), `${tree}; ${late('13 s')}`);
    assert.equal(await explain(['--grace-period', '20s', '--drain', '3s']), `${tree}; ${late('14 s')}`);
    const adaptive = ['--grace-period', '20s', '--drain', 'min=1s,quiet=3s,max=9s'];
    assert.equal(await explain(adaptive), `${tree}; ${late('14 to 16 s')}`);
    const group = 'the process group, and what the first process has left behind';
    const ladder = ['--signal-to', 'group', '--stop', 'QUIT:3s,KILL'];
    assert.equal(await explain(ladder), `QUIT reaches ${group}; ${late('2 s')}`);
    const rungs = ['--signal-to', 'first', '--grace-period', '20s', '--stop', 'QUIT:3s,INT'];
    const first = 'the first process, and what that has left behind';
    assert.equal(await explain(rungs), `QUIT reaches ${first}; ${late('14 s')}`);
    const withoutInit = [NODE, join(ROOT, 'src/cli/main.ts')];
    assert.equal(await explain([], withoutInit), 'TERM reaches the process group alone: there is no sexton-init here');
    assert.equal(
      await explain(['--signal-to', 'first'], withoutInit),
      'TERM reaches the first process alone: there is no sexton-init here',
    );
  });

  it('sexton explain cuts nothing where it prints to a pipe (D9)', async () => {
    const hook = `exec:${'/bin/flush '.repeat(20)}now`;
    const { stdout } = await sexton(['explain', '--pre-stop', hook, '--', 'nginx', '-g', 'daemon off; '.repeat(10)]);
    assert.match(stdout, /^pre-stop +exec:(\/bin\/flush ){20}now +--pre-stop$/m);
    assert.match(stdout, /^command +\["nginx","-g","(daemon off; ){10}"\] +command line$/m);
  });

  it('sexton explain prints the configuration as JSON', async () => {
    const { stdout } = await sexton(['explain', '--output=json', 'run', '--grace-period', '20s', 'nginx', '-t']);
    const { member, command, sources } = JSON.parse(stdout) as Record<string, unknown>;
    assert.equal((member as { gracePeriodMs: number }).gracePeriodMs, 20_000);
    assert.deepEqual(command, ['nginx', '-t']);
    assert.equal((sources as unknown[]).length, KEYS.length + 1);
  });

  it('sexton explain refuses what run would refuse, with the same message', async () => {
    const { stderr, stdout, code } = await sexton(['explain', '--drain', '5', 'x']);
    assert.equal(stderr, 'sexton: cannot start: --drain 5: a duration needs a unit; write 5s or 5ms\n');
    assert.equal(stdout, '');
    assert.equal(code, 125);
  });
});

describe('sexton status', { concurrency: 2 }, () => {
  it('sexton status prints the members of the graveyard, and what it cannot read', async (t) => {
    const { graveyard } = await tempGraveyard(t);
    const stone = {
      Version: 1,
      Name: 'web',
      Role: 'main',
      Phase: 'running',
      Restarts: 2,
      Born: new Date().toISOString(),
    } as const;
    await writeFile(join(graveyard, 'web'), formatTombstone(stone));
    await writeFile(join(graveyard, 'old'), 'Born: 2020-01-01T00:00:00Z\nDied: 2020-01-01T00:00:01Z\nExitCode: 3\n');
    await writeFile(join(graveyard, 'half'), '{"Version": 1, "Na');
    const { stdout, code, stderr } = await sexton(['status'], { SEXTON_GRAVEYARD: graveyard });
    assert.equal(stderr, '');
    assert.match(stdout, /^web +main +running +- +\d+s +2 +- +- +-$/m);
    assert.match(stdout, /^old +- +dead +- +\d+d\d*h? +0 +3 \d+d ago +/m);
    assert.match(stdout, /^cannot read half: /m);
    assertNarrow(stdout);
    assert.equal(code, 0);
  });

  it('sexton status prints whole tombstones as JSON', async (t) => {
    const { graveyard } = await tempGraveyard(t);
    await writeFile(join(graveyard, 'web'), formatTombstone({ Version: 1, Name: 'web', Incarnation: 'abc-1' }));
    const { stdout } = await sexton(['status', '--graveyard', graveyard, '-o', 'json']);
    assert.deepEqual(JSON.parse(stdout), {
      graveyard,
      members: [{ Version: 1, Name: 'web', Incarnation: 'abc-1', IsAsleep: false }],
      unreadable: [],
      unknown: [],
    });
  });

  it('--check reports by its exit code whether a member is healthy (E5)', async (t) => {
    const { graveyard } = await tempGraveyard(t);
    const born = new Date().toISOString();
    const put = (stone: object) =>
      writeFile(join(graveyard, 'web'), formatTombstone({ Version: 1, Name: 'web', ...stone }));
    const check = (...args: readonly string[]) => sexton(['status', '--graveyard', graveyard, '--check', ...args]);
    await put({ Phase: 'starting', Born: born, Started: born });
    assert.deepEqual(await check('web'), { stdout: 'web: not healthy: starting\n', stderr: '', code: 1 });
    await put({ Phase: 'running', Born: born, Started: born, Healthy: born });
    assert.deepEqual(await check('web'), { stdout: 'web: healthy\n', stderr: '', code: 0 });
    await put({ Phase: 'dead', Born: born, Healthy: born, Died: born, ExitCode: 0 });
    assert.deepEqual(await check('web'), { stdout: 'web: not healthy: dead\n', stderr: '', code: 1 });
    assert.deepEqual(await check('db'), { stdout: 'db: no such member\n', stderr: '', code: 1 });
    const unnamed = await check();
    assert.match(unnamed.stderr, /--check: PID 1 is not a sexton that can be read; name the member\n$/);
    assert.equal(unnamed.code, 125);
  });

  it('--watch shows the members again and again, until its reader has seen enough (E5)', async (t) => {
    const { graveyard } = await tempGraveyard(t);
    await writeFile(join(graveyard, 'web'), formatTombstone({ Version: 1, Name: 'web', Phase: 'running' }));
    const child = spawn(NODE, [join(ROOT, 'src/cli/main.ts'), 'status', '--watch', '--graveyard', graveyard]);
    const closed = once(child, 'close');
    let seen = '';
    for await (const part of child.stdout.setEncoding('utf8')) {
      seen += part;
      // Leaving the loop closes the pipe.
      if (seen.split('NAME').length > 3) break;
    }
    assert.match(seen, /web +- +running[\s\S]*web +- +running/);
    assert.deepEqual(await closed, [0, null]);
  });

  it('sexton status says that an empty graveyard is empty', async (t) => {
    const { graveyard } = await tempGraveyard(t);
    assert.equal((await sexton(['status', `--graveyard=${graveyard}`])).stdout, `no tombstones in ${graveyard}\n`);
  });

  it('sexton status ends with 125 and the remedy when there is no graveyard', async (t) => {
    const { dir } = await tempGraveyard(t);
    await mkdir(join(dir, 'x'));
    const { stderr, stdout, code } = await sexton(['status', '--graveyard', join(dir, 'none')]);
    assert.equal(
      stderr,
      `sexton: cannot read the graveyard ${dir}/none: no such directory; name the shared directory with --graveyard DIR\n`,
    );
    assert.equal(stdout, '');
    assert.equal(code, 125);
  });

  const SLIPS: readonly (readonly [readonly string[], string])[] = [
    [
      ['--graveyard', 'here'],
      '--graveyard here: must be an absolute path; write one such as /graveyard, or $PWD/here in a shell',
    ],
    [['web'], 'web: only --check takes a name'],
  ];
  for (const [args, problem] of SLIPS) {
    it(`sexton status refuses \`${args.join(' ')}\``, async () => {
      const { stderr, code } = await sexton(['status', ...args]);
      assert.equal(stderr, `sexton: cannot run sexton status: ${problem}\n`);
      assert.equal(code, 125);
    });
  }
});
