/** What `sexton inject` makes of manifests without sexton, on a real cluster, in both deliveries. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { parse, stringify } from 'yaml';
import { DELIVERIES } from '../../src/inject/delivery.ts';
import { inject, uninject } from '../../src/inject/inject.ts';
import { clusterTest } from './helpers/case.ts';
import { unlessImageSubPaths } from './helpers/features.ts';
import { imageNames } from './helpers/images.ts';
import type { PodObject } from './helpers/objects.ts';
import { startPod } from './helpers/pod.ts';

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
