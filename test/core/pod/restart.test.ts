import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig, RestartRule } from '../../../src/core/config.ts';
import type { Tombstone } from '../../../src/core/format/tombstone.ts';
import { hear } from '../../../src/core/pod/restart.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import type { RestartAsk } from '../../../src/core/state/state.ts';
import { alive, dead, fixed, mainConfig, probes, START, sidecarConfig, stopping } from '../helpers.ts';
import type { ChildScript } from '../host.ts';
import { Life, main } from '../life.ts';
import { type MemberScript, Pod } from '../pod.ts';

const after = (name: string) => [{ name, condition: 'started', optional: false }] as const;
const traps = (afterMs: number): ChildScript => ({ on: { 15: { afterMs, code: 0 } } });
const GRACE = { gracePeriodMs: 30_000 };
const ON_88: RestartRule = { action: 'restart-all', codes: [88], except: false };

function ask(atMs: number, change: Partial<RestartAsk> = {}): RestartAsk {
  return {
    requestedMs: START + atMs,
    by: 'a test',
    graceMs: undefined,
    among: undefined,
    byRule: undefined,
    ...change,
  };
}

function pair(main: Partial<MemberConfig> = {}, proxy: Partial<MemberConfig> = {}): readonly MemberScript[] {
  return [
    { config: sidecarConfig({ ...GRACE, name: 'proxy', mains: ['work'], ...proxy }), child: traps(100) },
    { config: mainConfig({ ...GRACE, name: 'work', startAfter: after('proxy'), ...main }), child: traps(200) },
  ];
}

