import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { statusTable } from '../../src/cli/commands/status.ts';
import type { RestartMode, RestartPolicy } from '../../src/core/config.ts';
import { backoffAfter, wantsRestart } from '../../src/core/restart.ts';
import { alive, dead, fixed, mainConfig, sidecarConfig } from './helpers.ts';
import { Life, sidecar } from './life.ts';

const NOW = { ms: Date.parse('2027-01-15T09:00:00Z'), mono: 0, boot: 'boot-1' };

describe('whether a child is restarted in place', () => {
  const wants = (restart: RestartMode, status: number, restartPolicy: RestartPolicy = 'Never', podStops = false) =>
    wantsRestart(mainConfig({ restart, restartPolicy }), { status, podStops, failed: false });

  it('`never`, `always` and `on-failure` say what they mean under every policy', () => {
    for (const policy of ['Never', 'OnFailure', 'Always'] as const) {
      assert.deepEqual([wants('never', 0, policy), wants('never', 1, policy, true)], [false, false]);
      assert.deepEqual([wants('always', 0, policy), wants('always', 1, policy)], [true, true]);
      assert.deepEqual([wants('on-failure', 0, policy, true), wants('on-failure', 1, policy)], [false, true]);
    }
  });

  it('`auto` restarts only where the platform would not', () => {
    assert.deepEqual([wants('auto', 0, 'Never'), wants('auto', 1, 'Never')], [true, true]);
    assert.deepEqual([wants('auto', 0, 'OnFailure'), wants('auto', 1, 'OnFailure')], [true, false]);
    assert.deepEqual([wants('auto', 0, 'Always'), wants('auto', 1, 'Always')], [false, false]);
    for (const policy of ['Never', 'OnFailure', 'Always'] as const)
      assert.deepEqual([wants('auto', 0, policy, true), wants('auto', 1, policy, true)], [true, true]);
  });
});

