/** What a supervisor leaves to the next: small enough for init, and understood also from another version. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveRun } from '../../src/config/resolve.ts';
import {
  type KeptConfig,
  keptConfig,
  MAX_KEPT_BYTES,
  type RunConfig,
  restoredConfig,
} from '../../src/config/run-config.ts';
import type { MemberConfig } from '../../src/core/config.ts';
import { MAX_AMONG } from '../../src/core/format/stop-request.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import type { Event } from '../../src/core/state/events.ts';
import { initialState, type State } from '../../src/core/state/state.ts';
import { encodeCommit } from '../../src/runtime/host/frames.ts';
import { readMemo, writeMemo } from '../../src/runtime/memo.ts';
import { filesOf } from '../config/files.ts';
import { alive, BOOT, HOST_ID, instant, mainConfig, sidecarConfig } from '../core/helpers.ts';
import { Life } from '../core/life.ts';

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
  it('the memo fits however often files changed and however many members were asked to stop', () => {
    const path = `/${'\u{1f480}'.repeat(1_000)}`;
    const config = mainConfig({ solo: true, reload: [{ path, signal: 1, validate: undefined }] });
    const among = Array.from({ length: MAX_AMONG }, (_, index) => `${index}`.padStart(63, 'a'));
    const changed: Event[] = Array.from({ length: 300 }, () => ({ type: 'fileChanged', at: instant(2_000), index: 0 }));
    const asked = { type: 'stopAsked', at: instant(3_000), graceMs: undefined, among } as const;
    const state = live(config, [...changed, asked, ...changed]);
    const said = Array.from({ length: 200 }, (_, index) => `${index}`.padStart(250, 'x'));
    const read = readMemo(send({ ...state, said }), HOST_ID);
    assert.deepEqual(read?.state.stop?.among, among);
    assert.deepEqual(read?.state.child, state.child);
  });

  it('a memo of another start of the host, or in another format, is ignored', () => {
    const memo = writeMemo({ state: live(mainConfig({ solo: true }), []), isHeld: true });
    assert.equal(readMemo(memo, HOST_ID)?.isHeld, true);
    assert.equal(readMemo(memo, 'another'), undefined);
    for (const other of [0, 2])
      assert.equal(readMemo(memo.replace('"format":1', `"format":${other}`), HOST_ID), undefined);
    assert.equal(readMemo('{', HOST_ID), undefined);
  });

  it('stays under 64 KiB with 64 long names that come and go', () => {
    const names = Array.from({ length: 64 }, (_, index) => `${index}-`.padEnd(63, 'n'));
    const startAfter = names.map((name) => ({ name, condition: 'started', optional: false }) as const);
    const config = sidecarConfig({ mains: names, startAfter, startTimeoutMs: 10_000_000 });
    const life = new Life({ config, peers: [] }).pass(20_000);
    for (const [index, name] of names.entries()) {
      const seen = names.slice(0, index).map((other) => alive(other));
      life.see(...seen, alive(name, { Phase: 'starting' })).pass(10);
      life.see(...seen, alive(name, { Phase: 'backoff' })).pass(10);
      send(life.signal(10).state);
    }
  });
});

describe('the configuration in the memo', () => {
  const state = live(mainConfig({ solo: true }), []);
  const LINES: readonly (readonly string[])[] = [
    ['run', '--', 'app', '--flag', 'ü'],
    ['--stop', 'TERM:5s,KILL', '--signals', 'USR1:-,HUP:INT', '--exit-code', '3=0', '--signal-to', 'first', 'app'],
    ['--graveyard', '/g', '--drain', 'min=1s,quiet=2s,max=9s,ignore=10.0.0.0/8', '--grace-period', '40s', 'app'],
    ['--http', ':80', '--otlp', 'http://c:4318', '--reload', '/etc/app=HUP,validate=app -t', '--quit', 'istio', 'app'],
    ['--liveness', 'http://:80/up,period=2s', '--post-start', 'exec:sh -c "x y"', '--pre-stop', 'sleep:1s', 'app'],
    ['--graveyard', '/g', '--role', 'sidecar', '--hold', '5s', '--linger', '2s', '--start-after', 'istio=ready', 'app'],
  ];

  for (const words of LINES) {
    it(`the memo keeps the configuration as it was judged: ${words.join(' ')}`, async () => {
      const resolution = await resolveRun(words, { OTEL_SERVICE_NAME: 'shop' }, filesOf());
      assert.ok(resolution.ok, JSON.stringify(resolution));
      const memo = writeMemo({ state, isHeld: false, config: keptConfig(resolution.run, '1.0.0') });
      const kept = readMemo(memo, HOST_ID)?.config;
      assert.ok(kept);
      const { version, ...restored } = restoredConfig(kept, words) as KeptConfig;
      assert.deepEqual([version, restored], ['1.0.0', withoutUndefined(resolution.run)]);
    });
  }

  it('leaves room for a state of any size when it is as long as it may be', () => {
    const program = { fromIndex: 0, argv: ['x'.repeat(MAX_KEPT_BYTES)] } as const;
    const config = keptConfig({ ...({} as RunConfig), program }, '1');
    const said = Array.from({ length: 200 }, (_, index) => `${index}`.padStart(250, 'x'));
    const memo = writeMemo({ state: { ...state, said }, isHeld: false, config });
    encodeCommit({ ack: undefined, memo, commands: [] });
    assert.deepEqual(readMemo(memo, HOST_ID)?.config, config);
  });
});

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, withoutUndefined(part)]));
}
