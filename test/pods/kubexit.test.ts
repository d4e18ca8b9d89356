/** K: what goes wrong with kubexit around start gates, deaths and stops, shown to go right here. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AWAKE } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { send } from '../helpers/process.ts';
import { inRounds } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForDeath, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

describe('what goes wrong with kubexit', { concurrency: atOnce(4) }, () => {
  scenario('K01 a death before the watch has started is seen', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const containers = [sidecar('proxy', {}, AWAKE), main('work')];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    // The sidecar's supervisor stands still before it can watch; meanwhile its main lives and dies.
    const supervisor = await pod.current('proxy').supervisor();
    send(supervisor, 'SIGSTOP');
    await running('work');
    await pod.current('work').signal('SIGTERM');
    await waitForDeath(scratch.graveyard, 'work');
    send(supervisor, 'SIGCONT');
    assert.equal(await pod.end(), 'Succeeded');
  });

  scenario('K01 a main that lives a few milliseconds ends its sidecar whenever it does so', async (stage) => {
    await inRounds(12, 3, async (index) => {
      const { main, sidecar } = cast(stage);
      const names = [`work${index}`, `proxy${index}`] as const;
      const containers = [sidecar(names[1], {}, ['--mains', names[0]]), main(names[0], { run: 1 + index * 25 })];
      const pod = runPod(stage.scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, session: 'pod', containers });
      assert.equal(await pod.end(), 'Succeeded');
      assert.ok(readTombstone(stage.scratch.graveyard, names[0])?.Died, names[0]);
    });
  });

  scenario('K02 when the main dies during the sidecar’s start gate the child is not started', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const containers = [sidecar('proxy', {}, after('absent=started')), main('work')];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForTombstone(scratch.graveyard, 'proxy', 'waits', (it) => it.Phase === 'waiting');
    await running('work');
    await pod.current('work').signal('SIGTERM');
    assert.equal(await pod.end(), 'Succeeded');
    readTimeline(scratch.log).neverStarted('proxy');
    assert.equal(readTombstone(scratch.graveyard, 'proxy')?.Reason, 'never-started');
  });

  scenario('K03 a TERM in the start gate starts no child although the gate opens just then', async (stage) => {
    const { main, running } = cast(stage);
    const { scratch } = stage;
    // In this order they get their TERM.
    const containers = [main('work', {}, after('other=completed')), main('other')];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForTombstone(scratch.graveyard, 'work', 'waits', (it) => it.Phase === 'waiting');
    await running('other');
    await pod.delete();
    assert.deepEqual([pod.exitOf('work'), pod.exitOf('other')], [143, 0]);
    readTimeline(scratch.log).neverStarted('work');
  });

  scenario('K04 the first TERM after a gate has opened reaches the child (12 rounds)', async (stage) => {
    await inRounds(12, 3, async (index) => {
      const { main } = cast(stage);
      const { scratch } = stage;
      const names = [`gate${index}`, `work${index}`] as const;
      const containers = [main(names[0], { run: 150 }), main(names[1], { exit: 3 }, after(`${names[0]}=completed`))];
      const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, session: 'pod', containers });
      await waitForEvent(scratch.log, names[1], 'Started');
      await pod.current(names[1]).signal('SIGTERM');
      await pod.end();
      assert.equal(pod.exitOf(names[1]), 3);
      assert.deepEqual(readTimeline(scratch.log).signals(names[1]), [15]);
    });
  });

  scenario('K06 under OnFailure a sidecar serves through a failure of its main to its success', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const socket = scratch.path('socket');
    const options = { use: socket, want: 5, run: 1, exits: '1,0', counter: scratch.path('count') };
    const containers = [sidecar('proxy', { serve: socket }), main('work', options, after('proxy=started'))];
    const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    assert.deepEqual([pod.state('work').exits, pod.state('proxy').exits], [[1, 0], [0]]);
    assert.equal(log.of('work', 'Refused').length, 0, 'it was served the whole time');
    assert.ok(log.of('work', 'Served').every((it) => Number(it.detail) >= 5));
    log.notRestarted('proxy');
    log.exitsBeforeSignalTo('work', 'proxy');
    assert.deepEqual(log.signals('proxy'), [15]);
  });

  scenario('K06 under OnFailure a restarted sidecar waits for a main that it found dead', async (stage) => {
    const { main, sidecar, served, open, running } = cast(stage);
    const { scratch } = stage;
    const failed = scratch.path('failed');
    const options = { run: 1, exits: '1,0', counter: scratch.path('count'), ...served };
    const flaky = { runs: '1,0', exits: '1,0', after: failed, counter: scratch.path('flaky') };
    // The main stays dead until the sidecar has found it so and serves again all the same.
    const backoff = () => waitForEvent(scratch.log, 'proxy', 'Started', 2);
    const containers = [sidecar('proxy', flaky, ['--restart', 'never']), main('work', options, [], { backoff })];
    const pod = runPod(scratch, { restartPolicy: 'OnFailure', graceMs: AMPLE_MS, containers });
    await running('proxy', 'work');
    open();
    await waitForDeath(scratch.graveyard, 'work');
    writeFileSync(failed, '');
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    assert.deepEqual(
      [pod.state('work').exits, pod.state('proxy').exits],
      [
        [1, 0],
        [1, 0],
      ],
    );
    log.exitsBeforeSignalTo('work', 'proxy');
  });

  scenario('K13 a child that is being stopped gets no second TERM when the pod is deleted then', async (stage) => {
    const { main, sidecar, served, serves } = cast(stage);
    const { scratch } = stage;
    const until = scratch.path('until');
    const containers = [sidecar('proxy', { until, ...serves }), main('work', { run: 1, ...served })];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers });
    await waitForEvent(scratch.log, 'proxy', 'Signal');
    const deletion = pod.delete();
    await waitFor('the TERM has come', () => /asked to stop/.test(pod.current('proxy').stderr()));
    writeFileSync(until, '');
    await deletion;
    assert.deepEqual(readTimeline(scratch.log).signals('proxy'), [15]);
    assert.equal(pod.exitOf('proxy'), 0);
    assert.equal(readTombstone(scratch.graveyard, 'proxy')?.StopReason, 'mains finished');
  });

  scenario('K14 when a main vanishes with its whole container its sidecar ends', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: AMPLE_MS,
      containers: [sidecar('proxy'), main('work')],
    });
    await running('proxy', 'work');
    await pod.current('work').kill();
    assert.equal(await pod.end(), 'Failed');
    assert.deepEqual([pod.exitOf('work'), pod.exitOf('proxy')], [137, 0]);
    assert.equal(readTombstone(scratch.graveyard, 'work')?.Died, undefined, 'it could write nothing');
    assert.deepEqual(readTimeline(scratch.log).signals('proxy'), [15]);
  });

  scenario('K14 under OnFailure a main that vanished is waited for', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    // It is away for longer than the 2 s after which it counts as lost.
    const work = main('work', { runs: '0,1', counter: scratch.path('count') }, [], { backoff: () => sleep(3_000) });
    const pod = runPod(scratch, {
      restartPolicy: 'OnFailure',
      graceMs: AMPLE_MS,
      containers: [sidecar('proxy'), work],
    });
    await running('proxy', 'work');
    await pod.current('work').kill();
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.exitsBeforeSignalTo('work', 'proxy');
    log.notRestarted('proxy');
  });

  scenario('K16 a start gate that times out leaves a tombstone and 125', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const flags = ['--start-timeout', '300ms', ...after('absent=started')];
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, containers: [main('work', {}, flags)] });
    assert.equal(await pod.end(), 'Failed');
    assert.equal(pod.exitOf('work'), 125);
    const tombstone = readTombstone(scratch.graveyard, 'work');
    assert.deepEqual([tombstone?.Reason, tombstone?.Phase, tombstone?.ExitCode], ['never-started', 'dead', 125]);
    assert.match(pod.current('work').stderr(), /absent/);
    readTimeline(scratch.log).neverStarted('work');
  });
});
