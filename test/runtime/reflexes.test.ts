/** What is left behind at init, when it is taken back, and what follows when init has used it. */
import assert from 'node:assert/strict';
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fill, type PreparedEnd } from '../../src/core/lifecycle/prepared/prepared-ends.ts';
import { SystemClock } from '../../src/runtime/clock.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { mainConfig } from '../core/helpers.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitFor } from '../helpers/wait.ts';
import { mono, Recorder, SILENT, supervise } from './recorder.ts';

/** The part of init that keeps what it gets. */
class Init extends Recorder {
  readonly init = '/proc/1/exe';

  get preparedEnds(): readonly PreparedEnd[] {
    return this.commands.findLast((command) => command.type === 'preparedEnds')?.ends ?? [];
  }
}

async function begin(t: TestContext): Promise<{ readonly host: Init; readonly path: string }> {
  const member = mainConfig({ name: 'web', solo: false });
  const [host, dir] = [new Init(), temporaryDirectory()];
  const membership = new Membership({ dir, member, clock: new SystemClock(), log: SILENT });
  t.after(() => membership.close());
  await supervise({ host, member, openMembership: async () => membership });
  host.tellOfStart();
  await waitFor('the ends are left behind', () => host.preparedEnds.length > 0);
  return { host, path: join(dir, 'web') };
}

/** What init fills in at this moment; it has come when this resolves. */
async function filled(host: Init, before: (text: string) => void): Promise<{ at: number; wall: string }> {
  const end = host.preparedEnds.find(({ from }) => from === 0);
  const [at, wall] = [mono() + 1, `${Date.now()}000123`];
  before(fill(end?.text ?? '', { moments: [{ mono: at, wall }], code: 0 }));
  await waitFor('that moment is past', () => mono() > at);
  return { at, wall };
}

test('prepared ends come once the tombstone is written and go when the state changes', async (t) => {
  const { host, path } = await begin(t);
  const left = host.commands.find((command) => command.type === 'preparedEnds');
  assert.ok(left?.type === 'preparedEnds');
  assert.deepEqual([left.id, left.path], [1, path]);
  assert.deepEqual(left.ends.map(({ from, to, final }) => `${from} ${to} ${final}`).join(), '0 0 true,1 255 true');
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
  const { at, wall } = await filled(host, (text) => writeFileSync(path, text));
  const { ino, mtimeNs } = lstatSync(path, { bigint: true });
  host.tell({ type: 'endWritten', seq: 2, at, id: 1, pid: 17, code: 0, wall });
  await waitFor('it exits', () => host.commands.some((command) => command.type === 'exit' && command.code === 0));
  const now = lstatSync(path, { bigint: true });
  assert.deepEqual([now.ino, now.mtimeNs], [ino, mtimeNs]);
  assert.equal(host.commits.filter(({ ack }) => ack === 2).length, 1, 'the end is one transaction');
});

test('an end that init wrote for a state that has changed is written again', async (t) => {
  const { host, path } = await begin(t);
  const { at, wall } = await filled(host, (text) => {
    // The signal came behind the end, but is heard before it.
    host.tell({ type: 'signal', seq: 2, at: mono(), signal: 10, senderPid: 0, fromTerminal: false });
    writeFileSync(path, text);
  });
  host.tell({ type: 'endWritten', seq: 3, at, id: 1, pid: 17, code: 0, wall });
  await waitFor('it exits', () => host.commands.some((command) => command.type === 'exit'));
  const written = readFileSync(path, 'utf8');
  assert.match(written, /signal received/);
  assert.match(written, /"ExitCode": 0/);
});

test('nothing is left behind where init is not there to use it', async (t) => {
  const { host } = await begin(t);
  const solo = new Init();
  await supervise({ host: solo, member: mainConfig({ name: 'alone', solo: true }) });
  solo.tellOfStart();
  host.tell({ type: 'signal', seq: 2, at: mono(), signal: 10, senderPid: 0, fromTerminal: false });
  await waitFor('another member has left its own behind', () => host.preparedEnds.length > 0);
  assert.deepEqual(solo.preparedEnds, []);
});
