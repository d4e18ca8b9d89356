/** What dies unasked on a real cluster: a command for want of memory, a supervisor, a whole container. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { AWAKE } from '../helpers/container.ts';
import { clusterTest } from './helpers/case.ts';
import { takeHands } from './helpers/hands.ts';
import { podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';

describe('on a cluster', { concurrency: 5 }, () => {
  clusterTest('K20 a main killed for want of memory is recorded so twice, and its sidecar ends', async (t) => {
    const pod = await startPod(
      t,
      'oom',
      podOf({
        members: [
          { name: 'proxy', flags: SIDECAR },
          { name: 'main', does: { run: 500, hog: 400 }, more: { resources: { limits: { memory: '200Mi' } } } },
        ],
      }),
    );
    assert.equal(await pod.untilEnded(), 'Failed');
    // The kernel kills the command or everything in the container's cgroup, by the version of cgroups.
    assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [137, 0]);
    pod.timeline.of('proxy', 'Signal');
    assert.deepEqual(pod.timeline.signals('proxy'), [15]);
    assert.equal(pod.end('main').reason, 'OOMKilled');
    const { Reason } = pod.tombstone('main') ?? {};
    // Where init was killed as well, nothing was left to write.
    if (Reason !== undefined) assert.deepEqual([Reason, pod.message('main').Reason], ['oom', 'oom']);
  });

  clusterTest('K20 a sidecar killed for want of memory runs again, and ends with its main', async (t) => {
    const does = { counter: '/log/lives', runs: '500,0', hog: '400,0' };
    const pod = await startPod(
      t,
      'oom-sidecar',
      podOf({
        restartPolicy: 'OnFailure',
        members: [
          { name: 'proxy', flags: SIDECAR, does, more: { resources: { limits: { memory: '200Mi' } } } },
          { name: 'main', does: { after: '/log/end', run: 1 } },
        ],
      }),
    );
    await pod.untilEvent('proxy', 'Started', 2);
    await pod.exec('main', 'touch', '/log/end');
    assert.equal(await pod.untilEnded(), 'Succeeded');
    assert.equal(pod.status('proxy').lastState.terminated?.reason, 'OOMKilled');
    assert.deepEqual([pod.status('main').restartCount, pod.end('proxy').exitCode], [0, 0]);
    pod.timeline.exitsBeforeSignalTo('main', 'proxy');
    assert.deepEqual(pod.timeline.signals('proxy'), [15]);
  });

  clusterTest('K08 a full graveyard in memory hinders no end: the sidecar ends after the main', async (t) => {
    const members = [
      { name: 'proxy', flags: SIDECAR },
      { name: 'main', does: { after: '/log/end', run: 1, exit: 4 } },
    ];
    const pod = await startPod(t, 'full', podOf({ medium: 'Memory', members }));
    await pod.untilStarted('proxy', 'main');
    const fill = await pod.exec('main', 'sh', '-c', 'cat /dev/zero 2>&1 >/graveyard/.fill; touch /log/end');
    assert.match(fill, /No space left on device/);
    assert.equal(await pod.untilEnded(), 'Failed');
    assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [4, 0]);
    pod.timeline.exitsBeforeSignalTo('main', 'proxy');
    assert.equal(pod.message('proxy').StopReason, 'mains finished');
  });

  clusterTest("K14 a sidecar ends when PID 1 of its main's container is killed from outside", async (t) => {
    const hands = await takeHands(t);
    const pod = await startPod(
      t,
      'killed-init',
      podOf({ members: [{ name: 'proxy', flags: SIDECAR }, { name: 'main' }] }),
    );
    await pod.untilStarted('proxy', 'main');
    await hands.kill(pod, 'main', 'init');
    assert.equal(await pod.untilEnded(), 'Failed');
    assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [137, 0]);
    assert.deepEqual(pod.timeline.signals('proxy'), [15]);
    assert.equal(pod.tombstone('proxy')?.StopReason, 'mains finished');
    assert.equal(pod.tombstone('main')?.Died, undefined, 'it could write nothing');
  });

  clusterTest('K15 a pod whose supervisors were killed restarts nothing and stops in its order', async (t) => {
    const hands = await takeHands(t);
    const pod = await startPod(
      t,
      'killed-supervisors',
      podOf({
        restartPolicy: 'Always',
        members: [
          { name: 'proxy', flags: [...SIDECAR, ...AWAKE] },
          { name: 'main', flags: ['--start-after', 'proxy=started', ...AWAKE], does: { term: 2_000 } },
        ],
      }),
    );
    await pod.untilStarted('proxy', 'main');
    await hands.kill(pod, 'main', 'supervisor');
    await hands.kill(pod, 'proxy', 'supervisor');
    await pod.delete();
    await pod.untilGone();
    const log = pod.timeline;
    log.notRestarted('proxy');
    log.notRestarted('main');
    log.exitsBeforeSignalTo('main', 'proxy');
    assert.deepEqual([log.signals('main'), log.signals('proxy')], [[15], [15]]);
    assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [0, 0]);
    assert.deepEqual([pod.status('main').restartCount, pod.status('proxy').restartCount], [0, 0]);
  });
});