describe('a request during a restart', () => {
  const during = (first: RestartAsk, last: RestartAsk) => {
    const { state } = new Life(main(GRACE, traps(10_000))).feed({ type: 'restartAsked', ask: first });
    const { requestedMs, graceMs, next } = hear('self', state, last) ?? {};
    return { atMs: (requestedMs ?? 0) - START, graceMs, nextMs: next && next.requestedMs - START };
  };

  it('a later request takes the place of a restart if it names all of its members', () => {
    const some = ask(0, { among: ['self', 'a'] });
    for (const among of [undefined, ['a', 'self', 'b']])
      assert.deepEqual(during(some, ask(100, { among, graceMs: 4_000 })), {
        atMs: 100,
        graceMs: 4_000,
        nextMs: undefined,
      });
    assert.equal(during(ask(0), ask(100, { byRule: 88 })).atMs, 100);
  });

  it('one that takes the place of a restart leaves a later one waiting', () => {
    const life = new Life(main(GRACE, traps(10_000)));
    for (const each of [ask(0, { byRule: 88 }), ask(200)]) life.feed({ type: 'restartAsked', ask: each });
    const { requestedMs, next } = hear('self', life.state, ask(100, { byRule: 88 })) ?? {};
    assert.deepEqual([requestedMs, next?.requestedMs], [START + 100, START + 200]);
  });

  it('a command that ends at once starts again only when all members are known', () => {
    const life = new Life({ config: mainConfig(GRACE), peers: [], child: traps(0) });
    life.feed({ type: 'restartAsked', ask: ask(0) });
    assert.deepEqual(life.spawns, [0]);
    // Until the restart it did not matter, so nothing was reported of it.
    life.see(alive('other')).pass(1_000);
    assert.deepEqual(life.spawns, [0]);
    const other = { Phase: 'waiting', StopReason: 'restart requested', RestartRequested: START } as const;
    assert.deepEqual(life.see(stopping('other', undefined, other)).spawns, [0, 1_000]);
  });

  it('any other later request waits, also one without the rule of the restart', () => {
    assert.deepEqual(
      [during(ask(0), ask(100, { among: ['self'] })).nextMs, during(ask(0), ask(0)).nextMs],
      [100, undefined],
    );
    assert.equal(during(ask(0, { byRule: 88 }), ask(100)).nextMs, 100);
  });

  it('a member goes on with the request that waits before it starts again', () => {
    const life = new Life({ config: mainConfig(GRACE), peers: [alive('other')], child: traps(100) });
    for (const [atMs, names] of [
      [0, ['self']],
      [100, ['self', 'other']],
    ] as const)
      life.feed({ type: 'restartAsked', ask: ask(atMs, { among: names }) });
    life.pass(1_000);
    assert.deepEqual([life.spawns, life.tombstone.RestartRequested], [[0], START + 100]);
    const other = { Phase: 'waiting', StopReason: 'restart requested', RestartRequested: START + 100 } as const;
    assert.equal(life.see(stopping('other', undefined, other)).spawns.length, 2);
  });

  it('a request behind a later one still counts, unless that names all of its members', () => {
    const behind = (later: RestartAsk, earlier: RestartAsk) => {
      const life = new Life({ config: mainConfig(GRACE), peers: [], child: traps(100) });
      life.feed({ type: 'restartAsked', ask: later }).pass(1_000);
      life.feed({ type: 'restartAsked', ask: earlier }).pass(1_000).feed({ type: 'restartAsked', ask: later });
      const { PodRestarts, RestartsPassed } = life.feed({ type: 'restartAsked', ask: earlier }).pass(1_000).tombstone;
      return [PodRestarts, RestartsPassed];
    };
    const some = ask(200, { among: ['self'] });
    assert.deepEqual(behind(some, ask(100)), [2, [START + 200]]);
    assert.deepEqual(behind(some, ask(200)), [2, [START + 200]]);
    assert.deepEqual(behind(ask(200), ask(100, { among: ['self'] })), [1, undefined]);
    assert.deepEqual(behind(ask(200), ask(100, { byRule: 88 })), [1, [START + 200]]);
  });

  it('no sidecar starts again under a main whose restart was asked for later, but served before', () => {
    const pod = new Pod(pair()).pass(1_000);
    const alone = ask(1_000, { among: ['work'] });
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: alone })).pass(2_000);
    const all = ask(900);
    pod.act('proxy', (life) => life.feed({ type: 'restartAsked', ask: all }));
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: all })).pass(60_000);
    assert.deepEqual(
      [pod.of('proxy').spawns, pod.of('work').spawns],
      [
        [0, 3_300],
        [0, 1_200, 3_300],
      ],
    );
    assert.deepEqual(pod.of('work').signals, [
      [1_000, 15],
      [3_000, 15],
    ]);
    assert.deepEqual(pod.of('work').tombstone.RestartsPassed, [START + 1_000]);
  });

  it('a replaced restart does not come back by the tombstone of a dead member', () => {
    const gone = dead('other', 0, { StopReason: 'restart requested', RestartRequested: START, RestartGraceMs: 4_000 });
    const life = new Life({ config: mainConfig(GRACE), peers: [gone], child: traps(100) });
    for (const each of [ask(0), ask(10)]) life.feed({ type: 'restartAsked', ask: each });
    life
      .pass(10_000)
      .feed({ type: 'restartAsked', ask: ask(10_000, { among: ['self'] }) })
      .pass(10_000);
    assert.deepEqual([life.tombstone.PodRestarts, life.tombstone.RestartRequested], [2, START + 10_000]);
    assert.deepEqual(life.tombstone.RestartsPassed, [START + 10]);
  });

  it('a member that forgets old restarts goes through none of them again', () => {
    const life = new Life({ config: mainConfig(GRACE), peers: [], child: traps(100) });
    const asks = Array.from({ length: 12 }, (_, count) => ask(1_000 * count, { among: ['self', `${count}`] }));
    for (const each of asks) life.feed({ type: 'restartAsked', ask: each }).pass(1_000);
    for (const each of asks) life.feed({ type: 'restartAsked', ask: each }).pass(1_000);
    assert.deepEqual([life.tombstone.PodRestarts, life.tombstone.RestartsPassed?.length], [12, 8]);
  });

  it('a request that waits gets no rule of the restart before it from another supervisor', () => {
    const life = new Life({ config: mainConfig(GRACE), child: traps(100) });
    for (const each of [ask(0, { byRule: 88 }), ask(100)]) life.feed({ type: 'restartAsked', ask: each });
    life.loseSupervisor().feed({ type: 'booted' }).see().pass(70_000);
    assert.deepEqual([life.tombstone.RestartRequested, life.tombstone.RestartByRule], [START + 100, undefined]);
  });

  it('a restart is heard of without sockets after an earlier read (seed 2043064)', () => {
    const config = sidecarConfig({ mains: ['work'] });
    const found = { ...alive('work'), liveness: 'none', foundAtStart: true } as const;
    const asked = { StopRequested: 'now', StopReason: 'restart requested', RestartBy: 'work: exit code 7' };
    const seen = (atMs: number): PeerView => ({
      ...found,
      tombstone: { ...found.tombstone, ...asked, Phase: 'waiting', RestartRequested: START + atMs },
    });
    assert.deepEqual(new Life({ config, peers: [seen(0)] }).pass(5_000).spawns.length, 1);
    const life = new Life({ config, peers: [found] }).pass(5_000).see(seen(4_000)).pass(2_000);
    assert.ok(life.logs.includes('info: asked to restart in place'));
  });
});

