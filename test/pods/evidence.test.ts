/** The evidence of real members: in the termination log, in the log and in the tombstone. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { AWAKE, type ContainerOptions, isSupervisor, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { childrenOf, send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { NO_MOUNTS, readEvidence, withTerminationLog } from '../helpers/termination-log.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForRunning, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { copySexton } from '../stops/copy.ts';

function start(stage: Stage, options: ContainerOptions): ReturnType<typeof startContainer> {
  const { scratch } = stage;
  return startContainer(scratch, {
    ...options,
    flags: ['--name', 'web', '--graveyard', scratch.graveyard, '--log-format', 'json', ...(options.flags ?? [])],
  });
}

/** From then on it takes its signals by itself. */
function waitForStart({ scratch }: Stage, lives = 1): Promise<unknown> {
  return waitFor('it has started', () => readTimeline(scratch.log).of('web', 'Started').length >= lives);
}

describe('the termination log', { concurrency: atOnce(2) }, () => {
  scenario('the termination log, the log and the tombstone have the stop of a member of any uid', async (stage) => {
    const { scratch } = stage;
    const log = scratch.path('termination');
    const container = start(stage, {
      user: 12_345,
      flags: ['--termination-log', log, '--drain', '9m', '--stop', 'USR1:1ms,TERM', '--grace-period', '10m'],
      command: member(stage, 'web', { trap: 'USR1', term: 20, termexit: 7 }),
    });
    await waitForStart(stage);
    await container.signal('SIGTERM');
    await waitForTombstone(scratch.graveyard, 'web', 'drains', (it) => it.Phase === 'draining');
    // Another one: the same signal within a second is the same request.
    await container.signal('SIGINT');
    assert.equal((await container.exit()).status, 7);
    const evidence = readEvidence(log);
    assert.deepEqual(
      // On a slow machine it takes some time to read the graveyard.
      evidence.Phases?.map(({ Phase, Signal }) => Signal ?? Phase).filter((phase) => phase !== 'wake'),
      ['drain', 'SIGUSR1', 'SIGTERM'],
    );
    const { Name, Reason, ExitCode, ContainerExitCode, StopReason, ForcedBy, GraceMs, Restarts } = evidence;
    assert.deepEqual([Name, Reason, ExitCode, ContainerExitCode], ['web', 'stopped', 7, 7]);
    assert.deepEqual([StopReason, ForcedBy, GraceMs, Restarts], ['signal TERM', undefined, 600_000, 0]);
    assert.match(
      evidence.Summary,
      /^stopped in .* \(signal TERM\): .*drain .*, exit code 7, not forced, [0-9]+ s of grace left$/,
    );
    const history = readTombstone(scratch.graveyard, 'web')?.History ?? [];
    assert.equal(history.find(({ Event }) => Event === 'over')?.Summary, evidence.Summary);
    const lines = container
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"summary"'));
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { summary: string }).summary),
      [evidence.Summary],
    );
  });

  scenario('the termination log names the sender of a KILL and counts the restarts before it', async (stage) => {
    const { scratch } = stage;
    const log = scratch.path('termination');
    const container = start(stage, {
      flags: ['--termination-log', log, '--restart', 'on-failure', '--stop', 'USR1:1ms,KILL'],
      command: member(stage, 'web', { counter: scratch.path('lives'), runs: '1,0', exits: '3,0', trap: 'USR1' }),
    });
    await waitForTombstone(
      scratch.graveyard,
      'web',
      'lives again',
      (it) => it.Restarts === 1 && it.Phase === 'running',
    );
    await waitForStart(stage, 2);
    assert.ok(!existsSync(log));
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 137);
    const { ForcedBy, Restarts, Signal, Summary } = readEvidence(log);
    assert.deepEqual([ForcedBy, Restarts, Signal], ['sexton', 1, 'SIGKILL']);
    assert.match(Summary, /ended by SIGKILL, killed by sexton.*, restarted 1 time$/);
  });

  scenario('C3: the termination log reports a container that was killed early, in its drain', async (stage) => {
    const { scratch } = stage;
    const log = scratch.path('termination');
    const container = start(stage, {
      flags: ['--termination-log', log, '--drain', '9m', '--grace-period', '10m'],
      command: member(stage, 'web', {}),
    });
    await waitForStart(stage);
    await container.signal('SIGTERM');
    await waitFor('it is written', () => existsSync(log) && readFileSync(log, 'utf8').includes('"Unfinished":"drain"'));
    await container.signal('SIGKILL');
    await container.exit();
    const { Summary, StopReason, StopRequested = '', GraceMs, Reason } = readEvidence(log);
    assert.match(
      Summary,
      /^asked to stop \(signal TERM\): .*draining, the command was not told to stop; if nothing later/,
    );
    assert.deepEqual([StopReason, GraceMs, Reason], ['signal TERM', 600_000, undefined]);
    assert.ok(Date.parse(StopRequested) > 0);
  });

  scenario(
    'C3: the termination log keeps only what the application itself leaves in it',
    async (stage) => {
      const log = stage.scratch.path('termination');
      const script = `trap 'echo out of paper >> ${log}; exit 3' TERM; while :; do read line < ${stage.scratch.path('none')}; done`;
      const container = start(stage, {
        flags: ['--termination-log', log, '--drain', '1s'],
        inside: ['sh', '-c', `mkfifo ${stage.scratch.path('none')} && exec "$@"`, 'sh'],
        command: ['bash', '-c', script],
      });
      await waitForTombstone(stage.scratch.graveyard, 'web', 'runs', (it) => it.Phase === 'running');
      await container.signal('SIGTERM');
      await waitFor('it is written', () => existsSync(log) && readFileSync(log, 'utf8').includes('"Unfinished"'));
      assert.equal((await container.exit()).status, 3);
      assert.equal(readFileSync(log, 'utf8'), 'out of paper\n');
    },
    { notInPodman: 'its image has no bash' },
  );

  scenario('the termination log is written by a supervisor that came back during the stop', async (stage) => {
    const { scratch } = stage;
    const [log, done] = [scratch.path('termination'), scratch.path('done')];
    const container = start(stage, {
      flags: ['--termination-log', log, '--grace-period', '10m', ...AWAKE],
      command: member(stage, 'web', { until: done }),
    });
    await waitForTombstone(scratch.graveyard, 'web', 'runs', (it) => it.Phase === 'running');
    await waitForStart(stage);
    await container.signal('SIGTERM');
    await waitForTombstone(scratch.graveyard, 'web', 'stops', (it) => it.Phase === 'stopping');
    const first = await container.supervisor();
    send(first, 'SIGKILL');
    await container.supervisor(first);
    writeFileSync(done, '');
    assert.equal((await container.exit()).status, 0);
    assert.deepEqual(
      readEvidence(log).Phases?.flatMap(({ Signal }) => Signal ?? []),
      ['SIGTERM'],
    );
  });

  scenario(
    'the termination log at its usual place is used and keeps the application’s text',
    async (stage) => {
      const { scratch } = stage;
      const [ours, theirs] = [scratch.path('ours'), scratch.path('theirs')];
      for (const [file, words] of [
        [ours, ''],
        [theirs, 'out of paper\n'],
      ] as const) {
        writeFileSync(file, words);
        const container = start(stage, { inside: withTerminationLog(stage, file), command: ['/nope'] });
        assert.equal((await container.exit()).status, 127);
      }
      assert.match(readEvidence(ours).Summary, /^never started: \/nope: not found; check .*, exit code 127$/);
      assert.equal(readFileSync(theirs, 'utf8'), 'out of paper\n');
    },
    { notInPodman: NO_MOUNTS },
  );

  scenario('the termination log stays empty for a command that fails by itself, awake or asleep', async (stage) => {
    const { scratch } = stage;
    for (const flags of [AWAKE, ['--sleep-after', '100ms']]) {
      const name = flags[1] ?? '';
      const [log, end] = [scratch.path(`log-${name}`), scratch.path(`end-${name}`)];
      const command = member(stage, name, { after: end, run: 1, exit: 4 });
      // As a restart in place leaves it.
      writeFileSync(log, '{"Summary":"asked to stop (restart requested)"}\n');
      const container = start(stage, { flags: ['--termination-log', log, ...flags], command });
      await waitForEvent(scratch.log, name, 'Started');
      if (flags !== AWAKE)
        await waitFor('it sleeps', async () => !childrenOf(await container.pid1()).some(isSupervisor));
      writeFileSync(end, '');
      assert.equal((await container.exit()).status, 4);
      assert.equal(readFileSync(log, 'utf8'), '');
    }
  });

  scenario('the termination log of a container without a supervisor keeps the application’s text', async (stage) => {
    const { scratch } = stage;
    const [log, end] = [scratch.path('termination'), scratch.path('end')];
    for (const [name, words] of [
      ['silent', ''],
      ['talker', `echo out of paper > ${log};`],
    ] as const) {
      rmSync(end, { force: true });
      const copy = copySexton(scratch);
      const flags = ['--name', name, '--graveyard', scratch.graveyard, ...AWAKE];
      const script = `while ! test -e ${end}; do sleep 0.05; done; ${words} exit 4`;
      const container = startContainer(scratch, {
        bare: true,
        env: { SEXTON_TERMINATION_LOG: log },
        command: [copy.sexton, 'run', ...flags, '--', 'sh', '-c', script],
      });
      await waitForRunning(scratch.graveyard, [name]);
      const supervisor = await container.supervisor();
      copy.remove('app');
      send(supervisor, 'SIGKILL');
      await waitFor('init goes on alone', () => container.stderr().includes('goes on without it'));
      writeFileSync(end, '');
      assert.equal((await container.exit()).status, 4);
      const left = readFileSync(log, 'utf8');
      if (words === '') assert.match(left, /^{"Summary":"ended without a supervisor \(.*\), exit code 4",/);
      else assert.equal(left, 'out of paper\n');
      copy.remove();
    }
  });

  scenario('the termination log is made only on request, and an unwritable one is reported', async (stage) => {
    const { scratch } = stage;
    const quiet = start(stage, { command: ['sh', '-c', 'test ! -e /dev/termination-log'] });
    assert.equal((await quiet.exit()).status, 0);
    assert.ok(!existsSync('/dev/termination-log'));
    assert.doesNotMatch(quiet.stderr(), /termination/);
    const path = scratch.path('none/termination');
    const told = start(stage, { flags: ['--termination-log', path], command: ['sh', '-c', 'exit 5'] });
    assert.equal((await told.exit()).status, 5);
    assert.match(told.stderr(), /"message":"cannot write \S+: ENOENT; the evidence is in the log"/);
  });

  scenario('a link in place of the termination log is not followed, and reported', async (stage) => {
    const { scratch } = stage;
    const path = scratch.path('termination');
    symlinkSync('private', path);
    const told = start(stage, { flags: ['--termination-log', path], command: ['sh', '-c', 'exit 5'] });
    assert.equal((await told.exit()).status, 5);
    assert.match(told.stderr(), /"message":"cannot write \S+: ELOOP; the evidence is in the log"/);
    assert.ok(!existsSync(scratch.path('private')));
  });

  scenario('a termination log that is a pipe without a reader holds up nothing', async (stage) => {
    const { scratch } = stage;
    const path = scratch.path('pipe');
    const container = start(stage, {
      flags: ['--termination-log', path],
      inside: ['sh', '-c', `mkfifo ${path} && exec "$@"`, 'sh'],
      command: ['sh', '-c', 'exit 5'],
    });
    assert.equal((await container.exit()).status, 5);
    assert.match(container.stderr(), /it is no regular file/);
  });
});
