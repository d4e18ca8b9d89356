import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, it, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { asked } from '../../src/core/format/stop-request.ts';
import { formatTombstone, type Tombstone } from '../../src/core/format/tombstone.ts';
import { SystemClock } from '../../src/runtime/clock.ts';
import type { Ask } from '../../src/runtime/graveyard/inbox.ts';
import { leaveRequest } from '../../src/runtime/graveyard/leave-request.ts';
import { type VolumeAccess, volumeAt } from '../../src/runtime/graveyard/volume.ts';
import { Log } from '../../src/runtime/log/log.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { ANOTHER_KERNEL } from '../../src/runtime/sleep/why-awake.ts';
import { mainConfig } from '../core/helpers.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { readTombstone, waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { listen, Told, writeTombstone } from './graveyard/neighbours.ts';
import { Helper, needsMount, tmpfs } from './graveyard/volume.ts';

const BOOT = 'boot-1';

class Heard extends Log {
  readonly errors = new Told<string>();
  readonly warnings = new Told<string>();

  constructor() {
    super({ level: 'silent', format: 'json', member: 'web' });
  }

  override say(level: string, message: string): void {
    if (level === 'error') this.errors.add(message);
    if (level === 'warn') this.warnings.add(message);
  }
}

const present: Member[] = [];
// A member that a failed test leaves behind would bind its socket after the test, and hold it for ever.
afterEach(() => Promise.all(present.splice(0).map((member) => member.leave())));

interface Member {
  readonly membership: Membership;
  readonly errors: Told<string>;
  readonly asks: Told<Ask>;
  claim(): Promise<void>;
  publish(more?: Partial<Tombstone>): void;
  leave(): Promise<void>;
}

/** `onListen` decides when the host binds the socket that the membership asks for; by default at once. */
function memberOf(
  t: TestContext,
  dir: string,
  host: string,
  onListen = (bind: () => void): void => bind(),
  volume: Partial<VolumeAccess> = {},
): Member {
  const log = new Heard();
  const asks = new Told<Ask>();
  const member = mainConfig({ name: 'web' });
  const [clock, at] = [new SystemClock(), { ...volumeAt(dir), ...volume }];
  const membership = new Membership({ dir, volume: at, member, clock, log, tendMs: 50 });
  let server: Server | undefined;
  let hasLeft = false;
  const bind = async (path: string): Promise<void> => {
    // A host that is gone holds nothing.
    if (hasLeft) return;
    server?.close();
    rmSync(path, { force: true });
    server = await listen(t, path, () => {});
    if (hasLeft) server.close();
  };
  // Without a directory there is no socket, which is no error for a host.
  const hold = (path: string): void => onListen(() => void bind(path).catch(() => {}));
  const events = { listen: hold, peersSeen: () => {}, stopAsked: asks.add };
  const publish = (more: Partial<Tombstone> = {}): void =>
    membership.publish({ Version: 1, Name: 'web', Boot: BOOT, Incarnation: `${host}-1`, Phase: 'running', ...more });
  publish();
  const made: Member = {
    membership,
    errors: log.errors,
    asks,
    publish,
    claim: async () => {
      await membership.claim(events, false);
      await membership.watch(events);
    },
    leave: async () => {
      hasLeft = true;
      await membership.close();
      server?.close();
    },
  };
  present.push(made);
  return made;
}

function isBy(host: string): (tombstone: Tombstone) => boolean {
  return ({ Incarnation }) => Incarnation === `${host}-1`;
}

it('a member sleeps only while its own socket and tombstone are there, which tell others of it', async (t) => {
  const dir = temporaryDirectory();
  let bind = (): void => {};
  const { membership, claim } = memberOf(t, dir, 'host-a', (now) => {
    bind = now;
  });
  await claim();
  await membership.rescan();
  assert.equal(await membership.sleepWatch(), 'its tombstone or its socket is not written yet');
  bind();
  await waitFor('it may sleep', async () => typeof (await membership.sleepWatch()) === 'object');
  unlinkSync(join(dir, 'web'));
  assert.equal(await membership.sleepWatch(), 'its tombstone or its socket is not written yet');
});

