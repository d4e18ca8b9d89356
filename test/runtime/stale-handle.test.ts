/** The handle of a life before, on a volume that cannot be written when the next life begins. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SystemClock } from '../../src/runtime/clock.ts';
import { Log } from '../../src/runtime/log.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { mainConfig } from '../core/helpers.ts';
import { waitFor } from '../helpers/wait.ts';
import { needsMount, tmpfs } from './graveyard/volume.ts';

test('a member that an old handle kept from making its own makes it when it can', {
  skip: needsMount,
}, async (t) => {
  const dir = tmpfs(t, 'size=1m');
  const handle = join(dir, '.web.sock');
  // Its holder is killed, so that it stays.
  const holder = `require('node:net').createServer().listen(${JSON.stringify(handle)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', holder]);
  assert.ok(existsSync(handle));
  execFileSync('mount', ['-o', 'remount,ro', dir]);
  const log = new Log({ level: 'silent', format: 'json', member: 'web' });
  const membership = new Membership({
    dir,
    member: mainConfig({ name: 'web' }),
    clock: new SystemClock(),
    log,
    tendMs: 50,
  });
  t.after(() => membership.close());
  const wasInTheWay: boolean[] = [];
  const listen = (path: string): void => void wasInTheWay.push(existsSync(path));
  await membership.claim({ listen, peersSeen: () => {}, stopAsked: () => {} }, false);
  // Nothing can be made there now, so init is not asked to try.
  assert.equal(wasInTheWay.length, 0);
  execFileSync('mount', ['-o', 'remount,rw', dir]);
  await waitFor('it is asked for again, and nothing is in the way', () => wasInTheWay.includes(false));
});
