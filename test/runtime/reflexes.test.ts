/** What is left behind at init, when it is taken back, and what follows when init has used it. */
import assert from 'node:assert/strict';
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { fill, type PreparedEnd } from '../../src/core/lifecycle/prepared-ends.ts';
import { SystemClock } from '../../src/runtime/clock.ts';
import type { Commit, Host, HostCommand, HostEvent } from '../../src/runtime/host/host.ts';
import { Log } from '../../src/runtime/log.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { BOOT, HOST_ID, mainConfig } from '../core/helpers.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitFor } from '../helpers/wait.ts';

/** In place of init, it only keeps the commits that it gets. */
class Recorder implements Host {
  readonly limits = [];
  readonly init = '/proc/1/exe';
  readonly commits: Commit[] = [];
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
  }

  async close(): Promise<void> {}

  get commands(): readonly HostCommand[] {
    return this.commits.flatMap(({ commands }) => commands);
  }

  /** As it is left now. */
  get preparedEnds(): readonly PreparedEnd[] {
    return this.commands.findLast((command) => command.type === 'preparedEnds')?.ends ?? [];
  }
}

function mono(): number {
  return Math.floor(Number(process.hrtime.bigint()) / 1e6);
}

interface Scene {
  readonly host: Recorder;
  readonly path: string;
}

async function begin(t: { after: (does: () => unknown) => void }, change: Partial<MemberConfig> = {}): Promise<Scene> {
  const member = mainConfig({ name: 'web', solo: false, ...change });
  const [host, clock] = [new Recorder(), new SystemClock()];
  const log = new Log({ level: 'silent', format: 'json', member: 'web' });
  const dir = temporaryDirectory();
  const membership = new Membership({ dir, member, clock, log });
  t.after(() => membership.close());
  const wishes = { firstOnly: false, commands: [] };
  const program = { fromIndex: 0, argv: ['server'] } as const;
  const openMembership = async (): Promise<Membership> => membership;
  await new Supervisor({ member, program, host, wishes, clock, log, bootId: BOOT, openMembership }).start();
  host.tell({ type: 'spawned', seq: 1, at: mono(), id: 1, pid: 17 });
  await waitFor('the ends are left behind', () => host.preparedEnds.length > 0);
  return { host, path: join(dir, 'web') };
}

test('the prepared ends follow the tombstone, and the commit that changes the state removes them', async (t) => {
  const { host, path } = await begin(t);
  const left = host.commands.find((command) => command.type === 'preparedEnds');
  assert.deepEqual(
    left?.type === 'preparedEnds' && [left.id, left.path, left.ends.map(({ from, to, final }) => [from, to, final])],
    [
      1,
      path,
      [
        [0, 0, true],
        [1, 255, true],
      ],
    ],
  );
  assert.match(readFileSync(path, 'utf8'), /"Phase": "running"/);
  host.tell({ type: 'signal', seq: 2, at: mono(), signal: 10, senderPid: 0, fromTerminal: false });
  const { ack, commands } = host.commits.at(-1) ?? {};
  assert.equal(ack, 2);
  assert.ok(commands?.some((command) => command.type === 'preparedEnds' && command.ends.length === 0));
  assert.ok(commands?.some((command) => command.type === 'endWith' && command.mains.length === 0));
  await waitFor('the next is left behind', () => host.preparedEnds.length > 0);
  assert.match(host.preparedEnds[0]?.text ?? '', /signal received/);
  host.tell({ type: 'signal', seq: 3, at: mono(), signal: 15, senderPid: 0, fromTerminal: false });
  assert.deepEqual(host.preparedEnds, []);
});

test('what init has written is not written again', async (t) => {
  const { host, path } = await begin(t);
  const end = host.preparedEnds.find(({ from }) => from === 0);
  const [at, wall] = [mono() + 1, `${Date.now()}000123`];
  writeFileSync(path, fill(end?.text ?? '', { moments: [{ mono: at, wall }], code: 0 }));
  const { ino, mtimeNs } = lstatSync(path, { bigint: true });
  await waitFor('that moment is past', () => mono() > at);
  host.tell({ type: 'endWritten', seq: 2, at, id: 1, pid: 17, code: 0, wall });
  await waitFor('it exits', () => host.commands.some((command) => command.type === 'exit' && command.code === 0));
  const now = lstatSync(path, { bigint: true });
  assert.deepEqual([now.ino, now.mtimeNs], [ino, mtimeNs]);
  assert.equal(host.commits.filter(({ ack }) => ack === 2).length, 1, 'the end is one transaction');
});

test('an end that init wrote for a state that has changed is written again', async (t) => {
  const { host, path } = await begin(t);
  const end = host.preparedEnds.find(({ from }) => from === 0);
  const [at, wall] = [mono() + 1, `${Date.now()}000123`];
  const text = fill(end?.text ?? '', { moments: [{ mono: at, wall }], code: 0 });
  // The signal came behind the end, but is heard before it.
  host.tell({ type: 'signal', seq: 2, at: mono(), signal: 10, senderPid: 0, fromTerminal: false });
  writeFileSync(path, text);
  await waitFor('that moment is past', () => mono() > at);
  host.tell({ type: 'endWritten', seq: 3, at, id: 1, pid: 17, code: 0, wall });
  await waitFor('it exits', () => host.commands.some((command) => command.type === 'exit'));
  const written = readFileSync(path, 'utf8');
  assert.match(written, /signal received/);
  assert.match(written, /"ExitCode": 0/);
});

test('nothing is left behind where init is not there to use it', async (t) => {
  const { host } = await begin(t);
  const member = mainConfig({ name: 'alone', solo: true });
  const solo = new Recorder();
  const log = new Log({ level: 'silent', format: 'json', member: 'alone' });
  const program = { fromIndex: 0, argv: ['server'] } as const;
  const wishes = { firstOnly: false, commands: [] };
  const options = { member, program, host: solo, wishes, clock: new SystemClock(), log, bootId: BOOT };
  await new Supervisor({ ...options, openMembership: undefined }).start();
  solo.tell({ type: 'spawned', seq: 1, at: mono(), id: 1, pid: 18 });
  host.tell({ type: 'signal', seq: 2, at: mono(), signal: 10, senderPid: 0, fromTerminal: false });
  await waitFor('another member has left its own behind', () => host.preparedEnds.length > 0);
  assert.deepEqual(solo.preparedEnds, []);
});
