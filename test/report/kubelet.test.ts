/** What the kubelet recorded of containers that left no message, and who stopped them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readText } from '../../src/report/input.ts';
import { type PodStop, podsOf } from '../../src/report/stop.ts';
import { podText } from '../../src/report/text.ts';
import { sentenceOf } from '../../src/report/words.ts';
import { BEGAN_MS, EVIDENCE } from './pods.ts';

const PLAIN = { width: 120, colours: false, ascii: true };

/** As the kubelet writes it: to the second. */
function second(s: number): string {
  return new Date(BEGAN_MS + s * 1_000).toISOString().replace('.000', '');
}

function ended(from: number, until: number, exitCode: number, more: object = {}): object {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { terminated: { startedAt: second(from), finishedAt: second(until), exitCode, reason, ...more } };
}

interface Around {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

function pod(states: Readonly<Record<string, object>>, { metadata, spec, status }: Around = {}): object {
  const containerStatuses = Object.entries(states).map(([name, state]) =>
    'state' in state ? { name, ...state } : { name, state },
  );
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'shop', ...metadata },
    spec: { terminationGracePeriodSeconds: 30, ...spec },
    status: { containerStatuses, ...status },
  };
}

/** Asked at second 0. */
function deleted(graceS: number): object {
  return { deletionTimestamp: second(graceS), deletionGracePeriodSeconds: graceS };
}

function message(evidence: object): object {
  return { message: `${JSON.stringify(evidence)}\n` };
}

function stopOf(...pods: readonly object[]): PodStop {
  const { members } = readText(pods.map((one) => JSON.stringify(one)).join('\n'), NOW_MS, () => undefined);
  const [stop, ...more] = podsOf(members, NOW_MS);
  assert.ok(stop !== undefined && more.length === 0);
  return stop;
}

const told = (states: Readonly<Record<string, object>>, around?: Around) => sentenceOf(stopOf(pod(states, around)));

const NOW_MS = BEGAN_MS + 60_000;
const OOM = { reason: 'OOMKilled' };
const PROXY = message({ ...EVIDENCE, Name: 'proxy', Role: 'sidecar', StopReason: 'mains finished' });

function bars({ members }: PodStop, of: string): readonly string[] {
  const member = members.find(({ name }) => name === of);
  return (member?.spans ?? []).map(
    ({ activity, fromMs, untilMs }) => `${activity} ${fromMs - BEGAN_MS}..${untilMs - BEGAN_MS}`,
  );
}

describe('a container that left no message', () => {
  it("a container without a message is drawn from the kubelet's record, with a forced OOM kill", () => {
    const stop = stopOf(pod({ main: ended(-5, 0, 137, OOM), proxy: ended(-5, 4, 0, PROXY) }));
    assert.match(sentenceOf(stop), /^forced: main by the OOM killer, 4\.0 s of 30 s/);
    assert.deepEqual(bars(stop, 'main'), ['run -5000..0']);
    const text = podText(stop, PLAIN);
    assert.match(text, /^main \(by the kubelet\) .* exit 137, KILL by the OOM killer$/m);
    assert.match(text, /^proxy \(sidecar\) .* exit 0$/m);
  });

  for (const [how, { state, sentence }] of Object.entries({
    'ended by itself': { state: ended(-5, 2, 0), sentence: 'no KILL' },
    failed: { state: ended(-5, 2, 3), sentence: 'failed: web (exit 3)' },
    'was killed while no stop was on': { state: ended(-5, 2, 137), sentence: 'forced: web by an unknown sender' },
    'was lost': { state: ended(-5, 2, 137, { reason: 'ContainerStatusUnknown' }), sentence: 'lost: web' },
  }))
    it(`has a first sentence that says that it ${how}`, () => assert.equal(told({ web: state }), sentence));

  it('the stop of a container without a message is drawn from the deletion of its pod on', () => {
    const stop = stopOf(pod({ web: ended(-5, 2, 0), log: ended(-5, 31, 137) }, { metadata: deleted(30) }));
    assert.deepEqual(bars(stop, 'web'), ['run -5000..0', 'stop 0..2000']);
    assert.equal(
      sentenceOf(stop),
      'forced: log by the kubelet, 31 s of 30 s; deleted with a grace period of 30 s; log took 31 s to end',
    );
  });

  it('a container without a message is lost at an unknown moment if the kubelet has no time', () => {
    const lost = { terminated: { startedAt: null, finishedAt: null, exitCode: 137, reason: 'ContainerStatusUnknown' } };
    const stop = stopOf(pod({ main: lost, proxy: ended(-5, 4, 0, PROXY) }, { status: { reason: 'Evicted' } }));
    assert.match(sentenceOf(stop), /^lost: main, 4\.0 s of 30 s; evicted by the kubelet; the/);
  });

  it('a container without a message is not over while it runs on after the end of another', () => {
    const stop = stopOf(pod({ main: ended(-5, 0, 0), proxy: { running: { startedAt: second(-5) } } }));
    assert.match(sentenceOf(stop), /^not over yet, 60 s/);
    assert.deepEqual(bars(stop, 'proxy'), ['run -5000..60000']);
  });

  it('a container without a message is drawn once when a later version of its pod was read, too', () => {
    const first = pod({ main: ended(-5, 0, 0), proxy: { running: { startedAt: second(-5) } } });
    const stop = stopOf(first, pod({ main: ended(-5, 0, 0), proxy: ended(-5, 3, 0) }));
    assert.equal(sentenceOf(stop), 'no KILL; main: exit 0 3.0 s before');
  });
});