it('a member may not sleep through the first tombstone of a life whose socket it has seen', async (t) => {
  const dir = temporaryDirectory();
  const { membership, claim } = memberOf(t, dir, 'host-a');
  await claim();
  const quiet = async (): Promise<readonly string[] | undefined> => {
    await membership.rescan();
    const watch = await membership.sleepWatch();
    return typeof watch === 'object' ? watch.quiet : undefined;
  };
  const write = (life: string): void => writeTombstone(dir, 'job', { Boot: BOOT, Incarnation: life });
  const isQuiet = (names: readonly string[]) => async () => isDeepStrictEqual(await quiet(), names);
  write('old-1');
  await waitFor('a main matters to no other main', isQuiet(['job']));
  const before = statSync(join(dir, 'job')).mtimeMs;
  await waitFor('the clock of files ticks', () => {
    writeFileSync(join(dir, '.tick'), '');
    return statSync(join(dir, '.tick')).mtimeMs > before;
  });
  await listen(t, join(dir, '.job.sock'), () => {});
  await waitFor('its next life may be another member', isQuiet([]));
  write('new-1');
  await waitFor('that has said what it is', isQuiet(['job']));
});

it('no member is looked at for sleep on a volume that another kernel may change', async (t) => {
  const dir = temporaryDirectory();
  const looked: string[] = [];
  const isAnnounced = async (name: string): Promise<boolean> => {
    looked.push(name);
    return false;
  };
  const { membership, claim } = memberOf(t, dir, 'host-a', undefined, { isLocal: async () => false, isAnnounced });
  await claim();
  writeTombstone(dir, 'job', { Boot: BOOT, Incarnation: 'old-1' });
  await membership.rescan();
  assert.deepEqual([await membership.sleepWatch(), looked], [ANOTHER_KERNEL, []]);
});

describe('two members of one name', () => {
  it('the member with the greater id reports a name that two claim at once, and writes no more', async (t) => {
    const dir = temporaryDirectory();
    // Neither binds its socket before the other has found the name free.
    const waiting: (() => void)[] = [];
    const together = (bind: () => void): void => {
      if (waiting.length === 2) return bind();
      waiting.push(bind);
      if (waiting.length === 2) for (const both of waiting) both();
    };
    const first = memberOf(t, dir, 'host-a', together);
    const second = memberOf(t, dir, 'host-b', together);
    await Promise.all([first.claim(), second.claim()]);
    assert.match(
      await second.errors.until((message) => message.includes('another live member')),
      /^another live member is called web in .*: give each its own --name; no tombstone is written until then, and no member learns of an end before$/,
    );
    first.publish({ Restarts: 7 });
    const isFirst = (it: Tombstone): boolean => isBy('host-a')(it) && it.Restarts === 7;
    await waitForTombstone(dir, 'web', 'is that of the first', isFirst);
    second.publish({ Restarts: 8 });
    await second.membership.settle();
    assert.equal(readTombstone(dir, 'web')?.Restarts, 7);
  });

  it('the member with the lesser id takes its name back from one that has overwritten it', async (t) => {
    const dir = temporaryDirectory();
    const first = memberOf(t, dir, 'host-a');
    await first.claim();
    // As if it had found no socket.
    const rival = memberOf(t, dir, 'host-b', () => {});
    unlinkSync(join(dir, '.web.sock'));
    await rival.claim();
    await first.errors.until((message) => message.endsWith('this one keeps the name'));
    await rival.errors.until((message) => message.includes('no tombstone is written until then'));
    await waitForTombstone(dir, 'web', 'is that of the first', isBy('host-a'));
    await first.leave();
    await waitForTombstone(dir, 'web', 'is that of the second', isBy('host-b'));
  });

  it('a living member overwrites the tombstone of a dead one of its name, and logs nothing', async (t) => {
    const dir = temporaryDirectory();
    const member = memberOf(t, dir, 'host-b');
    await member.claim();
    const late = memberOf(t, dir, 'host-a', () => {});
    late.publish({ Died: '2026-01-02T03:04:05Z', Phase: 'dead' });
    unlinkSync(join(dir, '.web.sock'));
    await late.membership.claim({ listen: () => {}, peersSeen: () => {}, stopAsked: () => {} }, true);
    await late.membership.settle();
    await waitForTombstone(dir, 'web', 'is that of the living', isBy('host-b'));
    assert.deepEqual(member.errors.items, []);
  });
});

