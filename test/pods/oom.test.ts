/** Sexton names the sender of a KILL: the kernel's OOM killer, itself, or an unknown one. The memory limit is real. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { countIn } from '../../src/runtime/oom.ts';
import { type Cgroup, makeCgroup, whyNoCgroup } from '../helpers/cgroup.ts';
import { AWAKE, type Container, type ContainerOptions, startContainer } from '../helpers/container.ts';
import { ENGINE } from '../helpers/engine.ts';
import { type MemberOptions, member } from '../helpers/member.ts';
import { argumentsOf, childrenOf, send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';

const LIMIT_MB = 160;
/** A supervisor fits into it, but not beside what the command takes. */
const TIGHT_MB = 48;
/** Beyond the limit, also where podman allows as much swap again. */
const TOO_MUCH_MB = 512;
const EATER = 'echo 1000 >/proc/self/oom_score_adj; exec tail /dev/zero';
const why = ENGINE === 'podman' ? undefined : whyNoCgroup('memory');

function hook(stage: Stage, name: string, options: MemberOptions = {}): string {
  return `exec:${member(stage, name, options).join(' ')}`;
}

function start(stage: Stage, flags: readonly string[], options: MemberOptions, limits = limitOf(stage)): Container {
  const { scratch } = stage;
  const declared = ['--name', 'app', '--graveyard', scratch.graveyard, '--restart-policy', 'Never'];
  return startContainer(scratch, {
    flags: [...declared, ...flags],
    command: member(stage, 'app', { counter: scratch.path('lives'), ...options }),
    ...limits,
  });
}

function limitOf(stage: Stage): Partial<ContainerOptions> {
  return ENGINE === 'podman' ? { memoryMb: LIMIT_MB } : { inside: entering(cgroupOf(stage, LIMIT_MB)) };
}

function cgroupOf({ scratch }: Stage, limitMb: number): Cgroup {
  const group = makeCgroup(scratch, 'memory');
  group.limit(limitMb << 20);
  return group;
}

/** A command that enters the cgroup and then executes its arguments. */
function entering({ dir }: Cgroup): readonly string[] {
  return ['sh', '-c', `echo $$ > ${dir}/cgroup.procs && exec "$@"`, 'sh'];
}

function oomKillsOf({ dir }: Cgroup): number | undefined {
  const file = ['memory.events', 'memory.oom_control'].map((name) => join(dir, name)).find((path) => existsSync(path));
  return countIn(readFileSync(file ?? '', 'latin1'));
}

/** The one with that name, killed from outside. */
async function kill(container: Container, name: string): Promise<void> {
  const pid = childrenOf(await container.pid1()).find((it) => argumentsOf(it)[1] === `name=${name}`);
  assert.ok(pid !== undefined && send(pid, 'SIGKILL'), name);
}

function exitsOf(stage: Stage): unknown[] {
  const { History = [] } = readTombstone(stage.scratch.graveyard, 'app') ?? {};
  return History.filter((it) => it.Event === 'exited').map(({ Signal, By, ExitCode }) => [Signal ?? ExitCode, By]);
}

