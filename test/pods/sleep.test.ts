/** Pods whose supervisors sleep: what they do is what they would have done awake. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { AWAKE, isSupervisor } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import type { MemberOptions } from '../helpers/member.ts';
import { run } from '../helpers/outcome.ts';
import { SEXTON } from '../helpers/paths.ts';
import { childrenOf } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { type Pod, type PodContainer, type RunningPod, runPod } from './kubelet.ts';
import { AMPLE_MS, cast, type More } from './members.ts';

const SLEEPS = ['--sleep-after', '300ms', '--log-level', 'debug'];

function count(pod: RunningPod, name: string, what: RegExp): number {
  return pod.current(name).stderr().match(what)?.length ?? 0;
}

/** It has gone to sleep so often, and only its init and its command are left. */
async function asleep(pod: RunningPod, name: string, times = 1): Promise<void> {
  const isAsleep = (): boolean => !/awake again/.test(sinceAsleep(pod, name));
  await waitFor(`${name} is asleep`, () => isAsleep() && count(pod, name, /asleep until something happens/g) >= times);
  await waitFor(`${name} has no supervisor`, async () => !(await hasSupervisor(pod, name)));
}

async function hasSupervisor(pod: RunningPod, name: string): Promise<boolean> {
  return childrenOf(await pod.current(name).pid1()).some(isSupervisor);
}

/** A sidecar that sleeps before it has met its main is woken by it. */
async function met(pod: RunningPod, name: string): Promise<void> {
  await waitFor(`${name} has met its main`, () => count(pod, name, /the handle of a member: held/g) > 0);
}

/** Where supervisors are killed at random their words are not those that a test waits for; what they do is. */
const IS_KILLED = process.env.TEST_SUPERVISOR_KILLS !== undefined;

function saysHow(pod: RunningPod, name: string, how: RegExp): void {
  if (!IS_KILLED) assert.match(pod.current(name).stderr(), how);
}

function wokenOnly(pod: RunningPod, name: string): void {
  if (IS_KILLED) return;
  assert.equal(count(pod, name, /the supervisor was started again/g), 0, 'to be woken is no crash');
}

/** What it has said since it last went to sleep: the start of another container may have woken it before. */
function sinceAsleep(pod: RunningPod, name: string): string {
  return /.*asleep until something happens(.*)/s.exec(pod.current(name).stderr())?.[1] ?? 'awake again';
}

function neverWoken(pod: RunningPod, name: string): void {
  const since = sinceAsleep(pod, name);
  if (!IS_KILLED) assert.doesNotMatch(since, /awake again/, `a supervisor was started for ${name}: ${since}`);
}

/** A pod of `proxy` and `work`, once both are asleep. */
async function sleepingPod(
  stage: Stage,
  {
    policy = 'Never',
    options = {},
    flags = [],
    more = {},
  }: { policy?: Pod['restartPolicy']; options?: MemberOptions; flags?: string[]; more?: More } = {},
): Promise<RunningPod> {
  const { main, sidecar, running } = cast(stage);
  const containers = [sidecar('proxy', {}, SLEEPS), main('work', options, [...flags, ...SLEEPS], more)];
  const pod = runPod(stage.scratch, { restartPolicy: policy, graceMs: AMPLE_MS, containers });
  await running('proxy', 'work');
  await met(pod, 'proxy');
  await asleep(pod, 'proxy');
  await asleep(pod, 'work');
  return pod;
}

