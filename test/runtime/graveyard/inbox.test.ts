import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { asked, formatRequest, requestFileOf, type StopRequest } from '../../../src/core/format/stop-request.ts';
import { Graveyard } from '../../../src/runtime/graveyard/graveyard.ts';
import type { Ask } from '../../../src/runtime/graveyard/inbox.ts';
import { leaveRequest } from '../../../src/runtime/graveyard/leave-request.ts';
import { Store } from '../../../src/runtime/graveyard/store.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { Told, writeTombstone } from './neighbours.ts';
import { Helper, needsMount, needsRoot, readOnlyView } from './volume.ts';

const FOREIGN_UID = 54_321;
const SELF = { boot: 'boot-1', host: 'host-1' };

function request(change: Partial<StopRequest> = {}): StopRequest {
  const now = { mono: 1_000, wall: '1800000000000000000' };
  return { ...asked(now), Boot: SELF.boot, Incarnation: SELF.host, By: 'a test', ...change };
}

function requestsIn(dir: string): string[] {
  return readdirSync(dir).filter((file) => file.endsWith('.stop'));
}

interface Listening {
  readonly graveyard: Graveyard;
  readonly asks: Told<Ask>;
  readonly troubles: Told<string>;
}

/** The graveyard as the member `me` sees it. Without `rescanMs` it does not rescan by itself within a test. */
function listening(t: TestContext, dir: string, { rescanMs = 1e9, self = SELF } = {}): Listening {
  const asks = new Told<Ask>();
  const troubles = new Told<string>();
  const graveyard = new Graveyard({
    dir,
    ownName: 'me',
    now: () => performance.now(),
    onPeers: () => {},
    onTrouble: troubles.add,
    inbox: { self: () => self, onAsked: asks.add },
    rescanMs,
  });
  t.after(() => graveyard.stop());
  return { graveyard, asks, troubles };
}

