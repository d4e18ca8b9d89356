/**
 * What one supervisor leaves to the next: always small enough for init, and understood also when another version wrote
 * it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { MAX_AMONG } from '../../src/core/format/stop-request.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import type { Event } from '../../src/core/state/events.ts';
import { initialState, type State } from '../../src/core/state/state.ts';
import { encodeCommit } from '../../src/runtime/host/frames.ts';
import { readMemo, writeMemo } from '../../src/runtime/memo.ts';
import { BOOT, HOST_ID, instant, mainConfig } from '../core/helpers.ts';

function live(config: MemberConfig, events: readonly Event[]): State {
  const now = instant(1_000);
  const born = initialState({ hostId: HOST_ID, bootId: BOOT, startedAtMs: now.mono, now, solo: true });
  const started: Event[] = [
    { type: 'booted', at: now },
    { type: 'spawned', at: now, id: 1, pid: 17 },
  ];
  return [...started, ...events].reduce((state, event) => reduce(config, state, event).state, born);
}

function send(state: State): string {
  const memo = writeMemo({ state, isHeld: false });
  encodeCommit({ ack: undefined, memo, commands: [] });
  return memo;
}

describe('the memo', () => {
  it('fits, however often a file with the longest path has changed and however many were asked to stop together', () => {
    const path = `/${'\u{1f480}'.repeat(1_000)}`;
    const config = mainConfig({ solo: true, reload: [{ path, signal: 1, validate: undefined }] });
    const among = Array.from({ length: MAX_AMONG }, (_, index) => `${index}`.padStart(63, 'a'));
    const changed: Event[] = Array.from({ length: 300 }, () => ({ type: 'fileChanged', at: instant(2_000), index: 0 }));
    const state = live(config, [
      ...changed,
      { type: 'stopAsked', at: instant(3_000), graceMs: undefined, among },
      ...changed,
    ]);
    const said = Array.from({ length: 200 }, (_, index) => `${index}`.padStart(250, 'x'));
    const read = readMemo(send({ ...state, said }), HOST_ID);
    assert.deepEqual(read?.state.stop?.among, among);
    assert.deepEqual(read?.state.child, state.child);
  });

  it('of a sexton that knew less is completed: its child is not forgotten', () => {
    const memo = JSON.parse(send(live(mainConfig({ solo: true }), []))) as { state: Record<string, unknown> };
    for (const key of ['tasks', 'vitals', 'hooks', 'actions', 'failing', 'said']) delete memo.state[key];
    const read = readMemo(JSON.stringify(memo), HOST_ID);
    assert.ok(read);
    const { state } = reduce(
      mainConfig({ solo: true }),
      { ...read.state, peers: {} },
      { type: 'booted', at: instant(5_000) },
    );
    assert.deepEqual([state.child.is, state.tasks, state.phase], ['alive', [], 'running']);
  });

  it('of another start of the host, or in another format, is none', () => {
    const memo = send(live(mainConfig({ solo: true }), []));
    assert.equal(readMemo(memo, 'another'), undefined);
    assert.equal(readMemo(memo.replace('"format":1', '"format":2'), HOST_ID), undefined);
    assert.equal(readMemo('{', HOST_ID), undefined);
  });
});
