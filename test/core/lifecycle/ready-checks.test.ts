/** Start gates on processes that are no members, `istio=ready`: when they are asked, and what their answers open. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReadyAction } from '../../../src/core/config.ts';
import { SIGTERM } from '../../../src/core/signals.ts';
import { alive, dead, mainConfig, readyOf, sidecarConfig } from '../helpers.ts';
import type { Run } from '../host.ts';
import { Life } from '../life.ts';

const startReady = [readyOf('istio')];
const no: Run = { afterMs: 0, ok: false };
const yes: Run = { afterMs: 0, ok: true };
const config = mainConfig({ startReady, startTimeoutMs: 30_000 });
const istio = (...runs: readonly Run[]) => ({ actions: { istio: runs } });
const lifeOf = (...runs: readonly Run[]): Life => new Life({ config, child: istio(...runs), peers: [] });

describe('a start gate on a process that is no member', () => {
  it('a ready check runs at once, then ever more seldom, and opens with the first yes', () => {
    const life = lifeOf(no, no, no, no, no, no, yes).pass(60_000);
    assert.deepEqual(life.runsOf('istio'), [0, 100, 300, 700, 1_500, 2_500, 3_500]);
    assert.deepEqual(life.spawns, [3_500]);
    assert.equal(life.logs.filter((line) => line.includes('istio is ready')).length, 1);
  });

  it('a ready check needs no graveyard', () => {
    assert.deepEqual(new Life({ config, child: istio(yes), peers: undefined }).spawns, [0]);
    const solo = { ...config, solo: true };
    assert.deepEqual(new Life({ config: solo, child: istio(no, yes) }).pass(100).spawns, [100]);
  });

  it('a ready check without an answer ends after 1 s, and runs again', () => {
    const life = lifeOf('never', 'deaf', yes).pass(10_000);
    assert.deepEqual(life.endsOf('istio'), [1_000, 2_000]);
    assert.deepEqual([life.runsOf('istio'), life.spawns], [[0, 1_000, 4_000], [4_000]]);
  });

  it('K16 a ready check that never succeeds ends the start with 125, or starts with `continue`', () => {
    const life = lifeOf(no).passUntilGone();
    assert.deepEqual([life.exitedAtMs, life.exitCode, life.spawns], [30_000, 125, []]);
    assert.equal(life.tombstone.Reason, 'never-started');
    const why = 'timed out waiting for istio=ready (http://127.0.0.1:15021/ready: exit code 1)';
    assert.ok(life.logs.includes(`error: cannot start: ${why}`), life.logs.join('\n'));
    const onward = { ...config, startTimeoutMs: 29_500, startTimeoutAction: 'continue' as const };
    const started = new Life({ config: onward, child: istio('never'), peers: [] }).pass(60_000);
    assert.deepEqual([started.spawns, started.endsOf('istio').at(-1)], [[29_500], 29_500]);
  });

  it('K03, N21 a stop request meanwhile starts nothing, and ready checks end', () => {
    for (const runs of [[no], ['never'], ['deaf']] as const) {
      const life = lifeOf(...runs).pass(5_000);
      life.signal(SIGTERM);
      assert.deepEqual([life.exitedAtMs, life.exitCode, life.state.tasks], [5_000, 143, []]);
      const asked = life.runs.length;
      assert.deepEqual(life.pass(60_000).runs.length, asked);
      assert.deepEqual(life.spawns, []);
      assert.equal(life.tombstone.Reason, 'never-started');
    }
    const before = [{ type: 'signal', signal: SIGTERM, senderPid: 0, fromTerminal: false }] as const;
    assert.deepEqual(new Life({ config, child: istio('never'), queued: before }).runs, []);
    assert.equal(lifeOf('never').askToStop().exitCode, 143);
    const unstoppable = new Life({ config: { ...config, stopSignals: [] }, child: istio('never') }).signal(SIGTERM);
    assert.deepEqual([unstoppable.exitCode, unstoppable.state.tasks], [143, []]);
  });

  it('a sidecar does not wait for a ready check when its mains have finished', () => {
    const gated = sidecarConfig({ startReady });
    const life = new Life({ config: gated, child: istio('never'), peers: [alive('work')] }).pass(500);
    life.see(dead('work', 0));
    assert.deepEqual([life.exitCode, life.spawns, life.state.tasks], [0, [], []]);
  });

  it('ready checks go on in the next supervisor', () => {
    const life = lifeOf(no, no, no, 'never', yes).pass(1_000).loseSupervisor().pass(200).feed({ type: 'booted' });
    life.see().pass(20_000);
    // The check that was under way is repeated, with what was left of its second.
    assert.deepEqual([life.runsOf('istio'), life.spawns], [[0, 100, 300, 700, 1_200], [1_200]]);
  });

  it('a process that is no longer ready is waited for again', () => {
    const both = { ...config, startAfter: [{ name: 'db', condition: 'started', optional: false } as const] };
    const child = istio(yes, yes, no, no, yes);
    const life = new Life({ config: both, child, peers: [] }).pass(2_000).see(alive('db'));
    assert.deepEqual([life.runsOf('istio'), life.spawns], [[0, 1_000, 2_000], []]);
    assert.deepEqual(life.pass(10_000).spawns, [2_300]);
    assert.ok(life.logs.some((line) => line.includes('istio is no longer ready')));
  });

  it('all ready checks must succeed', () => {
    const two = { ...config, startReady: [readyOf('istio'), readyOf('dapr')] };
    const life = new Life({ config: two, child: { actions: { istio: [yes], dapr: [no, no, yes] } }, peers: [] });
    assert.deepEqual(life.pass(300).spawns, [300]);
  });

  it('ready checks end once the command runs, also for its next life', () => {
    const again = { ...config, restart: 'always' as const };
    const life = new Life({ config: again, child: istio(yes), peers: [] }).endChild(1).pass(5_000);
    assert.deepEqual([life.runsOf('istio'), life.spawns], [[0], [0, 100]]);
    life.feed({ type: 'taskEnded', id: 1, ok: false, detail: 'late', output: '' });
    assert.equal(life.phase, 'running');
  });

  it('a ready check names no member in the tombstone', () => {
    assert.deepEqual(lifeOf(yes).tombstone.StartAfter, []);
    const namesake: ReadyAction = readyOf('self');
    const life = new Life({ config: { ...config, startReady: [namesake] }, peers: [], child: { actions: {} } });
    assert.deepEqual(life.spawns, [0], 'no circle');
  });
});
