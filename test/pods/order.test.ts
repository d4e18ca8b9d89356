/**
 * N: who starts and who ends before whom, in pods of real processes. Under test is what the kubelet does for init
 * containers and native sidecars, done from inside the containers.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { assertStartedBefore, readTombstone, waitForRunning, waitForTombstone } from '../helpers/grave.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { after, cast } from './cast.ts';
import { runPod } from './kubelet.ts';

describe('start and stop order', { concurrency: atOnce(4) }, () => {
  scenario('N01 start gates run predecessors one by one before the mains', async (stage) => {
    const { main } = cast(stage);
    const pod = runPod(stage.scratch, {
      restartPolicy: 'Never',
      graceMs: 4_000,
      containers: [
        main('work', { run: 50 }, after('p3=completed')),
        main('p3', { run: 100 }, after('p2=completed')),
        main('p2', { run: 100 }, after('p1=completed')),
        main('p1', { run: 100 }),
      ],
    });
    assert.equal(await pod.end(), 'Succeeded');
    const log = readTimeline(stage.scratch.log);
    log.endsBeforeStartOf('p1', 'p2');
    log.endsBeforeStartOf('p2', 'p3');
    log.endsBeforeStartOf('p3', 'work');
    for (const name of ['p1', 'p2', 'p3', 'work']) log.notRestarted(name);
  });

  scenario('N02 a main whose predecessor failed is not started', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: 4_000,
      containers: [main('migrate', { run: 50, exit: 1 }), main('work', { run: 50 }, after('migrate=completed'))],
    });
    assert.equal(await pod.end(), 'Failed');
    assert.deepEqual([pod.exitOf('migrate'), pod.exitOf('work')], [1, 125]);
    readTimeline(scratch.log).neverStarted('work');
    const tombstone = readTombstone(scratch.graveyard, 'work');
    assert.equal(tombstone?.Reason, 'never-started');
    assert.match(pod.current('work').stderr(), /migrate/, 'it says why');
  });

  scenario('N05 under Always a failing member is started again, its completed predecessor is not', async (stage) => {
    const { main } = cast(stage);
    const { scratch } = stage;
    const failing = { runs: '100,100,0', exit: 1, counter: scratch.path('count') };
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: 4_000,
      containers: [main('migrate', { run: 50 }, [], { init: true }), main('work', failing, after('migrate=completed'))],
    });
    await waitForEvent(scratch.log, 'work', 'Started', 3);
    await pod.delete();
    const log = readTimeline(scratch.log);
    log.endsBeforeStartOf('migrate', 'work');
    log.restarted('work');
    log.notRestarted('migrate');
    assert.deepEqual(pod.state('work').exits.slice(0, 2), [1, 1]);
    assert.equal(pod.state('work').killed, false);
  });

  scenario(
    'N10 under Never three predecessors and two sidecars start in order and run together, and the pod succeeds',
    async (stage) => {
      const { main, sidecar } = cast(stage);
      const roster = ['--mains', 'work'];
      const pod = runPod(stage.scratch, {
        restartPolicy: 'Never',
        graceMs: 4_000,
        containers: [
          main('p1', { run: 50 }),
          sidecar('s1', {}, [...roster, ...after('p1=completed')]),
          main('p2', { run: 50 }, after('s1=started')),
          sidecar('s2', {}, [...roster, ...after('p2=completed')]),
          main('p3', { run: 50 }, after('s2=started')),
          main('work', { run: 200 }, after('p3=completed')),
        ],
      });
      assert.equal(await pod.end(), 'Succeeded');
      const log = readTimeline(stage.scratch.log);
      log.endsBeforeStartOf('p1', 's1');
      assertStartedBefore(stage.scratch.graveyard, 's1', 'p2');
      log.endsBeforeStartOf('p2', 's2');
      assertStartedBefore(stage.scratch.graveyard, 's2', 'p3');
      log.endsBeforeStartOf('p3', 'work');
      for (const name of ['s1', 's2']) {
        log.runTogether(name, 'work');
        log.exitsBeforeSignalTo('work', name);
        log.notRestarted(name);
      }
    },
  );

  for (const deleted of [false, true]) {
    const cause = deleted ? 'when the pod is deleted' : 'when the work is done';
    scenario(`N18 three sidecars end in reverse order after all mains ${cause}`, async (stage) => {
      const { main, sidecar } = cast(stage);
      const { scratch } = stage;
      const pod = runPod(scratch, {
        restartPolicy: 'Never',
        graceMs: 8_000,
        containers: [
          sidecar('s1', { term: 500 }),
          sidecar('s2', { term: 500 }, after('s1=started')),
          sidecar('s3', { term: 500 }, after('s2=started')),
          main('work', deleted ? { term: 500 } : { run: 200 }, after('s3=started')),
        ],
      });
      if (deleted) {
        await waitForRunning(scratch.graveyard, ['s1', 's2', 's3', 'work']);
        await pod.delete();
      }
      assert.equal(await pod.end(), 'Succeeded');
      const log = readTimeline(scratch.log);
      for (const [first, next] of [
        ['s1', 's2'],
        ['s2', 's3'],
        ['s3', 'work'],
      ] as const)
        assertStartedBefore(scratch.graveyard, first, next);
      for (const [first, next] of [
        ['work', 's3'],
        ['s3', 's2'],
        ['s2', 's1'],
      ] as const)
        log.exitsBeforeSignalTo(first, next);
      for (const name of ['s1', 's2', 's3']) {
        assert.deepEqual(log.signals(name), [15], name);
        assert.equal(readTombstone(scratch.graveyard, name)?.Reason, 'stopped', name);
        assert.equal(pod.state(name).killed, false, name);
      }
    });
  }

  scenario('N21 a member stopped in its start gate is gone at once and its child never ran', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Always',
      graceMs: 30_000,
      containers: [main('work', {}, after('absent=started')), sidecar('proxy', {}, after('absent=started'))],
    });
    for (const name of ['work', 'proxy'])
      await waitForTombstone(scratch.graveyard, name, 'waits', (it) => it.Phase === 'waiting');
    // Shorter than the deadline of 30 s that the members know: only who does not wait gets away without a KILL.
    await pod.delete(3_000);
    for (const name of ['work', 'proxy']) {
      assert.equal(pod.state(name).killed, false, name);
      assert.equal(readTombstone(scratch.graveyard, name)?.Reason, 'never-started', name);
      readTimeline(scratch.log).neverStarted(name);
    }
    assert.deepEqual([pod.exitOf('work'), pod.exitOf('proxy')], [143, 0]);
  });

  scenario('N22 a member that never started holds up nobody who must outlive it', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: 8_000,
      containers: [
        sidecar('s1', {}, ['--mains', 'work']),
        sidecar('late', {}, ['--mains', 'work', ...after('s1=started', 'absent=started')]),
        main('work', { term: 300 }, after('s1=started')),
      ],
    });
    await waitForRunning(scratch.graveyard, ['s1', 'work']);
    await waitForTombstone(scratch.graveyard, 'late', 'waits', (it) => it.Phase === 'waiting');
    await pod.delete();
    const log = readTimeline(scratch.log);
    log.neverStarted('late');
    log.exitsBeforeSignalTo('work', 's1');
    for (const name of ['s1', 'late', 'work']) {
      assert.equal(pod.exitOf(name), 0, name);
      assert.equal(pod.state(name).killed, false, name);
    }
  });

  scenario(
    'N30 after a reboot the graveyard of the last boot neither opens a gate nor stops a sidecar',
    async (stage) => {
      const { main, sidecar } = cast(stage);
      const { scratch } = stage;
      const pod = {
        restartPolicy: 'Never',
        graceMs: 6_000,
        session: 'one-and-the-same-pod',
        containers: [
          // By name: until the work is seen the migration alone would be the roster.
          sidecar('proxy', {}, ['--mains', 'work', ...after('migrate=completed')]),
          main('work', { delay: 200, run: 200 }, after('proxy=started')),
          main('migrate', { delay: 300, run: 100 }),
        ],
      } as const;
      assert.equal(await runPod(scratch, pod).end(), 'Succeeded');

      // What a disk keeps through a power cut: deaths of the last boot, and one that was never carved.
      for (const name of ['proxy', 'work', 'migrate']) {
        const file = join(scratch.graveyard, name);
        const old = { ...JSON.parse(readFileSync(file, 'utf8')), Boot: '00000000-0000-4000-8000-000000000000' };
        if (name === 'proxy') {
          for (const key of ['Died', 'DiedMonotonic', 'ExitCode', 'Signal', 'Reason', 'Final']) delete old[key];
          old.Phase = 'running';
        }
        writeFileSync(file, JSON.stringify(old));
      }
      writeFileSync(scratch.log, '');
      assert.equal(await runPod(scratch, pod).end(), 'Succeeded');
      const log = readTimeline(scratch.log);
      log.endsBeforeStartOf('migrate', 'proxy');
      assertStartedBefore(scratch.graveyard, 'proxy', 'work');
      log.exitsBeforeSignalTo('work', 'proxy');
      for (const name of ['proxy', 'work', 'migrate']) log.notRestarted(name);
    },
  );
});