describe('the sender of a KILL', { skip: why ?? false }, () => {
  scenario('N37 an OOM kill is named, runs no pre-stop hook, and restarts the command by its policy', async (stage) => {
    const flags = ['--restart', 'on-failure', '--pre-stop', hook(stage, 'bye', { run: 1 })];
    const container = start(stage, flags, { hog: `${TOO_MUCH_MB},0`, runs: '1,0' });
    await waitForEvent(stage.scratch.log, 'app', 'Starting', 2);
    const log = readTimeline(stage.scratch.log);
    log.neverStarted('bye');
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
    assert.equal(
      readTimeline(stage.scratch.log).of('bye', 'Exiting').length,
      1,
      'for the life that was stopped it runs',
    );
    assert.deepEqual(exitsOf(stage), [
      ['SIGKILL', 'OOM killer'],
      [0, undefined],
    ]);
    const { Reason, LastReason, LastExitCode, Restarts } = readTombstone(stage.scratch.graveyard, 'app') ?? {};
    assert.deepEqual([Reason, LastReason, LastExitCode, Restarts], ['stopped', 'oom', 137, 1]);
    const told = container
      .stderr()
      .split('\n')
      .filter((it) => it.includes('OOM killer'))
      .map((it) => JSON.parse(it));
    assert.deepEqual(
      told.map(({ level, message }) => [level, message]),
      [['error', 'exited']],
    );
  });

  scenario('the tombstone distinguishes a KILL by an unknown sender from a KILL by sexton', async (stage) => {
    const container = start(stage, ['--restart', 'on-failure', '--grace-period', '2s'], { ignore: 'TERM' });
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    await kill(container, 'app');
    await waitForEvent(stage.scratch.log, 'app', 'Started', 2);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 137);
    assert.deepEqual(exitsOf(stage), [
      ['SIGKILL', 'an unknown sender'],
      ['SIGKILL', 'sexton'],
    ]);
    assert.equal(readTombstone(stage.scratch.graveyard, 'app')?.Reason, 'killed');
  });

  scenario('a command that has left a supervisor no room is restarted by its policy when it dies', async (stage) => {
    const container = start(stage, ['--restart', 'on-failure', ...AWAKE], { fill: LIMIT_MB - 12 });
    await waitFor('init is alone', () => /no room; the application goes on without it/.test(container.stderr()));
    await kill(container, 'app');
    await waitForEvent(stage.scratch.log, 'app', 'Starting', 2);
    await container.kill();
  });

  scenario('what a plain command leaves behind is killed where it leaves a supervisor no room', async (stage) => {
    const { scratch } = stage;
    const worker = member(stage, 'worker', { fill: LIMIT_MB - 12, ignore: 'TERM' }).join(' ');
    const script = `${worker} & until grep -q worker ${scratch.log}; do sleep 0.1; done; exit 3`;
    const container = startContainer(scratch, { command: ['sh', '-c', script], ...limitOf(stage) });
    assert.equal((await container.exit()).status, 3);
    assert.equal(container.stderr().match(/no room; the application goes on without it/g)?.length, 1);
  });

  for (const [name, flags] of [
    ['after a drain', ['--drain', '200ms']],
    ['that begins at once', AWAKE],
  ] as const) {
    scenario(
      `a command gets the memory of the supervisor for a stop ${name}`,
      async (stage) => {
        const { scratch } = stage;
        const group = cgroupOf(stage, TIGHT_MB);
        // All but 8 MiB of it: `tail` keeps its input, which has no line end.
        const stop = 'head -c 41943040 /dev/zero | tail >/dev/null; exit 3';
        const container = startContainer(scratch, {
          flags: ['--graveyard', scratch.graveyard, '--grace-period', '20s', ...flags],
          command: ['sh', '-c', `trap '${stop}' TERM; : >${scratch.path('up')}; while :; do sleep 0.1; done`],
          inside: entering(group),
        });
        await waitFor('it runs', () => existsSync(scratch.path('up')));
        await container.supervisor();
        await container.signal('SIGTERM');
        assert.equal((await container.exit()).status, 3);
        assert.equal(oomKillsOf(group), 0);
        assert.doesNotMatch(container.stderr(), /the supervisor was started again/);
        if (name === 'after a drain') assert.match(container.stderr(), /"stopping"/, 'said before it had to go');
      },
      { notInPodman: 'the test reads the cgroup of the container' },
    );
  }

  scenario(
    'a supervisor that has made room for the command is back in time for KILL',
    async (stage) => {
      const { scratch } = stage;
      const container = startContainer(scratch, {
        flags: ['--name', 'app', '--graveyard', scratch.graveyard, '--grace-period', '4s', ...AWAKE],
        command: ['sh', '-c', `trap '' TERM; : >${scratch.path('up')}; while :; do sleep 0.1; done`],
        inside: entering(cgroupOf(stage, TIGHT_MB)),
      });
      await waitFor('it runs', () => existsSync(scratch.path('up')));
      const first = await container.supervisor();
      await container.signal('SIGTERM');
      await container.supervisor(first);
      assert.equal((await container.exit()).status, 137);
      assert.equal(readTombstone(scratch.graveyard, 'app')?.Reason, 'killed');
      assert.deepEqual(exitsOf(stage), [['SIGKILL', 'sexton']]);
    },
    { notInPodman: 'the test sets a limit of the cgroup' },
  );

  scenario('an OOM kill of a probe is reported as such, and a later KILL of the command is not', async (stage) => {
    const greedy = `${hook(stage, 'probe', { run: 1, hog: TOO_MUCH_MB })},timeout=40s,period=40s,failures=1`;
    const container = start(stage, ['--readiness', greedy], {});
    await waitFor('the probe has failed', () => container.stderr().includes('readiness probe: failure'));
    assert.match(container.stderr(), /"detail":"killed by the OOM killer; raise the memory limit of the container"/);
    await kill(container, 'app');
    assert.equal((await container.exit()).status, 137);
    assert.deepEqual(exitsOf(stage), [['SIGKILL', 'an unknown sender']]);
    assert.equal(readTombstone(stage.scratch.graveyard, 'app')?.Reason, 'killed');
  });

  scenario(
    'OOM kills of two supervisors in a row are not put down to the command',
    async (stage) => {
      const limits = limitOf(stage);
      const container = start(stage, AWAKE, {}, limits);
      await waitForEvent(stage.scratch.log, 'app', 'Started');
      const first = await container.supervisor();
      // The count does not show whose kill it was: each eater stands for a supervisor.
      const [file = '', ...args] = [...(limits.inside ?? []), 'sh', '-c', EATER];
      for (const _ of [1, 2]) assert.equal(spawnSync(file, args).signal, 'SIGKILL');
      send(first, 'SIGKILL');
      send(await container.supervisor(first), 'SIGKILL');
      await waitFor('the third acts', () => container.stderr().includes('the supervisor was started again'));
      await kill(container, 'app');
      assert.equal((await container.exit()).status, 137);
      assert.deepEqual(exitsOf(stage), [['SIGKILL', 'an unknown sender']]);
    },
    { notInPodman: 'needs a process in the cgroup of the container' },
  );
});