describe('a request in the graveyard', () => {
  it('that was left before the member looked is told by the time it has started, and removed', async (t) => {
    const dir = temporaryDirectory();
    await leaveRequest(dir, 'me', request({ GraceMs: 5_000, Among: ['me', 'you'] }));
    const { graveyard, asks } = listening(t, dir);
    await graveyard.start();
    await graveyard.settle();
    assert.deepEqual(asks.items, [{ graceMs: 5_000, among: ['me', 'you'], atMs: 1_000, by: 'a test' }]);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('is left whatever the member clears away while its supervisor starts', async () => {
    const dir = temporaryDirectory();
    const store = new Store(dir, 'me');
    for (let times = 0; times < 200; times += 1) {
      let isOver = false;
      const leaving = leaveRequest(dir, 'me', request()).finally(() => {
        isOver = true;
      });
      while (!isOver) await store.prepare();
      assert.deepEqual((await leaving).ok, true);
    }
    assert.equal(requestsIn(dir).length, 200);
  });

  it('is told by file events alone, once, however often it is looked for', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, asks } = listening(t, dir);
    await graveyard.start();
    await leaveRequest(dir, 'me', request());
    await asks.until(() => true);
    for (let count = 0; count < 3; count++) await graveyard.rescan();
    await graveyard.settle();
    assert.equal(asks.items.length, 1);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('in a directory that appears later than the member is told', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, asks } = listening(t, join(dir, 'late'));
    await graveyard.start();
    mkdirSync(join(dir, 'late'));
    await leaveRequest(join(dir, 'late'), 'me', request());
    await graveyard.rescan();
    assert.equal(asks.items.length, 1);
  });

  it('N32 of each of many who ask at once is told', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, asks } = listening(t, dir);
    await graveyard.start();
    const graces = Array.from({ length: 20 }, (_, index) => 1_000 * (index + 1));
    await Promise.all(graces.map((GraceMs) => leaveRequest(dir, 'me', request({ GraceMs }))));
    await graveyard.rescan();
    assert.deepEqual(
      asks.items.map(({ graceMs = 0 }) => graceMs).sort((a, b) => a - b),
      graces,
    );
    await graveyard.settle();
    assert.deepEqual(readdirSync(dir), []);
  });

  it('for another life of the container or of another boot is removed and not told', async (t) => {
    const dir = temporaryDirectory();
    await leaveRequest(dir, 'me', request({ Incarnation: 'host-0' }));
    await leaveRequest(dir, 'me', request({ Boot: 'boot-0' }));
    const { graveyard, asks, troubles } = listening(t, dir);
    await graveyard.start();
    await graveyard.settle();
    assert.deepEqual([asks.items, troubles.items, readdirSync(dir)], [[], [], []]);
  });

  it('for another member is left alone, also when one name begins the other', async (t) => {
    const dir = temporaryDirectory();
    for (const name of ['you', 'me-2', 'm']) await leaveRequest(dir, name, request());
    const { graveyard, asks } = listening(t, dir);
    await graveyard.start();
    assert.deepEqual(asks.items, []);
    assert.equal(requestsIn(dir).length, 3);
  });

  it('is no tombstone and no trouble to anybody else', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    await leaveRequest(dir, 'a', request());
    const { graveyard, troubles } = listening(t, dir);
    await graveyard.start();
    assert.deepEqual(troubles.items, []);
  });

  it('can be read by every uid whatever the umask, and is whole from its first moment', async () => {
    const dir = temporaryDirectory();
    const before = process.umask(0o077);
    try {
      await leaveRequest(dir, 'me', request());
    } finally {
      process.umask(before);
    }
    const [file = ''] = readdirSync(dir);
    assert.equal(statSync(join(dir, file)).mode & 0o777, 0o644);
    assert.equal(readFileSync(join(dir, file), 'utf8'), formatRequest(request()));
  });

  it('K17 that is a link, a FIFO, a directory, huge or half written is ignored and said once', async (t) => {
    const dir = temporaryDirectory();
    const outside = join(temporaryDirectory(), 'outside');
    writeFileSync(outside, formatRequest(request()));
    const odd = (index: number): string => join(dir, requestFileOf('me', String(index).padStart(12, '0')));
    symlinkSync(outside, odd(1));
    execFileSync('mkfifo', [odd(2)]);
    mkdirSync(odd(3));
    writeFileSync(odd(4), ' '.repeat(200_000));
    writeFileSync(odd(5), formatRequest(request()).slice(0, 30));
    const { graveyard, asks, troubles } = listening(t, dir);
    await graveyard.start();
    await graveyard.rescan();
    assert.deepEqual(asks.items, []);
    const whys = troubles.items.map((message) => message.replace(/.*: /, '')).sort();
    assert.deepEqual(whys, [
      'a symbolic link',
      'larger than 65536 bytes',
      'not JSON',
      'not a plain file',
      'not a plain file',
    ]);
    await leaveRequest(dir, 'me', request());
    await asks.until(() => true);
  });

  it('of another uid in a sticky directory is told once although it stays', { skip: needsRoot }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o1777);
    await leaveRequest(dir, 'me', request({ GraceMs: 1 }));
    const module = (name: string): string =>
      JSON.stringify(new URL(`../../../src/runtime/graveyard/${name}.ts`, import.meta.url).href);
    const helper = new Helper(
      t,
      `import { Graveyard } from ${module('graveyard')};
       import { leaveRequest } from ${module('leave-request')};
       const asks: unknown[] = [];
       const graveyard = new Graveyard({ dir: ${JSON.stringify(dir)}, ownName: 'me', now: () => 0, onPeers: () => {},
         onTrouble: () => {}, inbox: { self: () => (${JSON.stringify(SELF)}), onAsked: (ask) => asks.push(ask.graceMs) } });
       await graveyard.start();
       await graveyard.rescan();
       await leaveRequest(${JSON.stringify(dir)}, 'me', ${JSON.stringify(request({ GraceMs: 2 }))});
       await graveyard.rescan();
       console.log(JSON.stringify(asks));
       await graveyard.stop();`,
      { uid: FOREIGN_UID, cwd: new URL('../../../', import.meta.url).pathname },
    );
    assert.deepEqual(JSON.parse(await helper.line()), [1, 2]);
    assert.equal(requestsIn(dir).length, 1);
  });

  it('that cannot be left says why, with the remedy, and leaves nothing', { skip: needsMount }, async (t) => {
    const dir = temporaryDirectory();
    const view = readOnlyView(t, dir);
    const left = await leaveRequest(view, 'me', request());
    assert.match(
      left.ok ? '' : left.trouble.message,
      /^cannot ask me to stop: EROFS.*; mount the volume without readOnly$/,
    );
    assert.deepEqual(readdirSync(dir), []);
  });
});