describe('a restart in place', () => {
  it('a restart stops all and starts all again in order, in the same containers', () => {
    const pod = new Pod(pair()).pass(1_000);
    pod.act('proxy', (life) => life.feed({ type: 'restartAsked', ask: ask(1_000) })).pass(10_000);
    const [proxy, work] = [pod.of('proxy'), pod.of('work')];
    assert.deepEqual([work.signals, proxy.signals], [[[1_000, 15]], [[1_200, 15]]]);
    assert.deepEqual(proxy.spawns, [0, 1_300]);
    assert.deepEqual(work.spawns, [0, 1_300]);
    assert.deepEqual([pod.ends, proxy.phase, work.phase], [[], 'running', 'running']);
    const { PodRestarts, RestartBy, StopReason, Deadline, LastReason } = work.tombstone;
    assert.deepEqual(
      [PodRestarts, RestartBy, StopReason, Deadline, LastReason],
      [1, 'a test', undefined, undefined, 'stopped'],
    );
  });

  it('a restart drains first, by one deadline for all', () => {
    const pod = new Pod(pair({ drain: fixed(2_000) })).pass(1_000);
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(1_000, { graceMs: 10_000 }) }));
    assert.deepEqual([pod.of('work').phase, pod.of('proxy').phase], ['draining', 'holding']);
    assert.deepEqual([pod.of('work').deadlineMs, pod.of('proxy').deadlineMs], [11_000, 11_000]);
    assert.deepEqual(pod.pass(10_000).of('work').spawns, [0, 3_300]);
  });

  it('the platform’s stop beats a restart, also between the two lives', () => {
    const early = new Pod(pair())
      .pass(1_000)
      .act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(1_000) }));
    assert.deepEqual(early.pass(100).delete().pass(60_000).ends, ['work 0', 'proxy 0']);
    const resting = new Life({ config: mainConfig(GRACE), peers: [alive('other')], child: traps(100) })
      .feed({ type: 'restartAsked', ask: ask(0) })
      .pass(1_000);
    assert.deepEqual([resting.phase, resting.signal(15).exitCode, resting.spawns], ['waiting', 0, [0]]);
    assert.deepEqual([resting.tombstone.StopReason, resting.tombstone.Reason], ['signal TERM', 'stopped']);
  });

  it('a restart of some members leaves the others alone', () => {
    const pod = new Pod(pair()).pass(1_000);
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(1_000, { among: ['work'] }) })).pass(5_000);
    assert.deepEqual([pod.of('proxy').spawns, pod.of('work').spawns], [[0], [0, 1_200]]);
  });

  it('two restarts at the same time are one', () => {
    const pod = new Pod(pair()).pass(1_000);
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(999) }));
    pod.act('proxy', (life) => life.feed({ type: 'restartAsked', ask: ask(1_000) })).pass(10_000);
    assert.deepEqual([pod.of('proxy').spawns.length, pod.of('work').spawns.length], [2, 2]);
  });

  describe('asked for right after another one, while others still tell of that', () => {
    const resting = (name: string, change: Partial<Tombstone> = {}): PeerView =>
      stopping(name, undefined, {
        Phase: 'waiting',
        StopReason: 'restart requested',
        RestartRequested: START,
        ...change,
      });
    const twice = (...names: readonly string[]): Life =>
      new Life({
        config: sidecarConfig({ ...GRACE, mains: ['work'] }),
        peers: names.map((name) => alive(name)),
        child: traps(100),
      })
        .feed({ type: 'restartAsked', ask: ask(0) })
        .see(...names.map((name) => resting(name)))
        .pass(200);

    it('a restart right after another holds on beyond the old deadline (seed 910754)', () => {
      const life = twice('work', 'other');
      assert.equal(life.spawns.length, 2);
      life.see(alive('work'), resting('other', { Deadline: START + 1_000 }));
      life.feed({ type: 'restartAsked', ask: ask(200) }).pass(5_000);
      assert.deepEqual([life.phase, life.signals.length], ['holding', 1]);
    });

    it('a restart right after another waits for mains that tell of the old one', () => {
      const life = twice('work').feed({ type: 'restartAsked', ask: ask(200) });
      assert.deepEqual([life.phase, life.signals.length], ['holding', 1]);
      assert.equal(life.see(resting('work', { RestartRequested: START + 200 })).signals.length, 2);
    });
  });

  it('a member that reads of a restart late, without sockets, joins it (seed 5020891)', () => {
    const life = new Life({ config: mainConfig(GRACE), child: traps(100) }).pass(500);
    const told = { RestartRequested: START + 200, PodRestarts: 1 };
    life.see(alive('work', told, { liveness: 'none', foundAtStart: true })).pass(3_000);
    assert.equal(life.tombstone.PodRestarts, 1);
  });

  it('a member goes on with a later restart of which it reads before it starts (seed 5004565)', () => {
    const life = new Life(main(GRACE, traps(100)));
    life.feed({ type: 'restartAsked', ask: ask(0) });
    const told = { Phase: 'waiting', StopReason: 'restart requested', RestartRequested: START + 10 } as const;
    life.see({ ...stopping('other', undefined, told), foundAtStart: true }).pass(5_000);
    assert.deepEqual(
      [life.spawns, life.tombstone.PodRestarts, life.tombstone.RestartRequested],
      [[0, 100], 1, START + 10],
    );
  });

  it('a restart waits for its deadline, and 6 s, for a member that has not heard of it', () => {
    const life = new Life({ config: mainConfig(GRACE), peers: [alive('deaf')], child: traps(100) });
    life.feed({ type: 'restartAsked', ask: ask(0, { graceMs: 5_000 }) }).pass(20_000);
    assert.deepEqual(life.spawns, [0, 6_000]);
  });

  it('a restart does not wait for dead members', () => {
    const life = new Life({ config: mainConfig(GRACE), peers: [dead('over', 0)], child: traps(100) });
    assert.deepEqual(life.feed({ type: 'restartAsked', ask: ask(0) }).pass(1_000).spawns, [0, 100]);
  });

  it('a restart dated in the future is ignored, and prevents no later one', () => {
    const pod = new Pod(pair()).pass(1_000);
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(3_600_000) })).pass(10_000);
    const work = pod.of('work');
    assert.deepEqual([work.spawns, work.phase], [[0], 'running']);
    assert.ok(work.logs.includes('warn: ignored a request to restart in place: its time has not come'));
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(11_000) })).pass(10_000);
    assert.deepEqual([work.spawns.length, pod.of('proxy').spawns.length], [2, 2]);
  });

  it('a restart goes on with another supervisor', () => {
    const pod = new Pod(pair()).pass(1_000).act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(1_000) }));
    for (const name of ['work', 'proxy']) pod.act(name, (life) => life.loseSupervisor().feed({ type: 'booted' }));
    assert.deepEqual(pod.pass(10_000).of('work').spawns.length, 2);
  });
});