describe('how long until the next life', () => {
  it('the backoff doubles from 100 ms to 10 s', () => {
    let backoffMs = 100;
    const delays = Array.from({ length: 9 }, () => {
      const backoff = backoffAfter(backoffMs, 0, undefined);
      backoffMs = backoff?.nextMs ?? 0;
      return backoff?.delayMs;
    });
    assert.deepEqual(delays, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  });

  it('a life of 60 s resets the backoff, and a shorter one does not', () => {
    assert.deepEqual(backoffAfter(6_400, 60_000, undefined), { delayMs: 100, nextMs: 200 });
    assert.deepEqual(backoffAfter(6_400, 59_999, undefined), { delayMs: 6_400, nextMs: 10_000 });
  });

  it('in a stop the backoff is at most a tenth of the time left, and needs more than 1 s', () => {
    assert.equal(backoffAfter(6_400, 0, 20_000)?.delayMs, 2_000);
    assert.equal(backoffAfter(100, 0, 20_000)?.delayMs, 100);
    assert.equal(backoffAfter(100, 0, 1_001)?.delayMs, 100);
    assert.equal(backoffAfter(100, 0, 1_000), undefined);
    assert.equal(backoffAfter(100, 0, -5), undefined);
  });
});

describe('restarts in a life', () => {
  it('A11 `Born` is the first start of the command, also after a restart in place', () => {
    const life = new Life(sidecar({ gracePeriodMs: 60_000 }));
    const { Born = '' } = life.tombstone;
    assert.equal(Born, life.tombstone.Started);
    life.pass(5_000).signal(15).pass(16_000).endChild(1).pass(1_000);
    assert.equal(life.tombstone.Restarts, 1);
    assert.equal(life.tombstone.Born, Born);
    assert.ok(Born < (life.tombstone.StopRequested ?? ''));
    assert.ok(Born < (life.tombstone.Started ?? ''), '`Started` is of this life');
  });

  it('A11 between two lives a member is not called started', () => {
    const life = new Life(sidecar()).pass(5_000).endChild(1).pass(50);
    const { Phase, Started, Healthy } = life.tombstone;
    assert.deepEqual([Phase, Started, Healthy], ['backoff', undefined, undefined]);
    const shown = { members: [life.tombstone], unreadable: [], unknown: [], asleep: new Set<string>() };
    assert.match(statusTable(shown, NOW, 80, '/g'), / backoff +- /);
  });

  it('N12 a sidecar that keeps ending restarts with growing pauses while its main lives', () => {
    for (const code of [0, 1]) {
      const life = new Life(sidecar({}, { endsAfterMs: 1_000, code }));
      assert.deepEqual(life.pass(8_000).spawns, [0, 1_100, 2_300, 3_700, 5_500]);
      assert.equal(life.tombstone.Restarts, 4);
      life.see(dead('work', 0)).passUntilGone();
      assert.equal(life.exitCode, 0);
    }
  });

  it('N12 where the platform restarts it, the container exits with the child’s code', () => {
    const child = { endsAfterMs: 1_000, code: 3 };
    for (const restartPolicy of ['OnFailure', 'Always'] as const) {
      const life = new Life({ config: sidecarConfig({ restartPolicy }), child, peers: [alive('work')] });
      assert.deepEqual([life.passUntilGone().exitCode, life.spawns.length], [3, 1], restartPolicy);
    }
  });

  it('N31 a sidecar that dies while the mains drain restarts at once under every policy', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const) {
      const config = sidecarConfig({ restartPolicy, gracePeriodMs: 60_000 });
      const life = new Life({ config, peers: [alive('work')] }).signal(15).pass(25_000).endChild(1).pass(1_000);
      assert.deepEqual(life.spawns, [0, 25_100]);
      assert.equal(life.phase, 'holding');
      life.see(dead('work', 0)).passUntilGone();
      assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 26_000]);
    }
  });

  it('N31 a stop shortens a backoff to a tenth of the time left', () => {
    const life = new Life(sidecar({ gracePeriodMs: 20_000 }, { endsAfterMs: 0, code: 1 })).pass(13_000);
    assert.deepEqual(life.spawns.slice(-2), [6_300, 12_700]);
    life.signal(15).pass(1_999);
    assert.deepEqual([life.spawns.length, life.phase], [8, 'backoff']);
    assert.equal(life.pass(1).spawns.at(-1), 15_000);
  });

  it('a sidecar is not started again when a nearer deadline leaves it 1 s', () => {
    const life = new Life(sidecar({ gracePeriodMs: 20_000 })).signal(15).pass(1_000).endChild(1).askToStop(1_000);
    assert.deepEqual(life.passUntilGone().spawns, [0]);
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 1_500]);
  });

  it('a sidecar that dies with 1 s or less left is not restarted', () => {
    const life = new Life(sidecar({ gracePeriodMs: 2_000 })).signal(15).pass(1_000);
    assert.deepEqual(life.pass(10).spawns.length, 1);
    assert.equal(life.passUntilGone().exitCode, 0);
  });

  it('a stop of a main beats a restart in flight, also when others depend on it', () => {
    const config = mainConfig({ restart: 'always' });
    for (const peers of [[], [alive('report', { StartAfter: ['self'] })]]) {
      const life = new Life({ config, peers }).endChild(1).pass(50).signal(15).pass(60_000);
      assert.deepEqual([life.spawns.length, life.exitCode], [1, 1]);
    }
  });

  it('a main that ends by itself after its stop request is not restarted', () => {
    const config = mainConfig({ restart: 'always', drain: fixed(5_000) });
    const life = new Life({ config, peers: [] }).signal(15).pass(1_000).endChild(0).pass(60_000);
    assert.deepEqual([life.spawns.length, life.exitCode, life.exitedAtMs], [1, 0, 1_000]);
    assert.ok(!life.logs.some((line) => line.includes('restarting')));
    const needed = new Life({ config, peers: [alive('report', { StartAfter: ['self'] })] }).signal(15).endChild(0);
    assert.equal(needed.exitCode, 0);
    assert.ok(!needed.logs.some((line) => line.includes('restarting')));
  });

  it('a sidecar between two lives ends when its mains have finished', () => {
    const life = new Life(sidecar({ lingerMs: 5_000 })).endChild(1).pass(50).see(dead('work', 0));
    assert.deepEqual([life.spawns.length, life.exitCode, life.exitedAtMs], [1, 0, 50]);
  });

  it('a holding sidecar whose child dies before a read is not given up', () => {
    const life = new Life(sidecar()).signal(15).pass(1_000);
    life.state = { ...life.state, peers: undefined };
    life.endChild(1).pass(50);
    assert.equal(life.exitCode, undefined);
    life.see(alive('work')).pass(1_000);
    assert.deepEqual([life.spawns.length, life.phase], [2, 'holding']);
  });

  it('a long life resets the pauses', () => {
    const life = new Life(sidecar());
    for (const ms of [0, 100, 200]) life.pass(ms).endChild(1);
    life
      .pass(400 + 60_000)
      .endChild(1)
      .pass(100);
    assert.equal(life.spawns.at(-1), 60_800);
  });
});

describe('a restart that cannot be made', () => {
  const failed = (errno: string): Life => {
    const life = new Life({ config: sidecarConfig(), peers: [alive('main')] }).pass(1_000).endChild(1).pass(99);
    assert.equal(life.phase, 'backoff');
    const { births } = life.state;
    // The next start fails; the scripted host of this life knows only successes.
    const state = { ...life.state, births: births + 1, child: { is: 'spawning', id: births + 1 } } as const;
    life.state = state;
    return life.feed({ type: 'spawnFailed', id: births + 1, errno });
  };

  it('a restart that lacks resources is tried again after a backoff', () => {
    for (const errno of ['EAGAIN', 'ENOMEM', 'ETXTBSY']) assert.equal(failed(errno).phase, 'backoff', errno);
  });

  it('a restart that fails for any other reason is the end', () => {
    const life = failed('ENOENT');
    assert.deepEqual([life.phase, life.exitCode], ['dead', 127]);
  });
});
