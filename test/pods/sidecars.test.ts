/** N: how sidecars end, are started again, and share the one deadline of the pod. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

describe('sidecars', { concurrency: atOnce(4) }, () => {
  for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const) {
    for (const exit of [0, 1]) {
      scenario(`N12 under ${restartPolicy} a sidecar that exits ${exit} is restarted each time`, async (stage) => {
        const { main, sidecar, served, open } = cast(stage);
        const { scratch } = stage;
        const isEndless = restartPolicy === 'Always';
        const begin = scratch.path('begin');
        const work = main('work', isEndless ? {} : { run: 1, ...served });
        const waiting = ['sh', '-c', `until [ -e ${begin} ]; do sleep 0.05; done; exec "$@"`, 'sh', ...work.command];
        const pod = runPod(scratch, {
          restartPolicy,
          graceMs: AMPLE_MS,
          containers: [sidecar('proxy', { run: 50, exit }, ['--mains', 'work']), { ...work, command: waiting }],
        });
        // Twice is again and again: the second time shows that once was no exception.
        await waitForEvent(scratch.log, 'proxy', 'Starting', 3);
        readTimeline(scratch.log).neverStarted('work');
        writeFileSync(begin, '');
        await waitForEvent(scratch.log, 'work', 'Started');
        const before = readTimeline(scratch.log).of('proxy', 'Starting').length;
        await waitForEvent(scratch.log, 'proxy', 'Starting', before + 1);
        open();
        if (isEndless) await pod.delete();
        // A sidecar that is between two lives when an endless pod is deleted leaves the code of its last one.
        else assert.equal(await pod.end(), 'Succeeded');
        readTimeline(scratch.log).notRestarted('work');
        assert.equal(pod.exitOf('work'), 0);
        assert.deepEqual([pod.state('work').killed, pod.state('proxy').killed], [false, false]);
      });
    }
  }

  scenario('N25 a main that exceeds the grace period exits 137, and its sidecar still ends itself', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const containers = [sidecar('proxy', { term: 300 }), main('work', { ignore: 'TERM' })];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: 6_000, containers });
    await running('proxy', 'work');
    // The platform's own KILL would come too late: what ends the main is ours.
    assert.equal(await pod.delete(AMPLE_MS), 'Failed');
    assert.deepEqual([pod.exitOf('work'), pod.exitOf('proxy')], [137, 0]);
    const log = readTimeline(scratch.log);
    assert.deepEqual([log.signals('work'), log.signals('proxy')], [[15], [15]]);
    assert.equal(log.of('proxy', 'Exiting').length, 1);
    const tombstone = readTombstone(scratch.graveyard, 'work');
    assert.deepEqual([tombstone?.Reason, tombstone?.ExitCode, tombstone?.Signal], ['killed', 137, 'SIGKILL']);
    assert.equal(pod.state('work').killed, false);
  });

  scenario('N31 a sidecar that dies while its main drains is restarted and serves the last requests', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const [socket, die, until] = [scratch.path('socket'), scratch.path('die'), scratch.path('until')];
    const serving = { serve: socket, after: die, runs: '1,0', exits: '1,0', counter: scratch.path('count') };
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: AMPLE_MS,
      containers: [sidecar('proxy', serving), main('work', { use: socket, until }, after('proxy=started'))],
    });
    await running('proxy', 'work');
    const deletion = pod.delete(AMPLE_MS - 10_000);
    await waitForEvent(scratch.log, 'work', 'Signal');
    await waitForTombstone(scratch.graveyard, 'proxy', 'holds', (it) => it.Phase === 'holding');
    writeFileSync(die, '');
    await waitForEvent(scratch.log, 'proxy', 'Started', 2);
    await waitFor('the main is served again', () => {
      const words = readTimeline(scratch.log)
        .of('work')
        .filter((it) => /^(Refused|Restored)$/.test(it.event));
      return words.at(-1)?.event !== 'Refused';
    });
    writeFileSync(until, '');
    assert.equal(await deletion, 'Succeeded');
    const log = readTimeline(scratch.log);
    assert.deepEqual([log.of('proxy', 'Starting').length, log.signals('proxy')], [2, [15]]);
    log.exitsBefore('work', 'proxy');
    assert.deepEqual([pod.exitOf('work'), pod.exitOf('proxy')], [0, 0]);
    for (const name of ['work', 'proxy'])
      assert.deepEqual([pod.state(name).killed, pod.state(name).restarts], [false, 0]);
    assert.equal(readTombstone(scratch.graveyard, 'proxy')?.Restarts, 1);
  });

  scenario('A1 K18 N32 another member’s deadline ends a hold but shortens no command’s own time', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const grace = (ms: number) => ['--grace-period', `${ms}ms`];
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: 400_000,
      declareGrace: false,
      containers: [
        main('shorter', { ignore: 'TERM' }, grace(2_000)),
        main('longer', { term: 6_000 }, grace(200_000)),
        main('open', { term: 6_000 }),
        sidecar('proxy', {}, ['--mains', 'shorter,longer,open', ...grace(200_000)]),
      ],
    });
    const names = ['proxy', 'longer', 'open', 'shorter'];
    await running(...names);
    await Promise.all(names.map((name) => pod.current(name).signal('SIGTERM')));
    assert.equal(await pod.end(), 'Failed');
    assert.deepEqual(
      names.map((name) => pod.exitOf(name)),
      [0, 0, 0, 137],
    );
    const log = readTimeline(scratch.log);
    for (const name of ['longer', 'open'])
      assert.ok(log.at('proxy', 'Signal').index < log.last(name, 'Exiting').index, 'it held no longer');
  });

  scenario('A2 a sidecar stopped alone does not hold if its main says that it was not asked', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const containers = [sidecar('proxy', {}, ['--mains', 'work']), main('work', {}, ['--platform-pre-stop', 'none'])];
    const pod = runPod(scratch, { restartPolicy: 'Always', graceMs: AMPLE_MS, containers });
    await running('proxy', 'work');
    const first = readTombstone(scratch.graveyard, 'proxy')?.Incarnation;
    await pod.replace('proxy', AMPLE_MS);
    await waitFor('it serves again', () => readTimeline(scratch.log).of('proxy', 'Started').length === 2);
    assert.deepEqual([pod.state('proxy').killed, readTimeline(scratch.log).signals('work')], [false, []]);
    await waitForTombstone(
      scratch.graveyard,
      'proxy',
      'is back',
      (it) => it.Incarnation !== first && it.Started !== undefined,
    );
    await pod.delete(AMPLE_MS);
    const log = readTimeline(scratch.log);
    assert.ok(log.last('work', 'Exiting').index < log.last('proxy', 'Signal').index, 'in the pod’s stop it holds');
  });
});