describe('restart-pod-on', () => {
  it('an exit code restarts all, with growing pauses', () => {
    const restartPodOn = { codes: [70], liveness: false, max: undefined };
    const pod = new Pod(pair({ restartPodOn })).pass(1_000).act('work', (life) => life.endChild(70));
    assert.deepEqual([pod.pass(1_000).of('proxy').spawns.length, pod.of('work').spawns], [2, [0, 1_100]]);
    assert.equal(pod.of('proxy').tombstone.RestartBy, 'work: exit code 70');
    pod.act('work', (life) => life.endChild(70)).pass(1_000);
    assert.deepEqual(pod.of('work').spawns, [0, 1_100, 2_200]);
    assert.deepEqual(pod.act('work', (life) => life.endChild(1)).pass(1_000).ends, ['work 1', 'proxy 0']);
  });

  describe('has an end', () => {
    const crash = (pod: Pod): Pod => pod.act('work', (life) => life.endChild(70)).pass(30_000);
    const crashed = (times: number, change: Partial<MemberConfig>): Pod =>
      Array.from({ length: times }).reduce<Pod>(crash, new Pod(pair({ restartPodOn: ON_70, ...change })).pass(1_000));
    const ON_70 = { codes: [70], liveness: false, max: undefined };

    it('restarts by exit code end after six where a Job could run', () => {
      for (const restartPolicy of ['Never', 'OnFailure'] as const) {
        const sixth = crashed(6, { restartPolicy });
        assert.deepEqual([sixth.of('work').tombstone.PodRestarts, sixth.ends], [6, []]);
        assert.deepEqual(crash(sixth).ends[0], 'work 70', restartPolicy);
        assert.ok(sixth.of('work').logs.includes('error: not restarting the pod again'));
      }
    });

    it('restarts by exit code end where declared, and never under Always', () => {
      const declared = crashed(2, { restartPolicy: 'Always', restartPodOn: { ...ON_70, max: 2 } });
      assert.deepEqual([declared.ends, crash(declared).ends], [[], ['work 70']]);
      assert.deepEqual(crashed(9, { restartPolicy: 'Always' }).ends, []);
    });

    it('restarts by liveness end, too, and the failure then ends this life alone', () => {
      const change = { restartPodOn: { codes: [], liveness: true, max: 1 }, ...probes({ liveness: { failures: 1 } }) };
      const life = new Life(
        main({ ...GRACE, ...change }, { ...traps(200), actions: { liveness: [{ afterMs: 1_000, ok: false }] } }),
      );
      life.pass(30_000);
      assert.deepEqual([life.tombstone.PodRestarts, life.spawns.length], [1, 2]);
      assert.equal(life.tombstone.Phase, 'dead');
    });
  });
});

