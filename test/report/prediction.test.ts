import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check, type Result } from '../../src/check/check.ts';
import { predictionFor, sinceFirstTerm } from '../../src/check/prediction.ts';
import { timelineOf } from '../../src/check/stop/timeline.ts';
import { htmlPage } from '../../src/report/html.ts';
import { podsJson } from '../../src/report/plain.ts';
import { comparisonLines, comparisonOf } from '../../src/report/prediction.ts';
import { type MemberStop, type PodStop, podsOf } from '../../src/report/stop.ts';
import { podSvg } from '../../src/report/svg.ts';
import { fleetText, podText } from '../../src/report/text.ts';
import { playStop } from '../check/kubelet.ts';
import { drawPod } from '../check/stops.ts';
import { deployment } from '../check/workloads.ts';
import { podOfEvidence } from './documents.ts';
import { at, BEGAN_MS, EVIDENCE } from './pods.ts';

const PLAIN = { width: 100, colours: false, ascii: true };

function manifest(flags: string, more = ''): string {
  return deployment(
    `- name: a\n  image: example.com/web:1\n  command: [/sexton/sexton, run, ${flags}, --, /bin/main]\n${more}`,
  );
}

async function resultOf(...texts: readonly string[]): Promise<Result> {
  return check(texts.map((text, index) => ({ path: `${index}.yaml`, text })));
}

function podEnding(afterMs: number, more: object = {}): PodStop {
  return podOfEvidence([{ ...EVIDENCE, Died: at(afterMs), Phases: [], ...more }], 'shop/web-0', 'shop/web');
}

async function linesOf(pod: PodStop, text: string): Promise<readonly string[]> {
  return comparisonLines(await predicted(pod, text));
}

async function predicted(pod: PodStop, ...texts: readonly string[]): Promise<PodStop> {
  const prediction = predictionFor(pod, await resultOf(...texts));
  assert.ok(prediction.ok, JSON.stringify(prediction));
  return { ...pod, prediction: prediction.value };
}

async function whyNone(pod: PodStop, ...texts: readonly string[]): Promise<string> {
  const prediction = predictionFor(pod, await resultOf(...texts));
  assert.ok(!prediction.ok);
  return prediction.why;
}

const NOTHING = { spans: [], marks: [], restarts: 0, startAfter: [] };
const ASKED = { stopReason: 'signal TERM', reason: 'stopped', exitCode: 0 } as const;
const MEMBER: Omit<MemberStop, 'name'> = { pod: 'p', workload: 'p', role: 'main', ...NOTHING, ...ASKED };
const DRAINS = manifest('--drain, 3s, --stop, "TERM:5s,KILL"');

