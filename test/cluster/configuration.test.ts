/** What reaches a running pod: changed ConfigMaps, probes of the kubelet, and a stop signal of its own. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, type TestContext } from 'node:test';
import { ask } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { unlessStopSignals } from './helpers/features.ts';
import { podOf, SIDECAR } from './helpers/members.ts';
import { isReady } from './helpers/objects.ts';
import { startPod } from './helpers/pod.ts';
import { namespace, podsPath } from './helpers/watch.ts';

/** A change that the kubelet brings late. */
const RELOAD_LIMIT_MS = 40_000;
const SIGHUP = 1;
const _SIGUSR2 = 12;

describe('on a cluster', { concurrency: 4 }, () => {
  clusterTest('L05 --reload sends HUP once when the kubelet has changed a ConfigMap volume', async (t) => {
    const config = await createConfigMap(t, { 'app.conf': 'one' });
    const mount = { name: 'config', mountPath: '/etc/app' };
    const reload = { name: 'main', flags: ['--reload', '/etc/app=HUP'], does: { trap: 'HUP' } };
    const spec = podOf({ members: [reload], more: { volumes: [{ name: 'config', configMap: { name: config } }] } });
    const containers = spec.containers.map((it) => ({
      ...it,
      volumeMounts: [...(it.volumeMounts as object[]), mount],
    }));
    const pod = await startPod(t, 'reload', { ...spec, containers });
    await pod.untilStarted('main');
    assert.deepEqual(pod.timeline.signals('main'), []);
    // What the volume had at sexton's first look, a moment after the start, is no change.
    for (const text of ['two', 'three', 'four']) {
      await ask('PATCH', `/api/v1/namespaces/${namespace()}/configmaps/${config}`, { data: { 'app.conf': text } });
      // The kubelet looks after its volumes once a minute, and whenever a pod changes.
      await ask('PATCH', `${podsPath()}/${pod.name}`, { metadata: { annotations: { looked: text } } });
      if (
        await pod.untilEvent('main', 'Signal', 1, RELOAD_LIMIT_MS).then(
          () => true,
          () => false,
        )
      )
        break;
    }
    assert.deepEqual(pod.timeline.signals('main'), [SIGHUP]);
    assert.match(await pod.exec('main', 'cat', '/etc/app/app.conf'), /^(two|three|four)$/);
    await pod.delete();
    await pod.untilGone();
    assert.deepEqual(pod.timeline.signals('main'), [SIGHUP, 15]);
  });

  clusterTest("L20 --http answers the kubelet's startup, readiness and liveness probes", async (t) => {
    const get = (path: string) => ({ httpGet: { path, port: 9901 }, periodSeconds: 1 });
    const pod = await startPod(
      t,
      'probed',
      podOf({
        restartPolicy: 'Always',
        members: [
          {
            name: 'main',
            flags: [
              '--http',
              ':9901',
              '--readiness',
              'exec:/member mode=run exists=/log/ready,period=1s',
              '--drain',
              '4s',
              '--readyz-on-drain',
              'fail',
            ],
            more: {
              startupProbe: { ...get('/startupz'), failureThreshold: 60 },
              readinessProbe: { ...get('/readyz'), failureThreshold: 1 },
              livenessProbe: get('/livez'),
            },
          },
        ],
      }),
    );
    await pod.until('the kubelet has seen it start', () => pod.findStatus('main')?.started);
    assert.equal(isReady(pod.now), false);
    await pod.exec('main', 'touch', '/log/ready');
    await pod.until('it is ready', () => isReady(pod.now));
    await pod.delete();
    await pod.until(
      'it is not ready in its drain',
      () => !isReady(pod.now) && pod.status('main').state.running !== undefined,
    );
    await pod.untilGone();
    assert.deepEqual(
      [pod.timeline.signals('main'), pod.end('main').exitCode, pod.status('main').restartCount],
      [[15], 0, 0],
    );
  });

  clusterTest(
    'a lifecycle.stopSignal that --stop-signals names is a stop request and begins the drain',
    async (t) => {
      const more = { lifecycle: { stopSignal: 'SIGUSR2' } };
      const pod = await startPod(
        t,
        'stop-signal',
        podOf({
          restartPolicy: 'Always',
          more: { os: { name: 'linux' } },
          members: [
            { name: 'proxy', flags: SIDECAR },
            { name: 'main', flags: ['--stop-signals', 'TERM,USR2', '--signals', 'USR2:TERM', '--drain', '1s'], more },
          ],
        }),
      );
      await pod.untilStarted('proxy', 'main');
      await pod.delete();
      await pod.untilGone();
      const log = pod.timeline;
      assert.deepEqual([log.signals('main'), log.signals('proxy')], [[15], [15]]);
      log.exitsBeforeSignalTo('main', 'proxy');
      assert.equal(pod.tombstone('main')?.StopReason, 'signal USR2');
      assert.equal(pod.end('main').exitCode, 0);
    },
    unlessStopSignals,
  );
});

async function createConfigMap(t: TestContext, data: Readonly<Record<string, string>>): Promise<string> {
  const name = `config-${randomBytes(3).toString('hex')}`;
  const path = `/api/v1/namespaces/${namespace()}/configmaps`;
  await ask('POST', path, { metadata: { name }, data });
  t.after(() => ask('DELETE', `${path}/${name}`));
  return name;
}
