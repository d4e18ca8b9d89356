/** A plain command runs without Node. A supervisor starts only for what has to be recorded all the same. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { nameFromCommand } from '../../src/config/notation/values.ts';
import { makeCgroup, whyNoCgroup } from '../helpers/cgroup.ts';
import { type Container, type ContainerOptions, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { SEXTON } from '../helpers/paths.ts';
import { argumentsOf, childrenOf, send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { NO_MOUNTS, readEvidence, withTerminationLog } from '../helpers/termination-log.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitFor } from '../helpers/wait.ts';

const [SIGHUP, SIGINT, SIGUSR1, SIGTERM] = [1, 2, 10, 15];

describe('a plain command', { concurrency: atOnce(2) }, () => {
  scenario('P16 has no process beside it, from its start to its end, and nothing is said', async (stage) => {
    const { scratch } = stage;
    const flags = ['--name', 'app', '--grace-period', '60s', '--restart-policy', 'Never'];
    const command = member(stage, 'app', { trap: 'all', until: scratch.path('done'), exit: 5 });
    const container = startContainer(scratch, { flags, command });
    await waitForEvent(scratch.log, 'app', 'Started');
    const pid1 = await container.pid1();
    assert.deepEqual(commandsOf(pid1), [command]);
    for (const signal of [SIGUSR1, SIGHUP, SIGTERM]) await hears(stage, pid1, signal);
    // It is asked for the second time, and by the other signal: the command may take it for "now".
    for (const signal of [SIGTERM, SIGINT]) await hears(stage, pid1, signal);
    assert.deepEqual(commandsOf(pid1), [command]);
    writeFileSync(scratch.path('done'), '');
    assert.equal((await container.exit()).status, 5);
    assert.equal(container.stderr(), '');
  });

  scenario('P16 hears each stop request also where Node is beside it', async (stage) => {
    const flags = ['--log-level', 'info', '--log-format', 'json'];
    const command = member(stage, 'app', { trap: 'all', until: stage.scratch.path('done') });
    const container = startContainer(stage.scratch, { flags, command });
    const said = (message: string) => waitFor(message, () => container.stderr().includes(`"${message}"`));
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    const pid1 = await container.pid1();
    await said('started');
    await hears(stage, pid1, SIGTERM);
    await said('asked to stop');
    await hears(stage, pid1, SIGTERM);
    await hears(stage, pid1, SIGINT);
    await said('asked to stop again');
    writeFileSync(stage.scratch.path('done'), '');
    assert.equal((await container.exit()).status, 0);
  });

  for (const [script, status] of [
    ['exit 0', 0],
    ['exit 7', 7],
    ['kill -SEGV $$', 139],
    ['kill -KILL $$', 137],
  ] as const) {
    scenario(`P16 ends with the code of its command, and nothing is said: ${script}`, async ({ scratch }) => {
      const container = startContainer(scratch, { command: ['sh', '-c', script] });
      assert.equal((await container.exit()).status, status);
      assert.equal(container.stderr(), '');
    });
  }

  scenario('has the words that are asked for, as before', async (stage) => {
    const flags = ['--log-level', 'info', '--log-format', 'json'];
    const container = startContainer(stage.scratch, { flags, command: ['sh', '-c', 'exit 7'] });
    assert.equal((await container.exit()).status, 7);
    const said = container.stderr().split('\n').filter(Boolean);
    assert.deepEqual(
      said.map((line) => (JSON.parse(line) as { message: string }).message),
      ['started', 'exited', 'dead'],
    );
  });

  scenario('P16 that is KILLed at the end of its grace period leaves a warning', async (stage) => {
    const flags = ['--grace-period', '400ms', '--log-format', 'json'];
    const container = startContainer(stage.scratch, { flags, command: member(stage, 'app', { ignore: 'TERM' }) });
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 137);
    const said = container.stderr().split('\n').filter(Boolean);
    assert.deepEqual(
      said.map((line) => JSON.parse(line)).map(({ level, message }) => [level, message]),
      [
        ['warn', 'killed by init: the deadline has come'],
        ['warn', 'exited'],
      ],
    );
  });

  for (const [what, left] of [
    ['in its group', ''],
    ['that has left its group', 'setsid '],
  ] as const)
    scenario(`P16 ends when what it has left behind has ended, which gets TERM: a process ${what}`, async (stage) => {
      const { scratch } = stage;
      const other = member(stage, 'left', { term: 100 }).join(' ');
      const app = member(stage, 'app', { run: 300, exit: 6 }).join(' ');
      const container = startContainer(scratch, { command: ['sh', '-c', `${left}${other} & exec ${app}`] });
      await waitForEvent(scratch.log, 'left', 'Started');
      assert.equal((await container.exit()).status, 6);
      assert.deepEqual(readTimeline(scratch.log).signals('left').slice(0, 1), [SIGTERM]);
      assert.equal(readTimeline(scratch.log).of('left', 'Exiting').length, 1);
    });
});

describe('the termination log of a plain command', { concurrency: atOnce(2) }, () => {
  evidence('is left alone by an end that nobody has asked for', async (stage, log) => {
    for (const [options, code] of [
      [{}, 0],
      [{ bare: true }, 0],
      [{}, 4],
      [{ bare: true }, 4],
    ] as const) {
      const container = start(stage, log, { ...options, command: asTini(options, ['sh', '-c', `exit ${code}`]) });
      assert.equal((await container.exit()).status, code);
      assert.equal(readFileSync(log, 'utf8'), '');
      assert.equal(container.stderr(), '');
    }
  });

  evidence('has a command that cannot be started', async (stage, log) => {
    assert.equal((await start(stage, log, { command: ['/does/not/exist'] }).exit()).status, 127);
    assert.match(readEvidence(log).Summary, /^never started: \/does\/not\/exist: not found; check .*, exit code 127$/);
  });

  evidence('has a stop, from its request to its end, without Node', async (stage, log) => {
    const flags = ['--name', 'app', '--grace-period', '10m', '--session', 'one'];
    const container = start(stage, log, { flags, command: member(stage, 'app', { term: 300 }) });
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    const pid1 = await container.pid1();
    await container.signal('SIGTERM');
    await waitFor('the stop is recorded', () => readFileSync(log, 'utf8') !== '');
    const begun = readEvidence(log);
    assert.match(
      begun.Summary,
      /^asked to stop \(signal TERM\): the command had not ended; if nothing later is written/,
    );
    assert.deepEqual([begun.Unfinished, begun.StopReason, begun.Died], ['ladder', 'signal TERM', undefined]);
    assert.equal(childrenOf(pid1).length, 1);
    assert.equal((await container.exit()).status, 0);
    const { Summary, StopMs = 0, GraceLeftMs, Born = '', StopRequested = '', Died = '', ...left } = readEvidence(log);
    assert.match(Summary, /^stopped in .* \(signal TERM\): exit code 0, not forced, [0-9]+ s of grace left$/);
    assert.deepEqual(left, {
      ...{ Version: 1, Name: 'app', Role: 'main', Session: 'one', Reason: 'stopped', StopReason: 'signal TERM' },
      ...{ ExitCode: 0, ContainerExitCode: 0, GraceMs: 600_000, Restarts: 0, OomKills: 0 },
    });
    assert.equal(GraceLeftMs, 600_000 - StopMs);
    assert.ok(Born < StopRequested && StopRequested < Died);
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [SIGTERM]);
  });

  evidence('leaves a message of the application there, and the evidence of its stop out', async (stage, log) => {
    const script = `trap 'echo mine >>/dev/termination-log; exit 3' TERM; echo up; while :; do sleep 60 & wait $!; done`;
    const container = start(stage, log, { command: ['sh', '-c', script] });
    await waitFor('its trap is set', () => container.stdout().includes('up'));
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 3);
    // It may be faster than init, whose line then follows.
    assert.match(readFileSync(log, 'utf8'), /^mine\n(?:\{"Summary":"asked to stop .*\n)?$/);
  });

  evidence('has the name that its command gives it', async (stage, log) => {
    const [program = '', ...options] = member(stage, 'app');
    for (const name of ['My_App.2-', '.-.']) {
      const copy = stage.scratch.path(name);
      copyFileSync(program, copy);
      writeFileSync(log, '');
      const container = start(stage, log, { command: [copy, ...options] });
      await waitForEvent(stage.scratch.log, 'app', 'Started');
      const [command = 0] = childrenOf(await container.pid1());
      assert.ok(send(command, 'SIGKILL'));
      assert.equal((await container.exit()).status, 137);
      const { Name, Summary } = readEvidence(log);
      assert.deepEqual([Name, Summary], [nameFromCommand(copy), 'killed by an unknown sender, ended by SIGKILL']);
      const line = JSON.parse(container.stderr());
      assert.deepEqual([line.level, line.member, line.message, line.reason], ['error', Name, 'dead', 'killed']);
      rmSync(stage.scratch.log);
    }
  });

  describe('says who killed the command', { skip: whyNoCgroup('memory') ?? false }, () => {
    evidence('the OOM killer, though nobody had looked before', async (stage, log) => {
      const { exit } = startGreedy(stage, log);
      assert.equal((await exit()).status, 137);
      const { Summary, Reason, ForcedBy, OomKills } = readEvidence(log);
      assert.deepEqual([Reason, ForcedBy, OomKills], ['oom', 'OOM killer', 1]);
      assert.equal(Summary, 'killed by the OOM killer, ended by SIGKILL');
    });

    evidence('somebody else, though the OOM killer was here before', async (stage, log) => {
      // What is started before sexton is killed for want of memory in the same cgroup.
      const before = `echo 1000 >/proc/self/oom_score_adj; exec ${member(stage, 'before', { hog: TOO_MUCH_MB, run: 1 }).join(' ')}`;
      const container = startGreedy(stage, log, `sh -c '${before}';`, {});
      await waitForEvent(stage.scratch.log, 'app', 'Started');
      const [command = 0] = childrenOf(await container.pid1());
      assert.ok(send(command, 'SIGKILL'));
      assert.equal((await container.exit()).status, 137);
      const { Reason, ForcedBy } = readEvidence(log);
      assert.deepEqual([Reason, ForcedBy], ['killed', 'an unknown sender']);
    });
  });
});

const LIMIT_MB = 160;
const TOO_MUCH_MB = 512;

/** Under a limit of memory that its command exceeds. */
function startGreedy(
  stage: Stage,
  log: string,
  before = '',
  options: object = { hog: TOO_MUCH_MB, run: 1 },
): Container {
  const group = makeCgroup(stage.scratch, 'memory');
  group.limit(LIMIT_MB << 20);
  const enter = ['sh', '-c', `echo $$ > ${group.dir}/cgroup.procs; ${before} exec "$@"`, 'sh'];
  const inside = [...withTerminationLog(stage, log), ...enter];
  return startContainer(stage.scratch, { inside, command: member(stage, 'app', { ...options }) });
}