describe('a report against a manifest', () => {
  it('the comparison says that all came as predicted, within half a second', async () => {
    for (const ms of [2_600, 3_000, 8_000, 8_400])
      assert.deepEqual(await linesOf(podEnding(ms), DRAINS), ['as predicted from Deployment/web of 0.yaml'], `${ms}`);
  });

  it('the comparison says which end lies outside of the predicted times', async () => {
    const head = 'not as predicted from Deployment/web of 0.yaml';
    for (const s of [1, 9]) {
      const told = `main: ended after ${s}.0 s, predicted was 3.0 s to 8.0 s`;
      assert.deepEqual(await linesOf(podEnding(s * 1_000), DRAINS), [head, told]);
    }
  });

  it('the comparison reports a KILL that was not predicted, by the platform or by sexton', async () => {
    const declared = DRAINS.replace(
      'metadata: {name: web}',
      'metadata: {name: web, annotations: {check.sexton.dev/stop-seconds: "4"}}',
    );
    for (const ForcedBy of ['sexton', 'an unknown sender'])
      assert.deepEqual((await linesOf(podEnding(7_000, { ForcedBy }), declared)).slice(1), [
        `main: KILL by ${ForcedBy}, predicted was none`,
      ]);
    // The ladder ends in KILL, so one is possible where nothing is declared.
    assert.deepEqual((await linesOf(podEnding(8_000, { ForcedBy: 'sexton' }), DRAINS)).length, 1);
  });

  it('the comparison counts from the first stop signal, after the hooks of the platform', async () => {
    const hooked = manifest('--drain, 3s, --stop, "TERM:5s,KILL"', '  lifecycle: {preStop: {sleep: {seconds: 10}}}');
    const pod = await predicted(podEnding(5_000), hooked);
    const [main] = comparisonOf(pod)?.members ?? [];
    assert.deepEqual([main?.predicted.minMs, main?.predicted.maxMs], [3_000, 8_000]);
    assert.equal(comparisonLines(pod).length, 1);
  });

  it('the comparison needs a stop signal of the platform, and skips members that ended before it', async () => {
    assert.match(
      (await linesOf(podEnding(5_000, { StopReason: 'mains finished' }), DRAINS)).join('\n'),
      /^not compared with Deployment\/web of 0\.yaml: that predicts a deletion, and no stop signal/,
    );
    const pod = podEnding(5_000);
    const [main] = pod.members;
    assert.ok(main);
    const diedMs = (main.requestedMs ?? 0) - 1_000;
    const early: MemberStop = { ...main, name: 'early', requestedMs: undefined, stopReason: undefined, diedMs };
    const both = manifest('--drain, 3s', '- {name: early, image: "example.com/early:1"}\n');
    const compared = comparisonOf(await predicted({ ...pod, members: [main, early] }, both));
    assert.equal(compared?.members.map(({ member }) => member.name).join(), 'main');
  });

  it('the comparison finds no difference in 300 random pods that a kubelet stops', () => {
    let killed = 0;
    for (let seed = 1; seed <= 300; seed += 1) {
      const { plan, actual } = drawPod(seed);
      const stops = timelineOf(plan).containers.map((stop) => [stop.name, stop] as const);
      const members = [...playStop(plan.graceMs, actual)].map(([name, { termMs, endMs, isKilled }]): MemberStop => {
        if (isKilled) killed += 1;
        const forcedBy = isKilled ? 'an unknown sender' : undefined;
        return { ...MEMBER, name, requestedMs: BEGAN_MS + termMs, diedMs: BEGAN_MS + endMs, forcedBy };
      });
      const [pod] = podsOf(members, BEGAN_MS);
      assert.ok(pod);
      const compared = comparisonOf({ ...pod, prediction: { of: 'it', members: sinceFirstTerm(stops) } });
      assert.equal(compared?.members.length, members.length, `seed ${seed}`);
      const differences = compared.members.flatMap((one) => one.differences);
      assert.deepEqual(differences, [], `seed ${seed}`);
    }
    assert.ok(killed > 100, `${killed}`);
  });

  it('the comparison finds a workload by its containers, then by its controller, or says why not', async () => {
    const pod = podEnding(5_000);
    const other = DRAINS.replaceAll('name: web}', 'name: other}');
    assert.equal((await predicted(pod, other, DRAINS)).prediction?.of, 'Deployment/web of 1.yaml');
    assert.equal((await predicted(pod, other)).prediction?.of, 'Deployment/other of 0.yaml');
    assert.equal(
      await whyNone(pod, DRAINS, DRAINS),
      'shop/web-0 has the member main, and so have Deployment/web of 0.yaml, Deployment/web of 1.yaml; name a file that has only one of them',
    );
    assert.equal(
      await whyNone(pod, deployment('- {name: web, image: "nginx:1.29"}')),
      'shop/web-0 has the member main, and no workload there has all of them: Deployment/web of 0.yaml has web',
    );
    assert.equal(await whyNone(pod, 'kind: ConfigMap\napiVersion: v1\n'), 'no workload is in it');
    assert.match(await whyNone(pod, 'a: [\n'), /^0\.yaml was not read: not YAML/);
  });

  it('the comparison shows the difference in every format that has room for it', async () => {
    const pod = await predicted(podEnding(1_000), DRAINS);
    const what = /main: ended after 1\.0(?: |&#160;)s, predicted was 3\.0(?: |&#160;)s to 8\.0(?: |&#160;)s/;
    for (const text of [podText(pod, PLAIN), podSvg(pod), htmlPage([pod]), fleetText([pod], 200)])
      assert.match(text, what);
    assert.match(podText(pod, PLAIN), /^ {2}predicted .* 3\.0 s to 8\.0 s, perhaps KILL$/m);
    const [told] = JSON.parse(podsJson([pod])).pods;
    assert.deepEqual(told.prediction, {
      of: 'Deployment/web of 0.yaml',
      compared: true,
      asPredicted: false,
      differences: ['main: ended after 1.0 s, predicted was 3.0 s to 8.0 s'],
    });
    const predictedEnd = { endMs: { min: 3_000, max: 8_000 }, kill: 'maybe', asPredicted: false };
    assert.deepEqual(told.members[0].predicted, predictedEnd);
  });
});
