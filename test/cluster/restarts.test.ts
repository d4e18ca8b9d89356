/**
 * R: containers that the kubelet starts again by their restart rules, alone or all together (Kubernetes 1.35 and 1.36).
 * The sidecar is listed before the main: it is started first, and finds what the lives before have left.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { clusterTest } from './helpers/case.ts';
import { imageNames } from './helpers/images.ts';
import { type MemberSpec, MOUNTS, podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';

/** Ends with that code at first, later with 0. */
const restarted = (name: string, runs: string, code: number, action: string, flag: string): MemberSpec => ({
  name,
  flags: ['--restart-rules', flag],
  does: { runs, exits: `${code},0`, counter: `/log/count-${name}` },
  more: { restartPolicy: 'Never', restartPolicyRules: [{ action, exitCodes: { operator: 'In', values: [code] } }] },
});
const proxy: MemberSpec = { name: 'proxy', flags: SIDECAR };

/** What an init container does; a second one is run again with the others. */
const begin = () => ({
  initContainers: [
    {
      name: 'begin',
      image: imageNames().whole,
      imagePullPolicy: 'Never',
      command: ['/sexton/sexton', 'begin'],
      volumeMounts: MOUNTS,
    },
  ],
});

describe('on a cluster, restart rules', { concurrency: 3 }, () => {
  for (const [id, how, more] of [
    ['R05', 'sexton begin in an init container', begin],
    ['R06', 'nothing but the rule itself', () => ({})],
  ] as const)
    clusterTest(`${id} a sidecar serves the new main after a restart of all, with ${how}`, async (t) => {
      const main: MemberSpec = { name: 'main', does: { runs: '500,13000', counter: '/log/count-main' } };
      const watch = restarted('watch', '6000,100', 88, 'RestartAllContainers', '88=restart-all');
      const pod = await startPod(t, `all-${id.toLowerCase()}`, podOf({ members: [proxy, main, watch], more: more() }));
      assert.equal(await pod.untilEnded(), 'Succeeded');
      assert.deepEqual([pod.status('main').restartCount, pod.status('proxy').restartCount], [1, 1]);
      assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [0, 0]);
      assert.equal(pod.message('proxy').Reason, 'stopped');
      assert.ok((pod.end('proxy').finishedAt ?? '') >= (pod.end('main').finishedAt ?? 'none'));
    });
});
