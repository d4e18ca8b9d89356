/** What the supervisor waits for, and what it does not wait for. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { SystemClock } from '../../src/runtime/clock.ts';
import type { Commit, Host, HostEvent } from '../../src/runtime/host/host.ts';
import { Log } from '../../src/runtime/log.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { readMemo } from '../../src/runtime/memo.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { MOST } from '../../src/runtime/timeouts.ts';
import { BOOT, HOST_ID, mainConfig, probe, sidecarConfig } from '../core/helpers.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { within } from '../helpers/wait.ts';
import { listen } from './probes/servers.ts';

/** A host whose child lives and takes no notice of signals. */
class Recorder implements Host {
  readonly limits = [];
  readonly commits: Commit[] = [];
  onCommit: () => void = () => {};
  #onEvent: (event: HostEvent) => void = () => {};

  async open(onEvent: (event: HostEvent) => void): ReturnType<Host['open']> {
    this.#onEvent = onEvent;
    return { hostId: HOST_ID, startedAt: mono(), memo: undefined, isPid1: true };
  }

  tell(event: HostEvent): void {
    this.#onEvent(event);
  }

  commit(commit: Commit): void {
    this.commits.push(commit);
    this.onCommit();
  }

  async close(): Promise<void> {}
}

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

function mono(): number {
  return Math.floor(Number(process.hrtime.bigint()) / 1e6);
}

test('after a pause of the machine a graveyard that hangs does not hold up what is due', async (t) => {
  const member = mainConfig({ name: 'web', solo: false, gracePeriodMs: 20_000 });
  const [host, log] = [new Recorder(), new Log({ level: 'silent', format: 'json', member: 'web' })];
  let pauseMs = 0;
  class Paused extends SystemClock {
    override now(): ReturnType<SystemClock['now']> {
      const { mono: at, wall } = super.now();
      return { mono: at + pauseMs, wall };
    }
  }
  const clock = new Paused();
  const membership = new Stuck({ dir: temporaryDirectory(), member, clock, log });
  t.after(() => membership.close());
  const wishes = { firstOnly: false, commands: [] };
  const program = { fromIndex: 0, argv: ['server'] } as const;
  const openMembership = async (): Promise<Membership> => membership;
  await new Supervisor({ member, program, host, wishes, clock, log, bootId: BOOT, openMembership }).start();
  host.tell({ type: 'spawned', seq: 1, at: mono(), id: 1, pid: 17 });
  const killed = new Promise<void>((resolve) => {
    host.onCommit = () => {
      const { commands = [] } = host.commits.at(-1) ?? {};
      if (commands.some((command) => command.type === 'kill' && command.signal === 9)) resolve();
    };
  });
  // The timer for the deadline is set before the pause and runs out after it.
  host.tell({ type: 'signal', seq: 2, at: mono() - 19_000, signal: 15, senderPid: 0, fromTerminal: false });
  pauseMs = 60_000;
  await within('the KILL at the deadline', killed);
});

test('a sidecar whose membership loads longer than a claim may take starts once it is loaded', async (t) => {
  const member = sidecarConfig({ name: 'proxy', solo: false });
  const [host, log, clock] = [
    new Recorder(),
    new Log({ level: 'silent', format: 'json', member: 'proxy' }),
    new SystemClock(),
  ];
  const membership = new Membership({ dir: temporaryDirectory(), member, clock, log });
  t.after(() => membership.close());
  const wishes = { firstOnly: false, commands: [] };
  const program = { fromIndex: 0, argv: ['server'] } as const;
  const [asked, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<Membership>()];
  const openMembership = (): Promise<Membership> => {
    asked.resolve();
    return loaded.promise;
  };
  const spawned = new Promise<void>((resolve) => {
    host.onCommit = () => {
      if (host.commits.at(-1)?.commands.some(({ type }) => type === 'spawn')) resolve();
    };
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const started = new Supervisor({ member, program, host, wishes, clock, log, bootId: BOOT, openMembership }).start();
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
  const [host, log, clock] = [
    new Recorder(),
    new Log({ level: 'silent', format: 'json', member: 'web' }),
    new SystemClock(),
  ];
  const membership = new Slow({ dir: temporaryDirectory(), member, clock, log });
  t.after(() => membership.close());
  const wishes = { firstOnly: false, commands: [] };
  const program = { fromIndex: 0, argv: ['server'] } as const;
  const openMembership = async (): Promise<Membership> => membership;
  await new Supervisor({ member, program, host, wishes, clock, log, bootId: BOOT, openMembership }).start();
  const hasLeft = (): boolean => host.commits.some(({ commands }) => commands.some(({ type }) => type === 'exit'));
  const left = new Promise<void>((resolve) => {
    host.onCommit = () => hasLeft() && resolve();
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  host.tell({ type: 'spawned', seq: 1, at: mono(), id: 1, pid: 17 });
  host.tell({ type: 'exited', seq: 2, at: mono(), id: 1, pid: 17, code: 0, signal: undefined, core: false });
  host.tell({ type: 'groupGone', seq: 3, at: mono(), id: 1, strays: 0 });
  await membership.asked.promise;
  t.mock.timers.tick(5_000);
  t.mock.timers.reset();
  await new Promise((resolve) => setImmediate(resolve));
  const hasLeftEarly = hasLeft();
  membership.settled.resolve();
  assert.equal(hasLeftEarly, false);
  await within('the exit', left);
});

test('a probe that succeeded while this process stood still is a success', async (t) => {
  const port = await listen(t, createServer());
  const readiness = probe({ kind: 'tcp', host: '127.0.0.1', port }, { timeoutMs: 300, periodMs: 600_000 });
  const member = mainConfig({ probes: { startup: undefined, liveness: undefined, readiness } });
  const [host, log, clock] = [
    new Recorder(),
    new Log({ level: 'silent', format: 'json', member: 'web' }),
    new SystemClock(),
  ];
  const wishes = { firstOnly: false, commands: [] };
  const program = { fromIndex: 0, argv: ['server'] } as const;
  await new Supervisor({ member, program, host, wishes, clock, log, bootId: BOOT, openMembership: undefined }).start();
  const result = new Promise<unknown>((resolve) => {
    host.onCommit = () => {
      const { vitals } = readMemo(host.commits.at(-1)?.memo ?? '{}', HOST_ID)?.state ?? {};
      if (vitals?.readiness !== undefined) resolve(vitals.readiness.lastOk);
    };
  });
  // The channel reports before the connection is requested in the next tick. The pause takes the tick after that.
  const pause = (): void => {
    process.nextTick(() => process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)));
  };
  subscribe('net.client.socket', pause);
  t.after(() => unsubscribe('net.client.socket', pause));
  host.tell({ type: 'spawned', seq: 1, at: mono(), id: 1, pid: 17 });
  t.after(() =>
    host.tell({ type: 'exited', seq: 2, at: mono(), id: 1, pid: 17, code: 0, signal: undefined, core: false }),
  );
  t.after(() => host.tell({ type: 'groupGone', seq: 3, at: mono(), id: 1, strays: 0 }));
  assert.equal(await within('the result of the probe', result), true);
});
