/** What is left behind at init, when it is taken back, and what follows when init has used it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EndRow } from '../../src/core/end-rows.ts';
import { SystemClock } from '../../src/runtime/clock.ts';
import type { TextsCommand } from '../../src/runtime/host/host.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { OpenTexts } from '../../src/runtime/sleep/open-texts.ts';
import { mainConfig } from '../core/helpers.ts';
import { Life } from '../core/life.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitFor } from '../helpers/wait.ts';
import { mono, Recorder, SILENT, supervise } from './recorder.ts';

/** The part of init that keeps what it gets. */
class Init extends Recorder {
  readonly init = '/proc/1/exe';

  /** The rows `end` of the last orders. */
  get ends(): readonly EndRow[] {
    const orders = this.commands.findLast((command) => command.type === 'orders');
    return (orders?.rows ?? []).filter((row) => row.when === 'end');
  }

  get texts(): TextsCommand | undefined {
    return this.commands.findLast((command) => command.type === 'texts');
  }
}

async function begin(t: TestContext): Promise<{ readonly host: Init; readonly path: string }> {
  const member = mainConfig({ name: 'web', solo: false });
  const [host, dir] = [new Init(), temporaryDirectory()];
  const membership = new Membership({ dir, member, clock: new SystemClock(), log: SILENT });
  t.after(() => membership.close());
  await supervise({ host, member, openMembership: async () => membership });
  host.tellOfStart();
  await waitFor('the ends are left behind', () => host.ends.length > 0);
  return { host, path: join(dir, 'web') };
}

test('rows of an end come once the tombstone is written and go when the state changes', async (t) => {
  const { host, path } = await begin(t);
  const ends = host.ends.map(({ prelude, from, to, final }) => `${prelude} ${from} ${to} ${final}`.trim());
  assert.deepEqual(ends.slice(0, 2), ['0 0 true', '1 255 true']);
  assert.equal(host.texts?.path, path);
  assert.match(readFileSync(path, 'utf8'), /"Phase": "running"/);
  host.tell({ type: 'signal', seq: 2, at: mono(), signal: 10, senderPid: 0, fromTerminal: false });
  const { ack, commands } = host.commits.at(-1) ?? {};
  assert.equal(ack, 2);
  assert.ok(commands?.some((command) => command.type === 'orders' && command.rows.every(({ when }) => when !== 'end')));
  await waitFor('the next is left behind', () => host.ends.length > 0);
  assert.match(host.texts?.tombstone ?? '', /signal received/);
  host.tell({ type: 'signal', seq: 3, at: mono(), signal: 15, senderPid: 0, fromTerminal: false });
  assert.deepEqual(host.ends, []);
});

test('the last tombstone of a supervisor that is awake has the whole history', async (t) => {
  const { host, path } = await begin(t);
  const at = mono() + 1;
  await waitFor('that moment is past', () => mono() > at);
  writeFileSync(path, 'as init has closed it');
  host.tell({ type: 'endWritten', seq: 2, at, id: 1, pid: 17, code: 0, wall: `${Date.now()}000123` });
  await waitFor('it exits', () => host.commands.some((command) => command.type === 'exit' && command.code === 0));
  const written = JSON.parse(readFileSync(path, 'utf8'));
  assert.deepEqual([written.ExitCode, written.History.at(-1).Event], [0, 'phase']);
  assert.equal(host.commits.filter(({ ack }) => ack === 2).length, 1, 'the end is one transaction');
});

test('texts that had no tombstone in time are left before the sleep', async () => {
  const { state } = new Life({ config: mainConfig({ solo: false }), child: {}, peers: [] });
  const left: TextsCommand[] = [];
  let path: string | undefined;
  let asked = 0;
  const texts = new OpenTexts({
    member: mainConfig(),
    log: SILENT,
    clock: new SystemClock(),
    terminationLog: undefined,
    tombstoneAt: async () => {
      asked += 1;
      return path;
    },
    leave: (it) => left.push(it),
  });
  texts.follow(state, undefined);
  await waitFor('it was quiet', () => asked > 0);
  path = '/graveyard/web';
  await texts.leaveNow();
  await texts.leaveNow();
  assert.deepEqual(
    left.map((it) => it.path),
    ['/graveyard/web'],
  );
});

test('nothing is left behind where init is not there to use it', async (t) => {
  const { host } = await begin(t);
  const solo = new Init();
  await supervise({ host: solo, member: mainConfig({ name: 'alone', solo: true }) });
  solo.tellOfStart();
  host.tell({ type: 'signal', seq: 2, at: mono(), signal: 10, senderPid: 0, fromTerminal: false });
  await waitFor('another member has left its own behind', () => host.ends.length > 0);
  assert.deepEqual(solo.ends, []);
});
