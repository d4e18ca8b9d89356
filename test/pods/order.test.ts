/** N: the stop order. Under test is what the kubelet does for native sidecars, done from inside the containers. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { atOnce } from '../helpers/engine.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline } from '../helpers/timeline.ts';
import { assertStartedBefore, readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { ageGraveyard, runPod } from './kubelet.ts';
import { AMPLE_MS, after, cast } from './members.ts';

describe('stop order', { concurrency: atOnce(4) }, () => {
  for (const deleted of [false, true]) {
    const cause = deleted ? 'when the pod is deleted' : 'when the work is done';
    scenario(`N18 three sidecars end in reverse order after all mains ${cause}`, async (stage) => {
      const { main, sidecar, served, open, running } = cast(stage);
      const { scratch } = stage;
      const pod = runPod(scratch, {
        restartPolicy: 'Never',
        graceMs: AMPLE_MS,
        containers: [
          sidecar('s1', { term: 500 }),
          sidecar('s2', { term: 500 }, after('s1=started')),
          sidecar('s3', { term: 500 }, after('s2=started')),
          main('work', deleted ? { term: 500 } : { run: 1, ...served }, after('s3=started')),
        ],
      });
      await running('s1', 's2', 's3', 'work');
      // This is before the members' own last turn: those that end by then have waited for their turn only.
      if (deleted) await pod.delete(AMPLE_MS - 10_000);
      else open();
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

  scenario('a sidecar with a misspelt --mains outlives the main that it sees, and warns of the name', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const containers = [sidecar('proxy', {}, ['--mains', 'wrok']), main('work', { term: 3_000 })];
    // A sidecar that sees no main waits for a tenth.
    const pod = runPod(scratch, { restartPolicy: 'Never', graceMs: 20_000, containers });
    await running('proxy', 'work');
    await pod.delete();
    readTimeline(scratch.log).exitsBeforeSignalTo('work', 'proxy');
    const named = /no main named wrok, only work, has been seen; check --mains and that main's --name/g;
    assert.equal(pod.current('proxy').stderr().match(named)?.length, 1);
    assert.equal(pod.state('proxy').killed, false);
  });

  scenario('N22 a member that never started delays no member that must outlive it', async (stage) => {
    const { main, sidecar, running } = cast(stage);
    const { scratch } = stage;
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: AMPLE_MS,
      containers: [
        sidecar('s1', {}, ['--mains', 'work']),
        sidecar('late', {}, ['--mains', 'work', ...after('s1=started', 'absent=started')]),
        main('work', { term: 300 }, after('s1=started')),
      ],
    });
    await running('s1', 'work');
    await waitForTombstone(scratch.graveyard, 'late', 'waits', (it) => it.Phase === 'waiting');
    await pod.delete(AMPLE_MS - 10_000);
    const log = readTimeline(scratch.log);
    log.neverStarted('late');
    log.exitsBeforeSignalTo('work', 's1');
    for (const name of ['s1', 'late', 'work']) {
      assert.equal(pod.exitOf(name), 0, name);
      assert.equal(pod.state(name).killed, false, name);
    }
  });

  scenario('N30 the graveyard of the last boot neither opens a gate nor stops a sidecar', async (stage) => {
    const { main, sidecar } = cast(stage);
    const { scratch } = stage;
    const session = 'one-and-the-same-pod';
    const start = (boot: number) => {
      const up = scratch.path(`up-${boot}`);
      const containers = [
        // By name: until the work is seen the migration alone would be the roster.
        sidecar('proxy', { ready: up }, ['--mains', 'work', ...after('migrate=completed')]),
        main('work', { delay: 200, run: 1, after: up }, after('proxy=started')),
        main('migrate', { delay: 300, run: 100 }),
      ];
      return runPod(scratch, { restartPolicy: 'Never', graceMs: AMPLE_MS, session, containers });
    };
    assert.equal(await start(1).end(), 'Succeeded');

    // What a disk keeps through a power cut: deaths of the last boot, and one that was never written.
    ageGraveyard(scratch.graveyard);
    const file = join(scratch.graveyard, 'proxy');
    const { Died, DiedMonotonic, ExitCode, Signal, Reason, Final, ...old } = JSON.parse(readFileSync(file, 'utf8'));
    assert.ok(Died && DiedMonotonic && Reason && Final && ExitCode === 0 && Signal === undefined);
    writeFileSync(file, JSON.stringify({ ...old, Phase: 'running' }));
    writeFileSync(scratch.log, '');
    assert.equal(await start(2).end(), 'Succeeded');
    const log = readTimeline(scratch.log);
    log.endsBeforeStartOf('migrate', 'proxy');
    assertStartedBefore(scratch.graveyard, 'proxy', 'work');
    log.exitsBeforeSignalTo('work', 'proxy');
    for (const name of ['proxy', 'work', 'migrate']) log.notRestarted(name);
  });
});
