import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { asked, formatRequest, requestFileOf, type StopRequest } from '../../../src/core/format/stop-request.ts';
import type { Ask } from '../../../src/runtime/graveyard/inbox.ts';
import { leaveRequest } from '../../../src/runtime/graveyard/leave-request.ts';
import { Store } from '../../../src/runtime/graveyard/store.ts';
import { volumeAt } from '../../../src/runtime/graveyard/volume.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { startedGraveyard, Told, type Watched, writeTombstone } from './neighbours.ts';
import { Helper, needsMount, needsRoot, readOnlyView } from './volume.ts';

const SELF = { boot: 'boot-1', host: 'host-1' };

function request(change: Partial<StopRequest> = {}): StopRequest {
  const now = { mono: 1_000, wall: '1800000000000000000' };
  return { ...asked(now), Boot: SELF.boot, Incarnation: SELF.host, By: 'a test', ...change };
}

function requestsIn(dir: string): string[] {
  return readdirSync(dir).filter((file) => file.endsWith('.stop'));
}

async function started(t: TestContext, dir: string): Promise<Watched & { readonly asks: Told<Ask> }> {
  const asks = new Told<Ask>();
  return { ...(await startedGraveyard(t, { dir, inbox: { self: () => SELF, onAsked: asks.add } })), asks };
}

describe('a request in the graveyard', () => {
  it('a request from before the start is reported by the end of the start, and removed', async (t) => {
    const dir = temporaryDirectory();
    await leaveRequest(dir, 'me', request({ GraceMs: 5_000, Among: ['me', 'you'] }));
    const { graveyard, asks } = await started(t, dir);
    await graveyard.settle();
    assert.deepEqual(asks.items, [{ graceMs: 5_000, among: ['me', 'you'], atMs: 1_000, by: 'a test' }]);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('a request survives the removal of temporary files by a member that starts', async () => {
    const dir = temporaryDirectory();
    const store = new Store(volumeAt(dir), 'me');
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

  it('N32 a request is reported by file events alone, and once, for each of 20 senders', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, asks } = await started(t, dir);
    const graces = Array.from({ length: 20 }, (_, index) => 1_000 * (index + 1));
    await Promise.all(graces.map((GraceMs) => leaveRequest(dir, 'me', request({ GraceMs }))));
    for (const grace of graces) await asks.until(({ graceMs }) => graceMs === grace);
    for (let count = 0; count < 3; count++) await graveyard.rescan();
    await graveyard.settle();
    const asked = asks.items.map(({ graceMs = 0 }) => graceMs).sort((a, b) => a - b);
    assert.deepEqual(asked, graces);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('a request for another life of the container or of another boot is removed and not reported', async (t) => {
    const dir = temporaryDirectory();
    await leaveRequest(dir, 'me', request({ Incarnation: 'host-0' }));
    await leaveRequest(dir, 'me', request({ Boot: 'boot-0' }));
    const { graveyard, asks, troubles } = await started(t, dir);
    await graveyard.settle();
    assert.deepEqual([asks.items, troubles.items, readdirSync(dir)], [[], [], []]);
  });

  it('a request for another member is left alone, and is no trouble', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'you');
    for (const name of ['you', 'me-2', 'm']) await leaveRequest(dir, name, request());
    const { asks, troubles } = await started(t, dir);
    assert.deepEqual([asks.items, troubles.items], [[], []]);
    assert.equal(requestsIn(dir).length, 3);
  });

  it('a request is readable for every uid whatever the umask', async () => {
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

  it('K17 a request that is no plain file, huge or half written is ignored and reported once', async (t) => {
    const dir = temporaryDirectory();
    const outside = join(temporaryDirectory(), 'outside');
    writeFileSync(outside, formatRequest(request()));
    const odd = (index: number): string => join(dir, requestFileOf('me', String(index).padStart(12, '0')));
    symlinkSync(outside, odd(1));
    execFileSync('mkfifo', [odd(2)]);
    mkdirSync(odd(3));
    writeFileSync(odd(4), ' '.repeat(200_000));
    writeFileSync(odd(5), formatRequest(request()).slice(0, 30));
    const { graveyard, asks, troubles } = await started(t, dir);
    await graveyard.rescan();
    assert.deepEqual(asks.items, []);
    const whys = ['a symbolic link', 'larger than 65536 bytes', 'not JSON', 'not a plain file', 'not a plain file'];
    assert.deepEqual(troubles.items.map((message) => message.replace(/.*: /, '')).sort(), whys);
    await leaveRequest(dir, 'me', request());
    await asks.until(() => true);
  });

  it('a request that another uid left in a sticky directory is reported once although it stays', {
    skip: needsRoot,
  }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o1777);
    await leaveRequest(dir, 'me', request({ GraceMs: 1 }));
    const module = (name: string): string =>
      JSON.stringify(new URL(`../../../src/runtime/graveyard/${name}.ts`, import.meta.url).href);
    const helper = new Helper(
      t,
      `import { SystemClock } from ${module('../clock')};
       import { Graveyard } from ${module('graveyard')};
       import { volumeAt } from ${module('volume')};
       import { leaveRequest } from ${module('leave-request')};
       const asks: unknown[] = [];
       const graveyard = new Graveyard({ volume: volumeAt(${JSON.stringify(dir)}), ownName: 'me',
         clock: new SystemClock(), onPeers: () => {},
         onTrouble: () => {}, inbox: { self: () => (${JSON.stringify(SELF)}), onAsked: (ask) => asks.push(ask.graceMs) } });
       await graveyard.start();
       await graveyard.rescan();
       await leaveRequest(${JSON.stringify(dir)}, 'me', ${JSON.stringify(request({ GraceMs: 2 }))});
       await graveyard.rescan();
       console.log(JSON.stringify(asks));
       await graveyard.stop();`,
      { uid: 54_321, cwd: new URL('../../../', import.meta.url).pathname },
    );
    assert.deepEqual(JSON.parse(await helper.line()), [1, 2]);
    assert.equal(requestsIn(dir).length, 1);
  });

  it('a request that cannot be left says why, with the remedy, and leaves nothing', { skip: needsMount }, async (t) => {
    const dir = temporaryDirectory();
    const left = await leaveRequest(readOnlyView(t, dir), 'me', request());
    const message = left.ok ? '' : left.trouble.message;
    assert.match(message, /^cannot ask me to stop: EROFS.*; mount the volume without readOnly$/);
    assert.deepEqual(readdirSync(dir), []);
  });
});
