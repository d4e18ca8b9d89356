/** J: sidecars that come too late, mains that the kernel ends, and rosters with wrong names. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { makeCgroup } from '../helpers/cgroup.ts';
import { atOnce, ENGINE } from '../helpers/engine.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { type PodContainer, runPod } from './kubelet.ts';
import { AMPLE_MS, cast } from './members.ts';

describe('jobs that end in other ways', { concurrency: atOnce(4) }, () => {
  scenario('J16 a sidecar that is started after the end exits 0 without starting its child', async (stage) => {
    const { main, sidecar } = cast(stage);
    const pod = { restartPolicy: 'Never', graceMs: AMPLE_MS, session: 'the-pod' } as const;
    assert.equal(await runPod(stage.scratch, { ...pod, containers: [main('work', { run: 50 })] }).end(), 'Succeeded');
    assert.equal(await runPod(stage.scratch, { ...pod, containers: [sidecar('proxy')] }).end(), 'Succeeded');
    readTimeline(stage.scratch.log).neverStarted('proxy');
    const tombstone = readTombstone(stage.scratch.graveyard, 'proxy');
    assert.deepEqual([tombstone?.Reason, tombstone?.StopReason], ['never-started', 'mains finished']);
  });

  scenario('J17 under Never a main that the OOM killer ended has finished', async (stage) => {
    const { main, sidecar, served, serves } = cast(stage);
    const { command } = main('work', { run: 200, hog: 512, ...served });
    const containers = [{ ...main('work'), ...limited(stage, command) }, sidecar('proxy', serves)];
    const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Failed');
    assert.deepEqual([pod.exitOf('work'), pod.exitOf('proxy')], [137, 0]);
    const tombstone = readTombstone(stage.scratch.graveyard, 'work');
    assert.deepEqual([tombstone?.ExitCode, tombstone?.Signal, tombstone?.Final], [137, 'SIGKILL', true]);
    assert.match(tombstone?.Reason ?? '', /^(oom|killed)$/);
  });

  scenario('J17 under OnFailure a main that the OOM killer ended will be born again', async (stage) => {
    const { main, sidecar, served, serves } = cast(stage);
    const { scratch } = stage;
    const { command } = main('work', { run: 200, hog: '512,0', counter: scratch.path('count'), ...served });
    const containers = [{ ...main('work'), ...limited(stage, command) }, sidecar('proxy', serves)];
    const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    assert.deepEqual([pod.state('work').exits, pod.state('proxy').exits], [[137, 0], [0]]);
    readTimeline(scratch.log).exitsBeforeSignalTo('work', 'proxy');
  });

  scenario('J18 a roster with one wrong name does not hang silently: the log names it', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const containers = [main('work', { run: 200 }), sidecar('proxy', {}, ['--mains', 'wrok'])];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'work', 'Exiting');
    await waitFor('the log names it', () => /wrok/.test(pod.current('proxy').stderr()));
    assert.deepEqual(readTimeline(scratch.log).signals('proxy'), []);
    await pod.delete();
    assert.equal(pod.exitOf('proxy'), 0);
  });
});

/** Gives a command so little memory that the kernel's OOM killer ends it. */
function limited(stage: Stage, command: readonly string[]): Pick<PodContainer, 'command' | 'memoryMb'> {
  return ENGINE === 'podman' ? { command, memoryMb: 160 } : { command: inOwnGroup(stage, command) };
}

function inOwnGroup({ scratch }: Stage, command: readonly string[]): string[] {
  const group = makeCgroup(scratch, 'memory');
  group.limit(64 << 20);
  return ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(group.dir, 'cgroup.procs'), ...command];
}
