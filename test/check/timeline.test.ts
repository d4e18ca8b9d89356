import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { exactly, UNKNOWN, ZERO } from '../../src/check/stop/interval.ts';
import { type ContainerPlan, type Timeline, timelineOf } from '../../src/check/stop/timeline.ts';
import { compare, drawPod } from './stops.ts';
import { deployment, started } from './workloads.ts';

const NEVER = Number.POSITIVE_INFINITY;
const PLAN: ContainerPlan = {
  name: 'web',
  isNative: false,
  hook: undefined,
  mayEndInHook: false,
  drain: ZERO,
  waitsFor: [],
  linger: ZERO,
  waitsAtMostMs: NEVER,
  deadlines: [],
  response: exactly(1_000),
  ownKillMs: NEVER,
  mayKillLast: false,
};
const main = (plan: Partial<ContainerPlan>): ContainerPlan => ({ ...PLAN, ...plan });
const native = (name: string, plan: Partial<ContainerPlan> = {}): ContainerPlan =>
  main({ name, isNative: true, ...plan });

function stopOf(timeline: Timeline, name = 'web') {
  return timeline.containers.find((one) => one.name === name) ?? assert.fail(name);
}

describe('the timeline of a stop, by the rules of the kubelet', () => {
  it('TERM comes after the preStop hook, and KILL at the end of the grace period', () => {
    const stop = stopOf(timelineOf({ graceMs: 30_000, containers: [main({ hook: exactly(5_000) })] }));
    assert.deepEqual([stop.term, stop.end, stop.killAt], [5_000, 6_000, 30_000].map(exactly));
    assert.equal(stop.killed, 'never');
  });

  it('a hook that uses up the grace period leaves 2 s', () => {
    const plan = main({ hook: exactly(35_000), response: exactly(3_000) });
    const stop = stopOf(timelineOf({ graceMs: 30_000, containers: [plan] }));
    assert.deepEqual([stop.term, stop.end, stop.killed], [exactly(30_000), exactly(32_000), 'always']);
  });

  it('native sidecars stop in reverse order, each with what is left, at least 2 s', () => {
    const containers = [native('first'), native('second', { response: UNKNOWN }), main({ response: exactly(4_000) })];
    const timeline = timelineOf({ graceMs: 10_000, containers });
    assert.deepEqual(stopOf(timeline, 'second').term, exactly(4_000));
    assert.deepEqual(stopOf(timeline, 'second').killAt, exactly(10_000));
    assert.deepEqual(stopOf(timeline, 'first').term, { minMs: 4_000, maxMs: 10_000 });
    assert.deepEqual(stopOf(timeline, 'first').killAt, { minMs: 10_000, maxMs: 12_999 });
  });

  it('the hook of a native sidecar starts with all others', () => {
    const containers = [native('proxy', { hook: exactly(2_000) }), main({ response: exactly(8_000) })];
    const stop = stopOf(timelineOf({ graceMs: 10_000, containers }), 'proxy');
    assert.deepEqual([stop.hookEnd, stop.term], [exactly(2_000), exactly(8_000)]);
  });

  it('a member waits for its mains until its own deadline', () => {
    const mains = main({ name: 'main', response: exactly(20_000) });
    const proxy = main({ name: 'proxy', waitsFor: ['main'] });
    const waits = timelineOf({ graceMs: 30_000, containers: [mains, proxy] });
    assert.deepEqual(stopOf(waits, 'proxy').end, exactly(21_000));
    const hurries = timelineOf({ graceMs: 30_000, containers: [mains, { ...proxy, waitsAtMostMs: 10_000 }] });
    assert.deepEqual(stopOf(hurries, 'proxy').end, exactly(11_000));
  });

  it('a native sidecar gets back the parts of seconds that the kubelet does not count', () => {
    const proxy = native('proxy', { hook: exactly(3_778), response: UNKNOWN });
    const containers = [proxy, main({ response: exactly(8_000) })];
    const stop = stopOf(timelineOf({ graceMs: 10_000, containers }), 'proxy');
    assert.deepEqual([stop.term, stop.killAt], [exactly(8_000), { minMs: 10_000, maxMs: 11_000 }]);
  });

  it('the deadline of another member ends a drain once that member is asked to stop', () => {
    const drains = main({ drain: exactly(5_000), deadlines: [{ of: 'proxy', graceMs: 4_000 }] });
    const short = timelineOf({ graceMs: 9_000, containers: [drains, main({ name: 'proxy' })] });
    assert.deepEqual(stopOf(short).told, { minMs: 2_000, maxMs: 5_000 });
    assert.deepEqual(stopOf(short).end, { minMs: 3_000, maxMs: 6_000 });
    const hooked = main({ name: 'proxy', hook: exactly(2_500) });
    const later = timelineOf({ graceMs: 9_000, containers: [drains, hooked] });
    assert.deepEqual(stopOf(later).told, { minMs: 4_500, maxMs: 5_000 });
    // The hook delays its own TERM until that deadline is over.
    const asked = { ...drains, hook: exactly(6_000) };
    const late = timelineOf({ graceMs: 9_000, containers: [asked, main({ name: 'proxy' })] });
    assert.deepEqual(stopOf(late).told.minMs, 6_000);
  });

  it('two members that wait for each other both end', () => {
    const containers = [main({ name: 'a', waitsFor: ['b'] }), main({ name: 'b', waitsFor: ['a'] })];
    assert.equal(timelineOf({ graceMs: 5_000, containers }).end.maxMs, 2_000);
  });

  it('a member may kill its own program where that may outlast its time', () => {
    const told = (plan: Partial<ContainerPlan>) =>
      stopOf(timelineOf({ graceMs: 30_000, containers: [main(plan)] })).mayKillItself;
    assert.equal(told({ response: UNKNOWN }), false);
    assert.equal(told({ response: UNKNOWN, ownKillMs: 28_000 }), true);
    assert.equal(told({ response: exactly(5_000), ownKillMs: 28_000 }), false);
    assert.equal(told({ drain: exactly(24_000), response: exactly(5_000), ownKillMs: 28_000 }), true);
    assert.equal(told({ response: exactly(5_000), mayKillLast: true }), true);
  });

  it('a shell that ignores TERM is killed as PID 1, but behind an init TERM ends it', async () => {
    for (const [words, killed] of [
      ['', 'always'],
      ['env, A=b, ', 'always'],
      ['tini, --, ', 'maybe'],
      ['/usr/bin/tini, -g, --, env, A=b, ', 'maybe'],
      ['dumb-init, ', 'maybe'],
    ]) {
      const text = started(`[${words}sh, -c, "migrate; gunicorn app"]`, 'python:3.12');
      const { workloads } = await check([{ path: 'a.yaml', text }]);
      assert.equal(workloads[0]?.view.timeline.containers[0]?.killed, killed, words);
    }
  });

  it('a sidecar lingers after its mains, also where another member makes it wait', async () => {
    const sexton = 'sexton, run, --graveyard, /g, --grace-period, 30s,';
    const containers = (more: string): string =>
      [
        `- name: work\n  command: [${sexton} --name, work, --drain, 4s, --, app]`,
        `- name: ship\n  command: [${sexton} --name, ship, --role, sidecar, --linger, 3s, --, app]`,
        more,
      ].join('\n');
    for (const [more, minMs] of [
      ['', 7_000],
      [
        `- name: late\n  command: [${sexton} --name, late, --role, sidecar, --start-after, ship=started, --, app]`,
        4_000,
      ],
    ] as const) {
      const { workloads } = await check([{ path: 'a.yaml', text: deployment(containers(more)) }]);
      const ship = workloads[0]?.view.timeline.containers.find(({ name }) => name === 'ship');
      assert.equal(ship?.told.minMs, minMs);
    }
  });

  it('the prediction contains what a kubelet does in 300 random pods', () => {
    const sum = { killed: 0, certain: 0 };
    for (let seed = 1; seed <= 300; seed += 1) {
      const { killed, certain } = compare(drawPod(seed));
      sum.killed += killed;
      sum.certain += certain;
    }
    // The test needs pods with a KILL, and pods with a certain outcome.
    assert.ok(sum.killed > 100 && sum.certain > 100, JSON.stringify(sum));
  });
});
