/** What `sexton check` predicts of a stop, beside what a real kubelet makes of it: random pods. */
import assert from 'node:assert/strict';
import { after, describe, type TestContext } from 'node:test';
import { check } from '../../src/check/check.ts';
import { type ContainerPlan, type Timeline, timelineOf } from '../../src/check/stop/timeline.ts';
import { clusterTest } from './helpers/case.ts';
import { type Drawn, drawPod, WITNESS } from './helpers/drawn.ts';
import { type ClusterPod, startPod } from './helpers/pod.ts';

const PODS = 50;
const AT_ONCE = 10;
/** The difference of two times in whole seconds may be off by almost one, and the witness takes some time to end. */
const EARLY_MS = 2_000;
/** So long a busy node takes to start a hook's program and to kill; what the witness took comes on top. */
const LATE_MS = 3_000;
/** A KILL, or an end without one, is certain where so much more or less of the program would not change it. */
const MARGIN_MS = 2_000;

const seen = { containers: 0, certain: 0, killed: 0 };

describe('on a cluster', { concurrency: AT_ONCE }, () => {
  for (let seed = 1; seed <= PODS; seed += 1)
    clusterTest(`a random pod stops as sexton check predicts (seed ${seed})`, (t) => compare(t, seed));

  after(() => {
    // Pods in which nothing is ever killed, or all is uncertain, would prove nothing.
    assert.ok(seen.certain > seen.containers / 2 && seen.killed > seen.containers / 5, JSON.stringify(seen));
  });
});

async function compare(t: TestContext, seed: number): Promise<void> {
  const { drawn, timeline } = await predictedPod(seed);
  const pod = await startPod(t, `drawn-${seed}`, drawn.spec);
  for (const { name, command } of [...(drawn.spec.initContainers ?? []), ...drawn.spec.containers]) {
    if (command?.[0] === 'sh') await pod.until(`${name} runs`, () => pod.findStatus(name)?.state.running);
    else await pod.untilEvent(name, 'Started');
  }
  const askedMs = Date.now();
  await pod.delete();
  await pod.untilGone();
  const beginMs = finishedMs(pod, WITNESS);
  const lateMs = LATE_MS + Math.max(0, beginMs - askedMs);
  const [faster, slower] = [-MARGIN_MS, MARGIN_MS].map((ms) => timelineOf(shifted(timeline, ms)).containers);
  for (const [index, { name, end, killed }] of timeline.containers.entries()) {
    const endMs = finishedMs(pod, name) - beginMs;
    const isKilled = wasKilled(pod, name);
    const told = JSON.stringify({ name, end, killed, endMs, isKilled, lateMs });
    assert.ok(endMs >= end.minMs - EARLY_MS && endMs <= end.maxMs + lateMs, `end: ${told}`);
    seen.containers += 1;
    if (isKilled) seen.killed += 1;
    if ([faster, slower].some((other) => other?.[index]?.killed !== killed) || killed === 'maybe') continue;
    seen.certain += 1;
    assert.equal(isKilled, killed === 'always', `KILL: ${told}`);
  }
}

/** The first pod of this seed that sexton does not refuse, and what is predicted of it. */
async function predictedPod(seed: number): Promise<{ drawn: Drawn; timeline: Timeline }> {
  for (let draw = 0; ; draw += 1) {
    const drawn = drawPod(seed, draw);
    const { annotations, spec } = drawn;
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'drawn', annotations }, spec };
    const { workloads, findings } = await check([{ path: 'pod.json', text: JSON.stringify(manifest) }]);
    const timeline = workloads[0]?.view.timeline;
    assert.ok(timeline !== undefined);
    if (!findings.some(({ rule }) => rule === 'SX800')) return { drawn, timeline };
  }
}

/** As if all programs took so much longer. */
function shifted({ graceMs, containers }: Timeline, ms: number) {
  const plans = containers.map(({ plan }): ContainerPlan => {
    const { response, ownKillMs } = plan;
    const longer = { minMs: Math.max(0, response.minMs + ms), maxMs: Math.max(0, response.maxMs + ms) };
    return { ...plan, response: longer, ownKillMs: ownKillMs + ms };
  });
  return { graceMs, containers: plans };
}

function finishedMs(pod: ClusterPod, name: string): number {
  return Date.parse(pod.end(name).finishedAt ?? '');
}

/** By the kubelet: where sexton has killed its command itself it says that its stop was finished. */
function wasKilled(pod: ClusterPod, name: string): boolean {
  const { exitCode, message = '' } = pod.end(name);
  return exitCode === 137 && (message === '' || pod.message(name).Unfinished !== undefined);
}