describe('pods that sleep', { concurrency: atOnce(3) }, () => {
  scenario('P15 a sidecar that sleeps ends with its main, which slept too', async (stage) => {
    const { served, open } = cast(stage);
    const pod = await sleepingPod(stage, { options: { run: 1, ...served } });
    open();
    assert.equal(await pod.end(), 'Succeeded');
    readTimeline(stage.scratch.log).exitsBeforeSignalTo('work', 'proxy');
    for (const name of ['proxy', 'work']) neverWoken(pod, name);
  });

  scenario('P15 a sleeping main ends without a supervisor and leaves the same record', async (stage) => {
    const { main, served, open, running } = cast(stage);
    const { scratch } = stage;
    const told = (name: string): readonly string[] => ['--termination-log', scratch.path(`evidence-${name}`)];
    const one = (name: string, options: MemberOptions, flags: readonly string[]): PodContainer =>
      main(name, { run: 1, exit: 7, ...options }, [...told(name), ...flags]);
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: AMPLE_MS,
      containers: [one('awake', { after: scratch.path('end') }, AWAKE), one('sleeper', served, SLEEPS)],
    });
    await running('awake', 'sleeper');
    await asleep(pod, 'sleeper');
    const pid1 = await pod.current('sleeper').pid1();
    await waitFor('its supervisor is reaped', () => childrenOf(pid1).length === 1);
    open();
    await waitForTombstone(scratch.graveyard, 'sleeper', 'is dead', (it) => it.Phase === 'dead');
    writeFileSync(scratch.path('end'), '');
    assert.equal(await pod.end(), 'Failed');
    const ends = ['awake', 'sleeper'].map((name) => {
      const { level, ...said } = JSON.parse(pod.current(name).stderr().trimEnd().split('\n').at(-1) ?? '');
      const left = readFileSync(scratch.path(`evidence-${name}`), 'utf8');
      const { History, ...record } = readTombstone(scratch.graveyard, name) ?? {};
      const all = JSON.stringify([pod.exitOf(name), said, left, record]);
      const common = all
        .replaceAll(name, 'NAME')
        .replaceAll(/\d{4}-[-:.T0-9]+Z/g, 'TIME')
        .replaceAll(/"(Incarnation|DiedMonotonic)":("[^"]*"|\d+)/g, '"$1":0');
      return { level, all: JSON.parse(common) };
    });
    assert.deepEqual(ends[1]?.all, ends[0]?.all);
    assert.equal(ends[1]?.level, 'error', 'in one line for that of the end and that of the crash');
    neverWoken(pod, 'sleeper');
    if (!IS_KILLED) assert.equal(count(pod, 'sleeper', /"message":"dead"/g), 1);
  });

  scenario(
    'P15 a pod that sleeps stops in order without a supervisor, and reports what one awake does',
    async (stage) => {
      const { scratch } = stage;
      const { main, sidecar, running } = cast(stage);
      const told = async (flags: readonly string[], names: readonly [string, string]): Promise<readonly unknown[]> => {
        const [work, proxy] = names;
        const log = (name: string): readonly string[] => ['--termination-log', scratch.path(`evidence-${name}`)];
        const containers = [
          sidecar(proxy, {}, ['--mains', work, ...log(proxy), ...flags]),
          // A sidecar whose signal comes after the main's end would be woken by that end.
          main(work, { term: 300 }, [...log(work), ...flags]),
        ];
        const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
        await running(proxy, work);
        if (flags === SLEEPS) await met(pod, proxy);
        if (flags === SLEEPS) for (const name of names) await asleep(pod, name);
        await pod.delete();
        readTimeline(scratch.log).exitsBeforeSignalTo(work, proxy);
        if (flags === SLEEPS) for (const name of names) neverWoken(pod, name);
        return names.map((name) => {
          const { History, ...record } = readTombstone(scratch.graveyard, name) ?? {};
          const { Phases, ...left } = JSON.parse(readFileSync(scratch.path(`evidence-${name}`), 'utf8'));
          const text = JSON.stringify([pod.exitOf(name), left, record])
            .replaceAll(work, 'WORK')
            .replaceAll(proxy, 'PROXY')
            .replaceAll(/\d{4}-[-:.T0-9]+Z/g, 'TIME')
            .replaceAll(/\b[\d.]+ m?s\b/g, 'SPAN')
            .replaceAll(/"(Session|Incarnation|DiedMonotonic|Deadline|StopMs|GraceLeftMs)":("[^"]*"|\d+)/g, '"$1":0')
            // The phases are known to a supervisor only.
            .replace(/(\): ).*?(exit code)/, '$1$2');
          return JSON.parse(text);
        });
      };
      const awake = await told(AWAKE, ['work', 'proxy']);
      assert.deepEqual(await told(SLEEPS, ['labor', 'guard']), awake);
    },
  );

  scenario('P15 a sidecar that sleeps holds for a main that has just come back', async (stage) => {
    const { served, open, running } = cast(stage);
    const options = { runs: '1,0', counter: stage.scratch.path('count'), ...served };
    const pod = await sleepingPod(stage, { policy: 'Always', options, more: { backoff: async () => {} } });
    open();
    await waitForEvent(stage.scratch.log, 'work', 'Started', 2);
    // Until its tombstone says so, nothing tells that it is back.
    await running('work');
    await pod.delete();
    readTimeline(stage.scratch.log).exitsBeforeSignalTo('work', 'proxy');
  });

  scenario('P15 a main that takes long to stop in its sleep gets a supervisor, which reports it', async (stage) => {
    const { main, running } = cast(stage);
    const { scratch } = stage;
    const work = main('work', { ignore: 'TERM' }, SLEEPS);
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 8_000, containers: [work] });
    await running('work');
    await asleep(pod, 'work');
    const deleted = pod.delete();
    await waitForTombstone(scratch.graveyard, 'work', 'is stopping', (it) => it.Phase === 'stopping');
    await deleted;
    saysHow(pod, 'work', /"by":"event".*"message":"awake again"/);
  });

  scenario('P15 a sidecar that sleeps learns of a main whose whole container was killed', async (stage) => {
    const pod = await sleepingPod(stage);
    await pod.current('work').kill();
    assert.equal(await pod.end(), 'Failed');
    assert.equal(pod.exitOf('proxy'), 0);
    assert.equal(readTombstone(stage.scratch.graveyard, 'proxy')?.StopReason, 'mains finished');
    saysHow(pod, 'proxy', /the handle of a member: lost/);
    wokenOnly(pod, 'proxy');
  });

  scenario('P15 a main that sleeps drains, and its sidecar holds until it has ended', async (stage) => {
    const pod = await sleepingPod(stage, { policy: 'Always', flags: ['--drain', '6s'] });
    await pod.delete();
    readTimeline(stage.scratch.log).exitsBeforeSignalTo('work', 'proxy');
    saysHow(pod, 'work', /draining/);
    for (const name of ['proxy', 'work']) wokenOnly(pod, name);
  });

  scenario('P15 a pod that sleeps is restarted in place, and sleeps again', async (stage) => {
    const { graveyard } = stage.scratch;
    const pod = await sleepingPod(stage, { flags: ['--start-after', 'proxy=started'] });
    const { stderr, code } = await run([SEXTON, 'restart', '--graveyard', graveyard]);
    assert.deepEqual([stderr, code], ['', 0]);
    for (const name of ['proxy', 'work']) assert.equal(readTombstone(graveyard, name)?.PodRestarts, 1);
    for (const name of ['proxy', 'work'])
      await waitFor(`${name} sleeps again`, async () => !(await hasSupervisor(pod, name)));
    assert.equal((await run([SEXTON, 'stop', '--graveyard', graveyard])).code, 0);
    await pod.end();
    const both = ['proxy', 'work'];
    const starts = readTimeline(stage.scratch.log).events.filter(({ event }) => event === 'Starting');
    const rounds = [starts.slice(0, 2), starts.slice(2)].map((lives) => lives.map(({ name }) => name).sort());
    assert.deepEqual(rounds, [both, both]);
    // The gate opens when the process is there. Its first line may come after that of the other.
    const [proxy, work] = both.map((name) => readTombstone(graveyard, name)?.Started);
    assert.ok(Date.parse(proxy ?? '') <= Date.parse(work ?? ''), `proxy started at ${proxy}, work at ${work}`);
  });

  scenario('P15 sexton stop wakes a member, and a needless wake wakes no other member', async (stage) => {
    const pod = await sleepingPod(stage);
    const wakes = count(pod, 'proxy', /awake again/g);
    writeFileSync(`${stage.scratch.graveyard}/.work.nothing`, '');
    await asleep(pod, 'work', count(pod, 'work', /asleep until/g) + 1);
    if (!IS_KILLED) assert.equal(count(pod, 'proxy', /awake again/g), wakes);
    const { code } = await run([SEXTON, 'stop', '--graveyard', stage.scratch.graveyard], {
      PATH: process.env.PATH ?? '',
    });
    assert.equal(code, 0);
    await pod.end();
    saysHow(pod, 'work', /"by":"file \.work\.[0-9a-f]+\.stop".*"message":"awake again"/);
    readTimeline(stage.scratch.log).exitsBeforeSignalTo('work', 'proxy');
  });

  scenario('P15 sexton status shows sleeping members without waking them', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { graveyard } = stage.scratch;
    const containers = [sidecar('proxy', {}, SLEEPS), main('work', {}, AWAKE)];
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await running('proxy', 'work');
    await met(pod, 'proxy');
    await asleep(pod, 'proxy');
    const ask = async (...flags: readonly string[]): Promise<string> =>
      (await run([SEXTON, 'status', '--graveyard', graveyard, ...flags])).stdout;
    // Where supervisors are killed at random one may be there for a moment.
    await waitFor('proxy is shown asleep', async () => /^proxy +sidecar +running, asleep /m.test(await ask()));
    const { members } = JSON.parse(await ask('-o', 'json')) as { members: { Name: string; IsAsleep: boolean }[] };
    assert.deepEqual(
      members.map(({ Name, IsAsleep }) => [Name, IsAsleep]),
      [
        ['proxy', true],
        ['work', false],
      ],
    );
    neverWoken(pod, 'proxy');
    await pod.delete();
  });

  scenario('P15 a start gate is waited for asleep', async (stage) => {
    const { main, served, open } = cast(stage);
    const first = main('first', { run: 1, ...served }, SLEEPS);
    const second = main('second', { run: 1 }, ['--start-after', 'first=completed', ...SLEEPS]);
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers: [first, second] });
    await waitForEvent(stage.scratch.log, 'first', 'Started');
    await asleep(pod, 'second');
    readTimeline(stage.scratch.log).neverStarted('second');
    open();
    assert.equal(await pod.end(), 'Succeeded');
    wokenOnly(pod, 'second');
  });

  scenario('P15 members with a readiness probe or --sleep-after never stay awake', async (stage) => {
    const { main, sidecar, probe, running } = cast(stage);
    const { scratch } = stage;
    const file = scratch.path('ready');
    const containers = [
      sidecar('told', {}, AWAKE),
      main('probed', {}, ['--readiness', probe('look', file), ...SLEEPS]),
      main('work', {}, SLEEPS),
    ];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await running('told', 'work', 'probed');
    await asleep(pod, 'work');
    await waitForEvent(scratch.log, 'look', 'Probed', 10);
    for (const name of ['told', 'probed']) {
      assert.equal(count(pod, name, /asleep until/g), 0);
      await waitFor(`${name} has a supervisor`, () => hasSupervisor(pod, name));
    }
    await pod.delete();
  });
});