test('a woken supervisor asks for the socket that an abandoned one kept its predecessor from', async (t) => {
  const dir = temporaryDirectory();
  const path = join(dir, '.web.sock');
  const old = new Helper(
    t,
    `import { createServer } from 'node:net'; createServer().listen(${JSON.stringify(path)}, () => console.log('bound'))`,
  );
  await old.line();
  await old.kill();
  const member = memberOf(t, dir, 'host-a');
  const order = Promise.withResolvers<string>();
  await member.membership.claim({ listen: order.resolve, peersSeen: () => {}, stopAsked: () => {} }, true);
  assert.equal(await within('it is asked for', order.promise), path);
  assert.equal(existsSync(path), false);
});

test('what another session left is removed, unless a member of ours has overwritten it by now', async () => {
  const dir = temporaryDirectory();
  const graveyard = join(dir, 'graveyard');
  mkdirSync(graveyard);
  const files = { left: 'theirs', newborn: 'ours', plain: undefined, '../outside': 'theirs' };
  const write = (Name: string, Session?: string): void =>
    writeFileSync(join(graveyard, Name), formatTombstone({ Version: 1, Name, ...(Session && { Session }) }));
  for (const [name, session] of Object.entries(files)) write(name, session);
  writeFileSync(join(graveyard, '.left.sock'), '');
  const about = { member: mainConfig({ name: 'web', session: 'ours' }), clock: new SystemClock(), log: new Heard() };
  await new Membership({ dir: graveyard, ...about }).clear([...Object.keys(files), 'gone', '.', '']);
  assert.deepEqual(readdirSync(graveyard).sort(), ['newborn', 'plain']);
  assert.ok(existsSync(join(dir, 'outside')));
  // B5: nothing is removed where a link in place of the graveyard leads to.
  write('left', 'theirs');
  symlinkSync(graveyard, join(dir, 'link'));
  await new Membership({ dir: join(dir, 'link'), ...about }).clear(['left']);
  assert.match(about.log.warnings.items.join(), /^cannot remove .*left of another session: .* is a symbolic link/);
  assert.ok(existsSync(join(graveyard, 'left')));
});

test('a request to stop reaches the member that published its life, and no other', async (t) => {
  const dir = temporaryDirectory();
  const member = memberOf(t, dir, 'host-a');
  await member.claim();
  const now = asked({ mono: 5, wall: '1800000000000000000' });
  await leaveRequest(dir, 'web', { ...now, Boot: BOOT, Incarnation: 'host-b', By: 'a test', GraceMs: 1 });
  await leaveRequest(dir, 'web', { ...now, Boot: BOOT, Incarnation: 'host-a', By: 'a test', GraceMs: 2 });
  assert.deepEqual(await member.asks.until(() => true), { graceMs: 2, among: undefined, atMs: 5, by: 'a test' });
  await member.membership.rescan();
  assert.equal(member.asks.items.length, 1);
  assert.deepEqual(readdirSync(dir).sort(), ['.web.sock', 'web']);
});

test('a member whose handle an old one kept it from making makes it when it can', {
  skip: needsMount,
}, async (t) => {
  const dir = tmpfs(t, 'size=1m');
  const handle = join(dir, '.web.sock');
  // Its holder is killed, so that it stays.
  const holder = `require('node:net').createServer().listen(${JSON.stringify(handle)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', holder]);
  assert.ok(existsSync(handle));
  execFileSync('mount', ['-o', 'remount,ro', dir]);
  const { membership } = memberOf(t, dir, 'host-a');
  const wasInTheWay: boolean[] = [];
  const listen = (path: string): void => void wasInTheWay.push(existsSync(path));
  await membership.claim({ listen, peersSeen: () => {}, stopAsked: () => {} }, false);
  // Nothing can be made there now, so init is not asked to try.
  assert.equal(wasInTheWay.length, 0);
  execFileSync('mount', ['-o', 'remount,rw', dir]);
  await waitFor('it is asked for again, and nothing is in the way', () => wasInTheWay.includes(false));
});
