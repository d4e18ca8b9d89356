import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { formatTombstone, type Tombstone } from '../../src/core/format/tombstone.ts';
import { stopOfEvidence } from '../../src/report/evidence.ts';
import { htmlPage } from '../../src/report/html.ts';
import { readText } from '../../src/report/input.ts';
import { podsJson, podsPerfetto } from '../../src/report/plain.ts';
import { type PodStop, podsOf } from '../../src/report/stop.ts';
import { podSvg } from '../../src/report/svg.ts';
import { fleetText, podText } from '../../src/report/text.ts';
import { stopOfTombstone } from '../../src/report/tombstones.ts';
import { chainOf, sentenceOf } from '../../src/report/words.ts';
import { at, BEGAN_MS, EVIDENCE, FILES, MAIN, PROXY } from './pods.ts';

const POD = onlyPod(FILES);
const PLAIN = { width: 80, colours: false, ascii: true };

describe('a report', () => {
  it('the first sentence tells who was forced by whom, and what took the time', () => {
    assert.equal(sentenceOf(POD), 'forced: proxy by sexton, 6.5 s of 30 s; the drain of main took 2.0 s');
  });

  it('a report says how far the wall clock moved between two ends in one boot', () => {
    const moved = (aheadMs: number, boot: string) => {
      const members = POD.members.map((it) => (it.name === 'proxy' ? { ...it, clock: { boot, aheadMs } } : it));
      return /; the wall clock moved by (.+) meanwhile$/.exec(sentenceOf({ ...POD, members }))?.[1];
    };
    const aheadMs = POD.members[0]?.clock?.aheadMs ?? 0;
    assert.deepEqual(
      [moved(aheadMs + 5_000, 'b'), moved(aheadMs - 200, 'b'), moved(aheadMs + 99, 'b'), moved(aheadMs + 5_000, 'c')],
      ['5.0 s', '200 ms', undefined, undefined],
    );
  });

  it('a report marks and tells the end and the restart of a command during the stop', () => {
    const died = [
      { At: at(2_110), Event: 'exited', Signal: 'SIGKILL', By: 'an unknown sender' },
      { At: at(2_110), Event: 'phase', Phase: 'backoff' },
      { At: at(2_259), Event: 'started' },
      { At: at(2_259), Event: 'phase', Phase: 'holding' },
    ];
    const History = (PROXY.History ?? []).toSpliced(2, 0, ...died);
    const pod = onlyPod([MAIN, { ...PROXY, History }].map(formatTombstone));
    const how = 'proxy: killed by an unknown sender after 2.1 s, restarted, away for 149 ms';
    assert.ok(sentenceOf(pod).includes(`; ${how};`), sentenceOf(pod));
    const text = podText(pod, { ...PLAIN, width: 120 });
    assert.match(text, /^proxy \(sidecar\) .*v-+X-+/m);
    assert.match(text, / X ended, restarted$/m);
    for (const drawn of [podSvg(pod), htmlPage([pod])]) assert.match(drawn, /<title>killed by an unknown sender</);
  });

  it('a report shows the start of the supervisor apart from the drain that it delayed', () => {
    const History = (MAIN.History ?? []).map((entry) =>
      entry.Phase === 'draining' ? { ...entry, At: at(1_400) } : entry,
    );
    const byTombstone = onlyPod([formatTombstone({ ...MAIN, History })]);
    const Phases = [
      { Phase: 'wake', Ms: 1_400 },
      { Phase: 'drain', Ms: 600 },
    ];
    const byEvidence = onlyPod([JSON.stringify({ ...EVIDENCE, Phases, Died: at(2_000) })]);
    for (const { members } of [byTombstone, byEvidence]) {
      const [, wake, drain] = members[0]?.spans ?? [];
      assert.deepEqual([wake?.activity, wake?.untilMs, drain?.activity], ['wake', BEGAN_MS + 1_400, 'drain']);
    }
    assert.match(sentenceOf(byEvidence), /; the supervisor start of main took 1\.4 s$/);
    assert.match(podText(byTombstone, PLAIN), /^main .*v,,,+=+/m);
  });

  it('a report does not call an end by an unasked KILL one by itself', () => {
    const { StopRequested, StopReason, Phases, GraceLeftMs, ...killed } = EVIDENCE;
    const pod = onlyPod([JSON.stringify({ ...killed, Signal: 'SIGKILL', ExitCode: 137, ForcedBy: 'OOM killer' })]);
    assert.match(podText(pod, PLAIN), /^ended last {2}main: SIGKILL by the OOM killer$/m);
  });

  it('a lost member counts neither as alive nor as graceful', () => {
    const { Died, DiedMonotonic, ExitCode, History = [], ...living } = MAIN;
    const lost: Tombstone = { ...living, Reason: 'lost', Phase: 'draining', History: History.slice(0, 7) };
    const [, proxy = ''] = FILES;
    const [main] = [stopOfTombstone(lost, { ms: BEGAN_MS + 60_000 })];
    const [pod] = podsOf([main, ...readText(proxy, BEGAN_MS, () => undefined).members], BEGAN_MS + 60_000);
    assert.ok(pod);
    assert.match(sentenceOf(pod), /^forced: proxy by sexton; lost: main, 6\.5 s;/);
    assert.match(podText(pod, PLAIN), /^main .* lost$/m);
    const [alone] = podsOf([main], BEGAN_MS + 60_000);
    assert.match(sentenceOf(alone as PodStop), /^lost: main, 2\.0 s;/);
  });

  it('a report says how often the OOM killer ended a command before its stop', () => {
    const pod = onlyPod([JSON.stringify({ ...EVIDENCE, Restarts: 3, OomKills: 3 })]);
    assert.match(sentenceOf(pod), /^graceful, .*; main: killed by the OOM killer 3 times before, restarted;/);
  });

  it('a report names the signal that ended a drain early', () => {
    const afterTerm = (ms: number): string => {
      const term = { At: at(ms), Event: 'signal received', Signal: 'SIGTERM' };
      return sentenceOf(onlyPod([formatTombstone({ ...MAIN, History: (MAIN.History ?? []).toSpliced(6, 0, term) })]));
    };
    assert.match(afterTerm(2_000), /; main: hurried by another TERM after 2\.0 s;/);
    assert.doesNotMatch(afterTerm(1_900), /hurried/);
  });

  // The supervisor hears later what init did by itself. It records the signal with init's time, and the phase then.
  for (const heardMs of [4_500, 6_500])
    it(`a stop signal begins when init sent it, though it was heard of ${heardMs - 4_010} ms later`, () => {
      const History = (PROXY.History ?? []).flatMap((entry) => {
        if (entry.Signal === 'SIGKILL' && entry.Event === 'signal sent') return [];
        return [entry.Phase === 'stopping' ? { ...entry, At: at(heardMs) } : entry];
      });
      const files = [MAIN, { ...PROXY, ExitCode: 0, Reason: 'stopped' as const, History }].map(formatTombstone);
      const proxy = onlyPod(files).members.find(({ name }) => name === 'proxy');
      const stops = proxy?.spans
        .filter(({ activity }) => activity === 'stop')
        .map(({ signal, fromMs, untilMs }) => [signal, fromMs - BEGAN_MS, untilMs - BEGAN_MS]);
      assert.deepEqual(stops, [['TERM', 4_010, 6_500]]);
    });

  it('the critical chain goes from the last end back to the member that was waited for', () => {
    const links = chainOf(POD).map(({ member, waitedFor }) => `${member.name} ${waitedFor}`);
    assert.deepEqual(links, ['proxy main', 'main undefined']);
  });

  for (const width of [80, 200])
    it(`a text fits into ${width} columns, with the bars in the right proportions`, () => {
      const text = podText(POD, { ...PLAIN, width });
      for (const line of text.split('\n')) assert.ok(line.length <= width, line);
      const [main = '', proxy = ''] = text.split('\n').filter((line) => /^(main|proxy) /.test(line));
      const count = (line: string, glyph: string) => line.split(glyph).length - 1;
      // 4 s of hold beside 2 s of drain, and 2 s of TERM.
      assert.ok(Math.abs(count(proxy, '-') / count(main, '=') - 2) < 0.2, text);
      // The first column is the signal's.
      assert.ok(Math.abs((count(proxy, '#') + 1) / count(main, '=') - 1) < 0.2, text);
      assert.ok(count(proxy, 'K') > 0, text);
    });

  it('a text has colours on a terminal only, and no other escape sequences', () => {
    assert.doesNotMatch(podText(POD, PLAIN), /[^\P{Cc}\n]/u);
    assert.equal(stripVTControlCharacters(podText(POD, { ...PLAIN, colours: true })), podText(POD, PLAIN));
  });

  it('a page loads nothing and forbids to load anything', () => {
    const page = htmlPage([POD]);
    assert.match(page, /default-src 'none'; style-src 'unsafe-inline'/);
    assert.doesNotMatch(page, /<script|src=|href=|url\(/);
    assert.ok(Buffer.byteLength(page) < 100 * 1024);
  });

  it('the JSON has the facts under one version', () => {
    const { version, pods } = JSON.parse(podsJson([POD]));
    assert.equal(version, 1);
    assert.deepEqual(
      [pods[0].stopMs, pods[0].forced, pods[0].members[0].spans[1]],
      [6_500, ['proxy'], { phase: 'drain', fromMs: 0, untilMs: 2_000 }],
    );
  });

  it('a forged tombstone with times beyond all bounds is drawn in every format', () => {
    for (const forged of [{ Deadline: 1e308 }, { DiedMonotonic: 1e308 }, { Deadline: 1e15 }]) {
      const pod = onlyPod([formatTombstone({ ...MAIN, ...forged }), FILES[1] ?? '']);
      const { deadline } = JSON.parse(podsJson([pod])).pods[0];
      assert.equal(deadline, undefined, JSON.stringify(forged));
      for (const text of [podText(pod, PLAIN), podSvg(pod), htmlPage([pod])])
        assert.doesNotMatch(text, /NaN|Infinity|e\+/);
      assert.doesNotMatch(sentenceOf(pod), /wall clock/);
    }
  });

  it('a pod without a name is named by its first member', () => {
    assert.match(podText(POD, PLAIN), /^pod of main \(session web-0\): forced/);
    const members = POD.members.map((member) => ({ ...member, session: undefined }));
    assert.match(podSvg({ ...POD, members }), />How the pod of main stopped</);
  });

  it('a trace for Perfetto has each span as a complete event in microseconds', () => {
    const { traceEvents } = JSON.parse(podsPerfetto([POD]));
    const drain = traceEvents.find(({ name }: { name: string }) => name === 'drain');
    assert.deepEqual([drain.ph, drain.ts, drain.dur], ['X', BEGAN_MS * 1_000, 2_000_000]);
  });

  it('a container that stopped before its pod does not change the time and grace of the pod', () => {
    const early = { ...EVIDENCE, Name: 'early', GraceMs: 12_000, Phases: [], StopRequested: at(-17_000) };
    const ended = onlyPod([EVIDENCE, { ...early, Died: at(-16_000) }].map((it) => JSON.stringify(it)));
    assert.equal(
      sentenceOf(ended),
      'graceful, 4.0 s of 30 s; early: exit 0 16 s before; the drain of main took 3.0 s, 312 new connections',
    );
    const { StopScope, ...scoped } = { ...MAIN, Name: 'early', StopScope: 'container' as const };
    const [main, hurt] = [MAIN, { ...scoped, StopScope, StopRequested: at(-3_000) }].map(formatTombstone);
    assert.match(
      sentenceOf(onlyPod([main ?? '', hurt ?? ''])),
      /^graceful, 4\.0 s of 30 s; early: asked to stop 3\.0 s before;/,
    );
  });

  it('a container that was asked later in the same grace period belongs to the stop of its pod', () => {
    const late = { ...EVIDENCE, Name: 'late', Phases: [], StopRequested: at(10_000), Died: at(11_000) };
    assert.match(sentenceOf(onlyPod([EVIDENCE, late].map((it) => JSON.stringify(it)))), /^graceful, 11 s of 30 s; the/);
  });

  it('the figures of many pods have the forced ones and the quantiles by workload', () => {
    const members = Array.from({ length: 20 }, (_, index) => {
      const forced = index === 19 && { ForcedBy: 'sexton' };
      const evidence = { ...EVIDENCE, Died: at((index + 1) * 1_000), Phases: [], ...forced };
      return stopOfEvidence(evidence, { pod: `web-${index}`, workload: 'web' }) ?? [];
    }).flat();
    const text = fleetText(podsOf(members, BEGAN_MS), 120);
    assert.match(text, /web +20 +1 +0 +26 s +whole stop +10 s +19 s +20 s\n +after a signal +10 s/);
  });

  it('a report says of a pod that has not ended that it goes on', () => {
    const alive = readText(
      (FILES[0] ?? '').replace(/ {2}"Died[^\n]*\n/g, '').replace('"dead"', '"stopping"'),
      BEGAN_MS + 7_000,
      () => undefined,
    );
    assert.match(sentenceOf(podsOf(alive.members, BEGAN_MS + 7_000)[0] as PodStop), /^not over yet, 7.0 s/);
  });
});

function onlyPod(files: readonly string[]): PodStop {
  const members = files.flatMap((file) => readText(file, BEGAN_MS, () => undefined).members);
  const [pod] = podsOf(members, BEGAN_MS);
  if (pod === undefined) throw new Error('no pod');
  return pod;
}