function evidence(title: string, body: (stage: Stage, log: string) => Promise<void>): void {
  scenario(
    `P16 ${title}`,
    async (stage) => {
      const log = stage.scratch.path('termination');
      writeFileSync(log, '');
      await body(stage, log);
    },
    { notInPodman: NO_MOUNTS },
  );
}

function start(stage: Stage, log: string, options: ContainerOptions): Container {
  return startContainer(stage.scratch, { ...options, inside: withTerminationLog(stage, log) });
}

/** Runs sexton in place of tini, by a link of that name. */
function asTini({ bare = false }: { readonly bare?: boolean }, command: readonly string[]): readonly string[] {
  return bare
    ? ['sh', '-c', `ln -sf ${SEXTON} "$SCRATCH/tini" && exec "$SCRATCH/tini" "$@"`, 'sh', ...command]
    : command;
}

/** The command lines of the processes beside PID 1. */
function commandsOf(pid1: number): readonly (readonly string[])[] {
  return childrenOf(pid1).map((it) => [...argumentsOf(it)]);
}

/** Sends it to init, and waits until the command has had it once more. */
async function hears({ scratch }: Stage, pid1: number, signal: number): Promise<void> {
  const count = (): number =>
    readTimeline(scratch.log)
      .signals('app')
      .filter((it) => it === signal).length;
  const before = count();
  assert.ok(send(pid1, signal));
  await waitFor(`${signal} has come`, () => count() > before);
}
