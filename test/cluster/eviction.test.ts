/**
 * Pods that a real kubelet evicts: for what they have written into a volume, and for the memory of their node. The
 * eviction for memory needs a kubelet that finds too little left, so it is started again with higher thresholds.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { clusterTest } from './helpers/case.ts';
import { createJob } from './helpers/job.ts';
import { availableMemory, Kubelet, whyNotThisNode } from './helpers/kubelet.ts';
import { MOUNTS, podOf, SIDECAR } from './helpers/members.ts';
import type { ClusterPod } from './helpers/pod.ts';

const MIB = 2 ** 20;
/** Nothing but a floor, or the KILL, ends this drain in time. */
const drain = (atLeast: string): string[] => ['--drain', `min=${atLeast},quiet=5s,max=25s`];
const FLOOR = ['--grace-floor', '8s'];
/** How much less memory than now is too little, and how much the pod then takes. */
const [LESS_MIB, TAKEN_MIB] = [200, 400];

interface Greed {
  readonly flags?: readonly string[];
  /** Flags for both members. */
  readonly floor?: readonly string[];
  readonly volume?: Readonly<Record<string, string>>;
  readonly mib?: number;
}

/** A pod that was evicted, and what its Job says then. */
interface Evicted {
  readonly pod: ClusterPod;
  readonly job: 'Complete' | 'Failed';
}

/** A Job's pod whose main writes `mib` into a volume. The kubelet evicts it, and both end. */
async function evicted(
  t: TestContext,
  { flags = [], floor = [], volume = { sizeLimit: '1Mi' }, mib = 4 }: Greed,
): Promise<Evicted> {
  const volumeMounts = [...MOUNTS, { name: 'scratch', mountPath: '/scratch' }];
  const spec = podOf({
    graceSeconds: 60,
    members: [
      { name: 'proxy', flags: [...SIDECAR, ...floor] },
      { name: 'main', flags: ['--start-after', 'proxy=started', ...flags, ...floor], more: { volumeMounts } },
    ],
    more: { volumes: [{ name: 'scratch', emptyDir: volume }] },
  });
  const job = await createJob(t, 'evicted', spec);
  const pod = await job.pod();
  await pod.untilStarted('proxy', 'main');
  await pod.exec('main', 'sh', '-c', `head -c ${mib * MIB} /dev/zero > /scratch/file`);
  await pod.untilEnded();
  const evictions = (await pod.events()).filter(({ reason }) => reason === 'Evicted');
  assert.equal(evictions.length, 1, 'it was evicted');
  t.diagnostic(`${evictions[0]?.message}; ${pod.message('main').Summary}; ${pod.message('proxy').Summary}`);
  return { pod, job: await job.end() };
}

function endedInOrder({ pod, job }: Evicted): void {
  assert.deepEqual([pod.timeline.signals('main'), pod.timeline.signals('proxy')], [[15], [15]]);
  pod.timeline.exitsBeforeSignalTo('main', 'proxy');
  for (const member of ['main', 'proxy']) assert.match(pod.log(member), /"containerExitCode":0,/);
  const isLost = pod.isLost('main') || pod.isLost('proxy');
  // The kubelet goes by the exit codes, and the Job by the kubelet.
  assert.deepEqual([pod.now.status.phase, job], isLost ? ['Failed', 'Failed'] : ['Succeeded', 'Complete']);
  if (!isLost) assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [0, 0]);
}

/** The sidecar has 2 s to wake and to write down that it holds, which a busy node may not leave it. */
function wasCut({ pod, job }: Evicted): void {
  assert.deepEqual([pod.timeline.signals('main'), pod.timeline.signals('proxy')], [[], []]);
  assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [137, 137]);
  if (!pod.isLost('main')) assert.equal(pod.message('main').Unfinished, 'drain');
  assert.deepEqual([pod.now.status.phase, pod.now.status.reason, job], ['Failed', 'Evicted', 'Failed']);
}

describe('a pod that is evicted for the size of a volume', { concurrency: 2 }, () => {
  clusterTest('C3: members without a drain stop in order before the KILL of an eviction', async (t) => {
    endedInOrder(await evicted(t, {}));
  });

  clusterTest('C3: a drain is cut by the KILL of an eviction, and the main says so', async (t) => {
    wasCut(await evicted(t, { flags: drain('20s') }));
  });
});

describe('a pod that is evicted for the memory of its node', () => {
  /** The kubelet finds that its node has too little memory, once the pod has taken TAKEN_MIB. */
  async function forMemory(t: TestContext, greed: Greed, soft?: Readonly<Record<string, unknown>>) {
    const kubelet = new Kubelet();
    t.after(() => kubelet.end());
    const least = { 'memory.available': `${Math.round((await availableMemory()) / MIB) - LESS_MIB}Mi` };
    await kubelet.restartWith({
      evictionPressureTransitionPeriod: '1s',
      ...(soft === undefined ? { evictionHard: least } : { evictionSoft: least, ...soft }),
    });
    return evicted(t, { ...greed, volume: { medium: 'Memory' }, mib: TAKEN_MIB });
  }

  clusterTest(
    'C3: an eviction at the hard threshold leaves a main without a drain time to stop',
    async (t) => endedInOrder(await forMemory(t, {})),
    whyNotThisNode,
  );

  clusterTest(
    'C3: an eviction at the hard threshold cuts a drain, and the main says so',
    async (t) => wasCut(await forMemory(t, { flags: drain('20s') })),
    whyNotThisNode,
  );

  clusterTest(
    'C3: a grace floor keeps the time that an eviction at the soft threshold leaves',
    async (t) => {
      const soft = { evictionSoftGracePeriod: { 'memory.available': '1s' }, evictionMaxPodGracePeriod: 8 };
      const evictee = await forMemory(t, { flags: drain('7s'), floor: FLOOR }, soft);
      endedInOrder(evictee);
      assert.match(evictee.pod.log('main'), /"Ended":"grace floor"/);
    },
    whyNotThisNode,
  );
});
