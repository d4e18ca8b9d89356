import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { formatTombstone, type Tombstone } from '../../src/core/format/tombstone.ts';
import { stopOfEvidence } from '../../src/report/evidence.ts';
import { htmlPage } from '../../src/report/html.ts';
import { readText } from '../../src/report/input.ts';
import { podsJson, podsPerfetto } from '../../src/report/plain.ts';
import { forcedOf, lateOf, type PodStop, podsOf } from '../../src/report/stop.ts';
import { podSvg } from '../../src/report/svg.ts';
import { fleetText, podText } from '../../src/report/text.ts';
import { stopOfTombstone } from '../../src/report/tombstones.ts';
import { chainOf, sentenceOf } from '../../src/report/words.ts';
import { at, BEGAN_MS, EVIDENCE, FILES, MAIN, PROXY } from './pods.ts';

const POD = onlyPod(FILES);
const PLAIN = { width: 80, colours: false, ascii: true };

describe('a report', () => {
  it('says in one sentence whether the stop was graceful or forced, by whom, and what took the time', () => {
    assert.equal(sentenceOf(POD), 'forced: proxy by sexton, 6.5 s of 30 s; the drain of main took 2.0 s');
    assert.deepEqual(
      forcedOf(POD).map(({ name }) => name),
      ['proxy'],
    );
    assert.deepEqual(lateOf(POD), []);
  });

  it('says when the wall clock moved between the ends of two members of one boot', () => {
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

  it('marks where a command ended and was restarted during the stop, and says how and for how long', () => {
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

  it('tells the start of the supervisor apart from the drain that it held up', () => {
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

  it('does not call an end by KILL that no stop had asked for one by itself', () => {
    const { StopRequested, StopReason, Phases, GraceLeftMs, ...killed } = EVIDENCE;
    const pod = onlyPod([JSON.stringify({ ...killed, Signal: 'SIGKILL', ExitCode: 137, ForcedBy: 'OOM killer' })]);
    assert.match(podText(pod, PLAIN), /^ended last {2}main: SIGKILL by the OOM killer$/m);
  });

  it('counts a member that was lost neither as alive nor as graceful', () => {
    const { Died, DiedMonotonic, ExitCode, History = [], ...living } = MAIN;
    const lost: Tombstone = { ...living, Reason: 'lost', Phase: 'draining', History: History.slice(0, 7) };
    const [, proxy = ''] = FILES;
    const [main] = [stopOfTombstone(lost, '', { ms: BEGAN_MS + 60_000 })];
    const members = [main, ...readText(proxy, BEGAN_MS, () => undefined).members];
    const [pod] = podsOf(members, BEGAN_MS + 60_000);
    assert.ok(pod);
    assert.match(sentenceOf(pod), /^forced: proxy by sexton; lost: main, 6\.5 s;/);
    assert.match(podText(pod, PLAIN), /^main .* lost$/m);
    const [alone] = podsOf([main], BEGAN_MS + 60_000);
    assert.match(sentenceOf(alone as PodStop), /^lost: main, 2\.0 s;/);
  });

  it('says how often the OOM killer ended a command that was then stopped', () => {
    const pod = onlyPod([JSON.stringify({ ...EVIDENCE, Restarts: 3, OomKills: 3 })]);
    assert.match(sentenceOf(pod), /^graceful, .*; main: killed by the OOM killer 3 times before, restarted;/);
  });

  it('says which signal ended a drain early', () => {
    const History = (MAIN.History ?? []).toSpliced(6, 0, {
      At: at(2_000),
      Event: 'signal received',
      Signal: 'SIGTERM',
    });
    const pod = onlyPod([formatTombstone({ ...MAIN, History })]);
    assert.match(sentenceOf(pod), /; main: hurried by another TERM after 2\.0 s;/);
    const idle = (MAIN.History ?? []).toSpliced(6, 0, { At: at(1_900), Event: 'signal received', Signal: 'SIGTERM' });
    assert.doesNotMatch(sentenceOf(onlyPod([formatTombstone({ ...MAIN, History: idle })])), /hurried/);
  });

  // Of what init has done by itself the supervisor hears later: it notes the signal with its own time, and the phase then.
  for (const heardMs of [4_500, 6_500])
    it(`shows the stop signal from when init sent it, heard of ${heardMs - 4_010} ms later`, () => {
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

  it('follows the critical chain from the last end back to who was waited for', () => {
    const links = chainOf(POD).map(({ member, waitedFor }) => [member.name, waitedFor]);
    assert.deepEqual(links, [
      ['proxy', 'main'],
      ['main', undefined],
    ]);
  });

  for (const width of [80, 200])
    it(`as text fits into ${width} columns, with a bar a member in the right proportions`, () => {
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

  it('as text has colours on a terminal only, and no other escape sequences', () => {
    assert.doesNotMatch(podText(POD, PLAIN), /[^\P{Cc}\n]/u);
    const coloured = podText(POD, { ...PLAIN, colours: true });
    assert.equal(stripVTControlCharacters(coloured), podText(POD, PLAIN));
  });

  it('of one member has bars that never overlap, and whose sum is the time of its stop', () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const member = stopOfEvidence(evidence, { pod: 'p', workload: 'p' });
        if (member === undefined) return;
        for (const [index, span] of member.spans.entries()) {
          assert.ok(span.untilMs >= span.fromMs);
          assert.equal(span.untilMs, member.spans[index + 1]?.fromMs ?? span.untilMs);
        }
        if (member.requestedMs === undefined || member.diedMs === undefined || member.requestedMs > member.diedMs)
          return;
        const stop = member.spans.filter(
          ({ fromMs }) => fromMs >= (member.requestedMs ?? 0) && member.diedMs !== undefined,
        );
        const sum = stop
          .filter(({ activity }) => activity !== 'run')
          .reduce((total, it) => total + it.untilMs - it.fromMs, 0);
        assert.ok(Math.abs(sum - (member.diedMs - member.requestedMs)) <= 5);
      }),
    );
  });

  it('in any format contains nothing of what others wrote but as text', () => {
    fc.assert(
      fc.property(fc.array(evidences, { minLength: 1, maxLength: 4 }), (written) => {
        const members = written.flatMap((evidence) => stopOfEvidence(evidence, { pod: '', workload: '' }) ?? []);
        const pods = podsOf(members, BEGAN_MS);
        const [pod] = pods;
        if (pod === undefined) return;
        const page = htmlPage(pods);
        const known = new Set([
          'html',
          'head',
          'meta',
          'title',
          'style',
          'body',
          'h1',
          'h2',
          'p',
          'section',
          'div',
          'svg',
          'rect',
          'text',
          'tspan',
          'span',
          'small',
          'h3',
          'path',
          'line',
          'g',
          'ol',
          'li',
          'table',
          'thead',
          'tbody',
          'tr',
          'th',
          'td',
        ]);
        for (const [, tag] of page.matchAll(/<\/?([^\s>/]+)/g))
          assert.ok(tag === '!doctype' || known.has(tag ?? ''), tag);
        assert.doesNotMatch(page, /<[^>]*\son\w+=/i);
        for (const text of [
          page,
          podSvg(pod),
          podText(pod, PLAIN),
          podsJson(pods),
          podsPerfetto(pods),
          fleetText(pods, 80),
        ])
          assert.doesNotMatch(text, /[^\P{Cc}\n]|\p{Bidi_Control}/u);
      }),
    );
  });

  it('as HTML loads nothing and forbids to load anything', () => {
    const page = htmlPage([POD]);
    assert.match(page, /default-src 'none'; style-src 'unsafe-inline'/);
    assert.doesNotMatch(page, /<script|src=|href=|url\(/);
    assert.ok(Buffer.byteLength(page) < 100 * 1024);
  });

  it('as JSON has the facts under one version', () => {
    const { version, pods } = JSON.parse(podsJson([POD]));
    assert.equal(version, 1);
    assert.deepEqual(
      [pods[0].stopMs, pods[0].forced, pods[0].members[0].spans[1]],
      [6_500, ['proxy'], { phase: 'drain', fromMs: 0, untilMs: 2_000 }],
    );
  });

  it('of a forged tombstone with times beyond all bounds is drawn in every format', () => {
    for (const forged of [{ Deadline: 1e308 }, { DiedMonotonic: 1e308 }, { Deadline: 1e15 }]) {
      const pod = onlyPod([formatTombstone({ ...MAIN, ...forged }), FILES[1] ?? '']);
      const { deadline } = JSON.parse(podsJson([pod])).pods[0];
      assert.equal(deadline, undefined, JSON.stringify(forged));
      for (const text of [podText(pod, PLAIN), podSvg(pod), htmlPage([pod])])
        assert.doesNotMatch(text, /NaN|Infinity|e\+/);
      assert.doesNotMatch(sentenceOf(pod), /wall clock/);
    }
  });

  it('of a pod without a name is named by its first member', () => {
    const pod = { ...POD, pod: '' };
    assert.match(podText(pod, PLAIN), /^pod of main: forced/);
    assert.match(podSvg(pod), />How the pod of main stopped</);
  });

  it('for Perfetto has each span as a complete event in microseconds', () => {
    const { traceEvents } = JSON.parse(podsPerfetto([POD]));
    const drain = traceEvents.find(({ name }: { name: string }) => name === 'drain');
    assert.deepEqual([drain.ph, drain.ts, drain.dur], ['X', BEGAN_MS * 1_000, 2_000_000]);
  });

  it('of a container that was stopped before the pod has the time and the grace period of the pod', () => {
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

  it('counts a container as of the stop of its pod whose stop signal came later in the same grace period', () => {
    const late = { ...EVIDENCE, Name: 'late', Phases: [], StopRequested: at(10_000), Died: at(11_000) };
    assert.match(sentenceOf(onlyPod([EVIDENCE, late].map((it) => JSON.stringify(it)))), /^graceful, 11 s of 30 s; the/);
  });

  it('of many pods counts the forced ones and finds the quantiles by workload', () => {
    const evidence = (seconds: number) => ({
      ...EVIDENCE,
      Died: at(seconds * 1_000),
      Phases: [],
      ...(seconds === 20 && { ForcedBy: 'sexton' }),
    });
    const members = Array.from({ length: 20 }, (_, index) => index + 1).flatMap(
      (seconds) => stopOfEvidence(evidence(seconds), { pod: `web-${seconds}`, workload: 'web' }) ?? [],
    );
    const text = fleetText(podsOf(members, BEGAN_MS), 120);
    assert.match(text, /web +20 +1 +0 +26 s +whole stop +10 s +19 s +20 s\n +after a signal +10 s/);
  });

  it('of a pod that has not ended says so', () => {
    const alive = readText(
      (FILES[0] ?? '').replace(/ {2}"Died[^\n]*\n/g, '').replace('"dead"', '"stopping"'),
      BEGAN_MS + 7_000,
      () => undefined,
    );
    assert.match(sentenceOf(podsOf(alive.members, BEGAN_MS + 7_000)[0] as PodStop), /^not over yet, 7.0 s/);
  });
});

const hostile = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '</text><script>alert(1)</script>',
    '"><img onerror=x src=y>',
    '\x1b]0;x\x07',
    '\u202egnp',
    '%%{init}%%; click a href',
    '| a | **b** [c](d) `e`',
  ),
);
const ms = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, 5, -1, 1e308));

/** What may stand in a termination message, mostly of the right types. */
const evidences = fc.record({
  Summary: fc.constantFrom('x', '<b>'),
  Name: hostile,
  Session: hostile,
  StopReason: hostile,
  Signal: hostile,
  ForcedBy: hostile,
  Reason: hostile,
  ExitCode: ms,
  GraceMs: ms,
  GraceLeftMs: ms,
  Phases: fc.array(
    fc.record({
      Phase: fc.oneof(hostile, fc.constantFrom('drain', 'ladder', 'hold', 'start')),
      Signal: hostile,
      Ms: ms,
    }),
  ),
  Connections: fc.record({ New: ms, Ignored: ms, Ended: hostile }),
  Born: fc.constantFrom(at(-1_000), 'never', at(9_000_000)),
  StopRequested: fc.constantFrom(at(0), at(100), '9999-99-99'),
  Died: fc.constantFrom(at(4_000), at(50), at(1e10)),
});

function onlyPod(files: readonly string[]): PodStop {
  const members = files.flatMap((file) => readText(file, BEGAN_MS, () => undefined).members);
  const [pod] = podsOf(members, BEGAN_MS);
  if (pod === undefined) throw new Error('no pod');
  return pod;
}
