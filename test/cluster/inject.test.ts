/** What `sexton inject` makes of manifests without sexton, on a real cluster, in both deliveries. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { parse, stringify } from 'yaml';
import { DELIVERIES } from '../../src/inject/delivery.ts';
import { inject, uninject } from '../../src/inject/inject.ts';
import { type ApiObject, ask, kubectl } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { unlessImageSubPaths } from './helpers/features.ts';
import { imageNames } from './helpers/images.ts';
import { untilUsable, withNamespace } from './helpers/namespace.ts';
import type { PodObject } from './helpers/objects.ts';
import { startPod } from './helpers/pod.ts';
import { assertRollsWithoutFailure, untilRolledOut } from './helpers/rollout.ts';
import { namespace } from './helpers/watch.ts';
import { applyText, assertUnderSexton, assertWithoutSexton } from './helpers/workloads.ts';
import { LOCK, SERVICE, WORKLOADS } from './workloads.ts';

withNamespace('inject');

const { sexton, plain } = imageNames();
const container = (name: string, ...command: readonly string[]) => {
  return { name, image: plain, imagePullPolicy: 'Never', command };
};
/** It ends when PID 1 has reaped the orphan: until then /proc has it. */
const ORPHAN = 'p=$(sleep 1 >/dev/null & echo $!); while [ -e /proc/$p ]; do sleep 0.1; done';
/** A proxy of the old kind: nothing ends it. */
const JOB = stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'work', annotations: { 'inject.sexton.dev/role.proxy': 'sidecar' } },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 20,
    containers: [
      container('work', 'sh', '-c', `tr '\\0' ' ' </proc/1/cmdline; ${ORPHAN}`),
      container('proxy', 'sleep', '3600'),
    ],
  },
});

describe('on a cluster', { concurrency: 2 }, () => {
  for (const deliver of DELIVERIES)
    clusterTest(
      `sexton inject by ${deliver} lets a Job with an endless sidecar complete`,
      async (t) => {
        const inputs = [{ path: 'pod.yaml', text: JOB }];
        const options = { deliver, image: sexton, images: new Map(), version: 'test' };
        const [change] = (await inject(inputs, options)).changes;
        const text = change?.text ?? '';
        const { spec } = parse(text) as PodObject;
        const pod = await startPod(t, 'injected', spec);
        assert.equal(await pod.untilEnded(), 'Succeeded');
        assert.match(pod.log('work'), /^\/sexton\/sexton run --name work /m);
        assert.deepEqual([pod.end('work').exitCode, pod.end('proxy').exitCode], [0, 0]);
        assert.equal(pod.message('proxy').StopReason, 'mains finished');
        const [back] = (await uninject([{ path: 'pod.yaml', text }])).changes;
        assert.equal(back?.text, JOB);
      },
      deliver === 'image-volume' ? unlessImageSubPaths : undefined,
    );
});

const JOBS = ['job', 'cron'];
/** Kubernetes changes their pods by a rolling update; others are replaced. */
const ROLLED = ['web', 'stateful', 'daemon'];

describe('sexton inject by file, on a cluster', { concurrency: 2 }, () => {
  clusterTest('a pod of the level "restricted" stays one in both deliveries', async (t) => {
    const objectOf = (name: string): object => WORKLOADS.find((one) => one.name === name)?.object ?? {};
    assert.match(await asRestricted(t, objectOf('command')), /violates PodSecurity/);
    for (const deliver of DELIVERIES) {
      const inputs = [{ path: 'pod.yaml', text: streamOf([objectOf('restricted')]) }];
      const { changes } = await inject(inputs, { deliver, image: sexton, images: LOCK, version: 'test' });
      assert.equal(await asRestricted(t, parse(changes[0]?.text ?? '')), 'admitted');
    }
  });

  clusterTest(
    'workloads of every kind run under sexton, and without it when it was taken out',
    async (t) => {
      const text = streamOf([SERVICE, ...WORKLOADS.map(({ object }) => object)]);
      const options = { deliver: 'image-volume', image: sexton, images: LOCK, version: 'test' } as const;
      const { changes, outcomes } = await inject([{ path: 'all.yaml', text }], options);
      assert.deepEqual(
        outcomes.map(({ refusal, members }) => refusal?.message ?? members.length),
        WORKLOADS.map(({ members }) => Object.keys(members).length),
      );
      const after = changes[0]?.text ?? '';
      await applyText(t, 'apply', after);
      const where = ['--namespace', namespace()];
      await kubectl('create', 'job', 'cron', '--from=cronjob/cron', ...where);
      t.after(() => kubectl('delete', 'job/cron', '--ignore-not-found', '--wait=false', ...where));
      const lasting = WORKLOADS.filter(({ name }) => !JOBS.includes(name));
      for (const workload of lasting) await assertUnderSexton(workload);
      await assertRollsWithoutFailure(t, 'web', 2);
      await kubectl('wait', '--for=condition=complete', '--timeout=100s', 'job/job', 'job/cron', ...where);
      for (const job of JOBS)
        assert.match(await kubectl('logs', `job/${job}`, '--container=main', ...where), /^\/sexton\/sexton run /m);

      const back = (await uninject([{ path: 'all.yaml', text: after }])).changes[0]?.text;
      assert.equal(back, text);
      const part = (isRolled: boolean): string =>
        streamOf(lasting.filter(({ name }) => ROLLED.includes(name) === isRolled).map(({ object }) => object));
      await applyText(t, 'apply', part(true));
      await applyText(t, 'replace', part(false));
      for (const { name, object } of lasting)
        if (ROLLED.includes(name)) await untilRolledOut(name, object.kind.toLowerCase());
      for (const workload of lasting) await assertWithoutSexton(workload);
    },
    unlessImageSubPaths,
  );
});

/** What the API server says of a pod in a namespace of the level "restricted". */
async function asRestricted(t: TestContext, object: object): Promise<string> {
  const metadata = { generateName: `${namespace()}-`, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } };
  const { name } = (await ask<ApiObject>('POST', '/api/v1/namespaces', { metadata })).metadata;
  const path = `/api/v1/namespaces/${name}`;
  t.after(() => ask('DELETE', path));
  await untilUsable(name);
  return ask('POST', `${path}/pods?dryRun=All`, object).then(
    () => 'admitted',
    (error: unknown) => String(error),
  );
}

function streamOf(objects: readonly object[]): string {
  return objects.map((one) => stringify(one, { aliasDuplicateObjects: false })).join('---\n');
}
