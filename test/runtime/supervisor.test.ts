import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { SystemClock } from '../../src/runtime/clock.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { readMemo } from '../../src/runtime/memo.ts';
import { MOST } from '../../src/runtime/timeouts.ts';
import { HOST_ID, mainConfig, probe, sidecarConfig } from '../core/helpers.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { within } from '../helpers/wait.ts';
import { listen } from './probes/servers.ts';
import { mono, Recorder, SILENT, supervise } from './recorder.ts';

/** As on a volume whose server is gone: what looks at it never comes back. */
class Stuck extends Membership {
  override async rescan(): Promise<void> {
    await new Promise(() => {});
  }
}

/** As with too little CPU: the last tombstone takes its time. */
class Slow extends Membership {
  readonly settled = Promise.withResolvers<void>();
  readonly asked = Promise.withResolvers<void>();
  override async settle(): Promise<void> {
    this.asked.resolve();
    await this.settled.promise;
    await super.settle();
  }
}

test('after a pause of the machine a graveyard that hangs does not hold up what is due', async (t) => {
  const member = mainConfig({ name: 'web', solo: false, gracePeriodMs: 20_000 });
  const host = new Recorder();
  let pauseMs = 0;
  class Paused extends SystemClock {
    override now(): ReturnType<SystemClock['now']> {
      const { mono: at, wall } = super.now();
      return { mono: at + pauseMs, wall };
    }
  }
  const clock = new Paused();
  const membership = new Stuck({ dir: temporaryDirectory(), member, clock, log: SILENT });
  t.after(() => membership.close());
  await supervise({ host, member, clock, openMembership: async () => membership });
  host.tellOfStart();
  const killed = host.next(({ commands }) =>
    commands.find((command) => command.type === 'kill' && command.signal === 9),
  );
  // The timer for the deadline is set before the pause and runs out after it.
  host.tell({ type: 'signal', seq: 2, at: mono() - 19_000, signal: 15, senderPid: 0, fromTerminal: false });
  pauseMs = 60_000;
  await within('the KILL at the deadline', killed);
});

test('a sidecar whose membership loads longer than a claim may take starts once it is loaded', async (t) => {
  const member = sidecarConfig({ name: 'proxy', solo: false });
  const host = new Recorder();
  const membership = new Membership({ dir: temporaryDirectory(), member, clock: new SystemClock(), log: SILENT });
  t.after(() => membership.close());
  const [asked, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<Membership>()];
  const openMembership = (): Promise<Membership> => {
    asked.resolve();
    return loaded.promise;
  };
  const spawned = host.next(({ commands }) => commands.find(({ type }) => type === 'spawn'));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const started = supervise({ host, member, openMembership });
  await asked.promise;
  t.mock.timers.tick(MOST.claimingMs);
  t.mock.timers.reset();
  // What does not wait for it has gone on by then.
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  loaded.resolve(membership);
  await within('it is wired', started);
  await within('the start of the command', spawned, 10_000);
});

test('a death that takes seconds to write is waited for when nothing hurries', async (t) => {
  const member = mainConfig({ name: 'web', solo: false });
  const host = new Recorder();
  const membership = new Slow({ dir: temporaryDirectory(), member, clock: new SystemClock(), log: SILENT });
  t.after(() => membership.close());
  await supervise({ host, member, openMembership: async () => membership });
  const left = host.next(({ commands }) => commands.find(({ type }) => type === 'exit'));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  host.tellOfStart();
  host.tellOfEnd();
  await membership.asked.promise;
  t.mock.timers.tick(5_000);
  t.mock.timers.reset();
  await new Promise((resolve) => setImmediate(resolve));
  const hasLeftEarly = host.commands.some(({ type }) => type === 'exit');
  membership.settled.resolve();
  assert.equal(hasLeftEarly, false);
  await within('the exit', left);
});

test('a probe that succeeded while this process stood still is a success', async (t) => {
  const port = await listen(t, createServer());
  const readiness = probe({ kind: 'tcp', host: '127.0.0.1', port }, { timeoutMs: 300, periodMs: 600_000 });
  const host = new Recorder();
  await supervise({ host, member: mainConfig({ probes: { startup: undefined, liveness: undefined, readiness } }) });
  const result = host.next(({ memo }) => readMemo(memo ?? '{}', HOST_ID)?.state.vitals.readiness?.lastOk);
  // Told before the connection is asked for, which is in the next tick; the one after that is ours.
  const pause = (): void => {
    process.nextTick(() => process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)));
  };
  subscribe('net.client.socket', pause);
  t.after(() => unsubscribe('net.client.socket', pause));
  host.tellOfStart();
  t.after(() => host.tellOfEnd());
  assert.equal(await within('the result of the probe', result), true);
});