describe('a container that the kubelet started again', () => {
  const again = (state: object, lastState: object) => ({ state, lastState });

  it('a restarted container is drawn with the end of its earlier life, beside those that ran on', () => {
    const main = again({ running: { startedAt: second(1) } }, ended(-5, 0, 137));
    const stop = stopOf(pod({ main, proxy: { running: { startedAt: second(-5) } } }));
    assert.equal(sentenceOf(stop), 'restart of main: forced: main by an unknown sender, 1.0 s');
    const asked = again({ running: { startedAt: second(5) } }, ended(-5, 4, 0, message(EVIDENCE)));
    assert.match(
      told({ main: asked, proxy: { running: { startedAt: second(-5) } } }),
      /^restart of main: graceful, 5\.0 s of 30 s;/,
    );
    assert.match(podText(stop, PLAIN), /^main .*exit 137, runs again, KILL by an un~$/m);
  });

  it('a restarted container has both lives when deleted later, and says how the first one ended', () => {
    const main = again(ended(-10, 2, 0, message({ ...EVIDENCE, Born: second(-10) })), ended(-60, -20, 137, OOM));
    const stop = stopOf(pod({ main }, { metadata: deleted(30) }));
    assert.deepEqual(bars(stop, 'main').slice(0, 3), ['run -60000..-20000', 'wait -20000..-10000', 'run -10000..0']);
    assert.match(
      sentenceOf(stop),
      /^graceful, 4\.0 s of 30 s; deleted .* 30 s; main: exit 137, KILL by the OOM killer 20 s before, restarted;/,
    );
  });
});

describe("the cause of a pod's stop", () => {
  const stopped = (around: Around) => told({ web: ended(-5, 2, 0) }, around);

  it('the cause is a deletion with another grace period than the pod has declared', () => {
    assert.match(stopped({ metadata: deleted(5) }), /^no KILL, 2\.0 s of 5\.0 s; deleted with .* 5 s instead of 30 s;/);
  });

  it('the cause is a deletion whose grace period only an earlier version of the pod has', () => {
    const web = { web: ended(-5, 2, 137) };
    const last = pod(web, { metadata: { deletionTimestamp: second(9), deletionGracePeriodSeconds: 0 } });
    assert.equal(sentenceOf(stopOf(last)), 'forced: web by an unknown sender; deleted');
    const first = pod(web, { metadata: deleted(2) });
    assert.match(
      sentenceOf(stopOf(first, last)),
      /^forced: web by the kubelet, 2\.0 s of 2\.0 s; deleted with .* of 2 s /,
    );
  });

  it('the cause is a deletion whose shortened grace period the kubelet did not enforce', () => {
    assert.match(
      told({ web: ended(-5, 7, 0) }, { metadata: deleted(1) }),
      /^no KILL, 7\.0 s; deleted with a grace period of 1 s instead of 30 s, which was not enforced;/,
    );
  });

  for (const [reason, why] of Object.entries({
    PreemptionByScheduler: 'preempted by a pod of higher priority',
    EvictionByEvictionAPI: 'evicted by a request',
    DeletionByTaintManager: 'evicted by a taint of its node',
  }))
    it(`the cause is read from the condition ${reason}`, () => {
      const conditions = [{ type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime: second(0) }];
      assert.match(stopped({ status: { conditions } }), new RegExp(`^no KILL, 2\\.0 s; ${why};`));
    });

  it('a deletion keeps apart from an earlier stop of one container', () => {
    const early = message({ ...EVIDENCE, Name: 'early', Phases: [], StopRequested: second(-3), Died: second(-1) });
    const both = { web: ended(-5, 2, 0), early: ended(-5, -1, 0, early) };
    assert.match(
      told(both, { metadata: deleted(30) }),
      /^no KILL, 2\.0 s of 30 s; deleted .*; early: exit 0 1\.0 s before; web took 2\.0 s to end$/,
    );
  });

  it('the cause is an eviction by the kubelet, or an exceeded deadline', () => {
    assert.match(
      stopped({ status: { reason: 'Evicted', message: 'The node was low on resource: memory. ' } }),
      /^no KILL; evicted by the kubelet \(The node was low on resource: memory\.\)$/,
    );
    assert.match(stopped({ status: { reason: 'DeadlineExceeded' } }), /; its active deadline was exceeded$/);
  });
});

