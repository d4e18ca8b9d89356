/** Stops on a real cluster: of the pod with hooks and little time, and of one container by its kubelet's probe. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { kubectl } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { imageNames } from './helpers/images.ts';
import { podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';
import { namespace } from './helpers/watch.ts';

/** Fails from when the file is there, and not before. */
const failingFrom = (path: string) => ({
  exec: { command: ['sh', '-c', `! test -e ${path}`] },
  periodSeconds: 1,
  failureThreshold: 1,
});

describe('on a cluster', { concurrency: 6 }, () => {
  clusterTest("K17 the kubelet's preStop, TERM and the drain share one grace period", async (t) => {
    const preStop = {
      exec: { command: ['sh', '-c', 'sleep 3; echo "$(cut -d" " -f1 /proc/uptime) hooked" > /log/hook'] },
    };
    const pod = await startPod(
      t,
      'pre-stop',
      podOf({
        restartPolicy: 'Always',
        graceSeconds: 30,
        members: [
          { name: 'proxy', flags: SIDECAR },
          { name: 'main', flags: ['--drain', '2s'], more: { lifecycle: { preStop } } },
        ],
      }),
    );
    await pod.untilStarted('proxy', 'main');
    const askedMs = Date.now();
    await pod.delete();
    await pod.untilGone();
    const log = pod.timeline;
    assert.deepEqual([log.signals('main'), log.signals('proxy')], [[15], [15]]);
    log.exitsBeforeSignalTo('main', 'proxy');
    const { StopRequested = '', Reason } = pod.tombstone('main') ?? {};
    assert.ok(Date.parse(StopRequested) - askedMs > 2_500, 'the TERM to the main came after the hook');
    // Asked with the deletion, it held until the main had ended.
    const held = Date.parse(StopRequested) - Date.parse(pod.tombstone('proxy')?.StopRequested ?? '');
    assert.ok(held > 2_000, `the proxy was asked ${held} ms before the main`);
    assert.deepEqual([Reason, pod.end('main').exitCode, pod.end('proxy').exitCode], ['stopped', 0, 0]);
  });

  clusterTest('N30 a main without a drain gets its TERM from init in a deletion with 1 s of grace', async (t) => {
    const container = {
      name: 'main',
      image: imageNames().whole,
      imagePullPolicy: 'Never',
      command: ['/sexton/sexton', '--', '/member', 'name=main', 'log=/dev/stdout', 'term=10'],
    };
    const pod = await startPod(t, 'one-second', { restartPolicy: 'Always', containers: [container] });
    await pod.untilStarted('main');
    await pod.delete(1);
    await pod.untilGone();
    assert.deepEqual([pod.timeline.signals('main'), pod.end('main').exitCode], [[15], 0]);
  });

  clusterTest('K17 a preStop that uses up the grace period leaves TERM and 2 s before KILL', async (t) => {
    const more = { lifecycle: { preStop: { exec: { command: ['sleep', '60'] } } } };
    // The observer has no more time than they have, and may miss their last lines.
    const told = { log: '/dev/stdout' };
    const members = [
      { name: 'good', does: told, more },
      { name: 'deaf', does: { ...told, ignore: 'TERM' }, more },
    ];
    // No grace period is declared, because this test is not about sexton's own deadline.
    const spec = { restartPolicy: 'Always', graceSeconds: 4, declareGrace: false } as const;
    const pod = await startPod(t, 'pre-stop-long', podOf({ ...spec, members }));
    await pod.untilStarted('good', 'deaf');
    await pod.delete();
    await pod.untilGone();
    const log = pod.timeline;
    assert.deepEqual([log.signals('good'), log.signals('deaf')], [[15], [15]]);
    assert.deepEqual([pod.end('good').exitCode, pod.end('deaf').exitCode], [0, 137]);
  });

  clusterTest('members that sleep take a resize in place, and stop in order with what is left', async (t) => {
    const resources = (cpu: string, memory: string) => ({ limits: { cpu, memory }, requests: { cpu, memory } });
    const more = { resources: resources('200m', '128Mi') };
    const flags = ['--sleep-after', '1s', '--log-level', 'debug'];
    const members = [
      { name: 'proxy', flags: [...SIDECAR, ...flags], more },
      { name: 'main', flags: ['--drain', '1s', ...flags], more },
    ];
    const pod = await startPod(t, 'resize', podOf({ restartPolicy: 'Always', graceSeconds: 60, members }));
    for (const { name } of members) await pod.untilLogged(name, /asleep until something happens/);
    const containers = members.map(({ name }) => ({ name, resources: resources('100m', '40Mi') }));
    const patch = JSON.stringify({ spec: { containers } });
    await kubectl('patch', 'pod', pod.name, '--namespace', namespace(), '--subresource=resize', `--patch=${patch}`);
    for (const { name } of members)
      await pod.until(`${name} has less`, () => pod.findStatus(name)?.resources?.limits?.memory === '40Mi');
    await pod.delete();
    await pod.untilGone();
    pod.timeline.exitsBeforeSignalTo('main', 'proxy');
    // With so little CPU the wake may outlast the drain, which begins with the request.
    assert.ok(Number(pod.message('main').StopMs) >= 1_000, `it drained: ${pod.message('main').Summary}`);
    for (const { name } of members) assert.deepEqual([pod.end(name).exitCode, pod.status(name).restartCount], [0, 0]);
  });

  clusterTest('K08 a main whose kubelet probe fails gets TERM and restarts, and its sidecar serves on', async (t) => {
    const pod = await startPod(
      t,
      'liveness-main',
      podOf({
        restartPolicy: 'Always',
        members: [
          { name: 'proxy', flags: SIDECAR },
          {
            name: 'main',
            does: { counter: '/log/lives' },
            // The flag is of this life: the next one is healthy.
            more: { livenessProbe: { ...failingFrom('/tmp/broken'), terminationGracePeriodSeconds: 20 } },
          },
        ],
      }),
    );
    await pod.untilStarted('proxy', 'main');
    await pod.exec('main', 'touch', '/tmp/broken');
    await pod.untilEvent('main', 'Started', 2);
    const log = pod.timeline;
    assert.deepEqual([log.signals('main'), log.signals('proxy')], [[15], []]);
    await pod.untilRestarted('main');
    assert.equal(pod.end('main').exitCode, 0);
    assert.equal(pod.message('main').StopReason, 'signal TERM');
    log.notRestarted('proxy');
    await pod.delete();
    await pod.untilGone();
    assert.deepEqual(pod.timeline.signals('proxy'), [15]);
  });

  clusterTest('K08 a sidecar whose kubelet probe fails holds, restarts, and its main runs on', async (t) => {
    const pod = await startPod(
      t,
      'liveness-sidecar',
      podOf({
        restartPolicy: 'Always',
        graceSeconds: 8,
        members: [
          {
            name: 'proxy',
            flags: SIDECAR,
            does: { counter: '/log/lives' },
            more: { livenessProbe: failingFrom('/tmp/broken') },
          },
          { name: 'main' },
        ],
      }),
    );
    await pod.untilStarted('proxy', 'main');
    await pod.exec('proxy', 'touch', '/tmp/broken');
    await pod.untilEvent('proxy', 'Started', 2);
    const log = pod.timeline;
    assert.deepEqual([log.signals('proxy'), log.signals('main')], [[15], []]);
    await pod.untilRestarted('proxy');
    await pod.delete();
    await pod.untilGone();
    assert.deepEqual([pod.timeline.signals('main'), pod.end('main').exitCode], [[15], 0]);
  });

  clusterTest('A2 a sidecar that is stopped alone does not hold if its main declares no preStop', async (t) => {
    const pod = await startPod(
      t,
      'liveness-alone',
      podOf({
        restartPolicy: 'Always',
        graceSeconds: 60,
        members: [
          {
            name: 'proxy',
            flags: SIDECAR,
            does: { counter: '/log/lives' },
            more: { livenessProbe: failingFrom('/tmp/broken') },
          },
          { name: 'main', flags: ['--platform-pre-stop', 'none'] },
        ],
      }),
    );
    await pod.untilStarted('proxy', 'main');
    await pod.exec('proxy', 'touch', '/tmp/broken');
    await pod.untilEvent('proxy', 'Started', 2);
    const log = pod.timeline;
    assert.deepEqual([log.signals('proxy'), log.signals('main')], [[15], []]);
    const stopped = pod.message('proxy');
    assert.ok(Number(stopped.StopMs) < 30_000, `it took ${stopped.StopMs} ms`);
    assert.match(pod.log('proxy'), /only this container is being stopped, not the pod: main was not asked/);
    assert.ok(pod.tombstone('main')?.PodStopNotBefore !== undefined);
    await pod.untilRestarted('proxy');
    await pod.delete();
    await pod.untilGone();
    // In the pod's own stop the sidecar holds.
    const ends = pod.timeline;
    assert.deepEqual(ends.signals('proxy'), [15, 15]);
    assert.ok(ends.at('main', 'Exiting').index < ends.last('proxy', 'Signal').index);
  });

  clusterTest('A1 a deletion 13 s after a probe stopped one member leaves the other all its grace', async (t) => {
    const pod = await startPod(
      t,
      'liveness-deletion',
      podOf({
        restartPolicy: 'Always',
        graceSeconds: 20,
        members: [
          { name: 'a', does: { ignore: 'TERM' }, more: { livenessProbe: failingFrom('/tmp/broken') } },
          { name: 'b', does: { term: 10_000 } },
        ],
      }),
    );
    await pod.untilStarted('a', 'b');
    await pod.exec('a', 'touch', '/tmp/broken');
    await pod.untilEvent('a', 'Signal');
    await passed(13_000);
    await pod.delete();
    await pod.untilGone();
    const log = pod.timeline;
    assert.deepEqual(log.signals('b'), [15]);
    assert.equal(log.of('b', 'Exiting').length, 1, 'b ended by itself');
    assert.equal(pod.end('b').exitCode, 0);
  });
});

/** The moment of the second stop is what the test is about. */
function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
