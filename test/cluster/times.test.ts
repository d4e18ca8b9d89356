/** How long the end of a pod takes, beside the same pod with a native sidecar, one after the other in the same run. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { clusterTest } from './helpers/case.ts';
import { median, recordFigure } from './helpers/figures.ts';
import { imageNames } from './helpers/images.ts';
import { MOUNTS, SESSION } from './helpers/members.ts';
import type { PodSpec } from './helpers/objects.ts';
import { startPod } from './helpers/pod.ts';

const ROUNDS = 5;
const MAIN = ['/member', 'name=main', 'log=/dev/stdout', 'run=4000'];
const PROXY = ['/member', 'name=proxy', 'log=/dev/stdout'];

interface Times {
  readonly toTermMs: number;
  readonly toSucceededMs: number;
}

clusterTest('J04 the end of a main reaches its sidecar, and the pod succeeds, in a time that is told', async (t) => {
  const ours: Times[] = [];
  const native: Times[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const both = await Promise.all([timesOf(t, 'ours', withSexton()), timesOf(t, 'native', withNativeSidecar())]);
    ours.push(both[0]);
    native.push(both[1]);
  }
  const told = (times: readonly Times[], key: keyof Times): string =>
    `${Math.round(median(times.map((it) => it[key])))} ms`;
  for (const [key, what] of [
    ['toTermMs', "the main's exit to its sidecar's TERM"],
    ['toSucceededMs', "the main's exit to the pod's Succeeded"],
  ] as const) {
    recordFigure(`${what}, median of ${ROUNDS}`, { sexton: told(ours, key), native: told(native, key) });
  }
});

async function timesOf(t: TestContext, name: string, spec: PodSpec): Promise<Times> {
  const pod = await startPod(t, name, spec);
  assert.equal(await pod.untilEnded(), 'Succeeded');
  const log = pod.timeline;
  log.exitsBeforeSignalTo('main', 'proxy');
  return {
    toTermMs: log.at('proxy', 'Signal').atMs - log.at('main', 'Exiting').atMs,
    toSucceededMs: pod.phaseAt('Succeeded') - pod.heardAt('main', / Exiting /),
  };
}

function container(name: string, command: readonly string[]) {
  return { name, image: imageNames().whole, imagePullPolicy: 'Never', command };
}

function withSexton(): PodSpec {
  const declared = ['--restart-policy', 'Never', '--grace-period', '30s'];
  const proxy = [
    '/sexton/sexton',
    'run',
    '--name',
    'proxy',
    '--role',
    'sidecar',
    '--mains',
    'main',
    ...declared,
    '--',
    ...PROXY,
  ];
  const main = ['/sexton/sexton', 'run', '--name', 'main', ...declared, '--', ...MAIN];
  const [graveyard] = MOUNTS;
  const member = { env: [SESSION], volumeMounts: [graveyard] };
  return {
    restartPolicy: 'Never',
    containers: [
      { ...container('proxy', proxy), ...member },
      { ...container('main', main), ...member },
    ],
    volumes: [{ name: 'graveyard', emptyDir: {} }],
  };
}

function withNativeSidecar(): PodSpec {
  return {
    restartPolicy: 'Never',
    initContainers: [{ ...container('proxy', PROXY), restartPolicy: 'Always' }],
    containers: [container('main', MAIN)],
  };
}