describe('a KILL in a pod that its platform ended', () => {
  const killed = { web: ended(-5, 2, 137) };
  const cut = { ...EVIDENCE, Died: undefined, ExitCode: undefined, Unfinished: 'drain' };
  const disruption = (reason: string, atS: number) => ({
    conditions: [{ type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime: second(atS) }],
  });
  const CASES: Readonly<Record<string, readonly [Record<string, object>, Around, string]>> = {
    'an eviction': [killed, { status: { reason: 'Evicted' } }, 'the kubelet'],
    'an exceeded deadline': [killed, { status: { reason: 'DeadlineExceeded' } }, 'the kubelet'],
    'a termination by the kubelet': [killed, { status: disruption('TerminationByKubelet', 0) }, 'the kubelet'],
    'a preemption': [killed, { status: disruption('PreemptionByScheduler', 0) }, 'the kubelet'],
    'an eviction that cut off the message': [
      { main: ended(-5, 2, 137, message(cut)) },
      { status: { reason: 'Evicted' } },
      'the kubelet',
    ],
    'an eviction after the KILL': [killed, { status: disruption('TerminationByKubelet', 9) }, 'an unknown sender'],
    'a mere deletion': [killed, { metadata: deleted(30) }, 'an unknown sender'],
  };
  for (const [what, [states, around, sender]] of Object.entries(CASES))
    it(`is attributed to ${sender} after ${what}`, () =>
      assert.match(told(states, around), new RegExp(`^forced: \\w+ by ${sender}[,;]`)));

  it('a message that the kubelet cut in its padding tells of the stop as the whole one does', () => {
    const stopBy = (text: string) => stopOf(pod({ main: ended(-5, 2, 137, { message: text }) }));
    const whole = JSON.stringify(cut);
    assert.deepEqual(stopBy(whole.replace(/\}$/, '      ')), stopBy(whole));
    assert.notDeepEqual(stopBy(''), stopBy(whole));
  });

  it('a KILL is not attributed to the kubelet in an earlier life of the container', () => {
    const main = { state: ended(-5, 2, 0), lastState: ended(-60, -20, 137) };
    assert.match(
      told({ main }, { status: { reason: 'Evicted' } }),
      /main: exit 137, KILL by an unknown sender .* before, restarted/,
    );
  });
});

describe('a source of pods', () => {
  const one = pod({ main: ended(-5, 0, 0) });
  const two = { ...pod({ main: ended(-5, 0, 0) }), metadata: { name: 'web-1' } };
  const SOURCES: Readonly<Record<string, string>> = {
    'in a line each': [one, two].map((it) => JSON.stringify(it)).join('\n'),
    'indented, one after the other': [one, two].map((it) => JSON.stringify(it, undefined, 4)).join('\n'),
    'as events of a watch': [one, two].map((object) => JSON.stringify({ type: 'MODIFIED', object })).join('\n'),
    'as the list of the API': JSON.stringify({
      apiVersion: 'v1',
      kind: 'PodList',
      items: [one, two].map((it) => ({ ...it, kind: undefined, apiVersion: undefined })),
    }),
  };
  for (const [how, text] of Object.entries(SOURCES))
    it(`a source may have the pods ${how}`, () =>
      assert.deepEqual(
        readText(text, NOW_MS, () => undefined).members.map(({ pod: name }) => name),
        ['shop/web-0', 'web-1'],
      ));

  const WHYS: Readonly<Record<string, readonly [string, RegExp]>> = {
    'is empty': [' \n', /^it is empty$/],
    'is broken JSON': [JSON.stringify(one).slice(0, -5), /^its JSON is broken or cut off$/],
    'is broken JSON in several lines': [JSON.stringify(one, undefined, 4).slice(0, -9), /^its JSON is broken or cut/],
    'is other JSON': ['{"a": 1}', /^its JSON is no pod, no tombstone and no evidence$/],
    'is a log without evidence': ['{"level":"info"}\nplain\n', /^no line of it has the evidence/],
    'is another object': ['{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}', /^Service web is no pod$/],
    'is a pod that runs': [
      JSON.stringify(pod({ main: { running: { startedAt: second(-5) } } })),
      /^none of the containers of Pod shop\/web-0 has ended$/,
    ],
    'is a list of no pods': ['{"apiVersion":"v1","kind":"List","items":[]}', /^a list of no pods$/],
  };
  for (const [how, [text, why]] of Object.entries(WHYS))
    it(`a source is refused with a reason when it ${how}`, () => {
      const read = readText(text, NOW_MS, () => undefined);
      assert.equal(read.members.length, 0);
      assert.match(read.why ?? '', why);
    });
});