describe('by rule', () => {
  it('the member with the restart rule exits with its code when all have ended', () => {
    const pod = new Pod(pair({ restartRules: [ON_88] })).pass(1_000);
    pod.act('work', (life) => life.feed({ type: 'restartAsked', ask: ask(1_000, { byRule: 88 }) })).pass(5_000);
    assert.deepEqual([pod.ends, pod.of('proxy').phase, pod.of('proxy').spawns], [['work 88'], 'waiting', [0]]);
    assert.equal(pod.of('work').tombstone.Final, false);
  });

  it('all start again in place, with an error, where the platform does not follow', () => {
    const life = new Life(main(GRACE, traps(100)));
    life.feed({ type: 'restartAsked', ask: ask(0, { byRule: 88 }) }).pass(70_000);
    assert.deepEqual(life.spawns, [0, 60_000]);
    assert.ok(life.logs.some((line) => line.startsWith('error: the platform has not restarted all containers')));
  });
});

const config = sidecarConfig({ mains: ['work'] });
const told = { RestartRequested: START - 5_000, RestartBy: 'a test' };
const rests = (name: string) => {
  const asked: Partial<Tombstone> = { StopRequested: 'before', StopReason: 'restart requested', Phase: 'waiting' };
  return alive(name, { ...told, ...asked }, { foundAtStart: true });
};

describe('a member that starts during a restart in place', () => {
  it('a member that starts during a restart takes no part and says so (seed 70064963)', () => {
    const life = new Life({ config, peers: [alive('work', {}, { foundAtStart: true }), rests('other')] }).pass(2_000);
    assert.deepEqual([life.state.stop, life.spawns, life.signals], [undefined, [0], []]);
    const { RestartRequested, StopReason, PodRestarts } = life.tombstone;
    assert.deepEqual([RestartRequested, StopReason, PodRestarts], [told.RestartRequested, undefined, undefined]);
  });

  it('a member that starts after others have started again does not take part', () => {
    const again = alive('work', { ...told, PodRestarts: 1 }, { foundAtStart: true });
    const life = new Life({ config, peers: [again, rests('other')] }).pass(60_000);
    assert.deepEqual([life.state.stop, life.spawns, life.signals], [undefined, [0], []]);
  });
});
