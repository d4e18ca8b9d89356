import assert from 'node:assert/strict';
import { existsSync, lstatSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { HeldSocket } from '../../../src/runtime/host/held-socket.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';

test('a liveness socket is for all users, and a link in its place changes no other file', async (t) => {
  const dir = temporaryDirectory();
  const path = join(dir, '.a.sock');
  const victim = join(dir, 'private');
  writeFileSync(victim, '', { mode: 0o600 });
  const socket = new HeldSocket();
  t.after(() => socket.close());
  socket.listen(path);
  assert.ok(existsSync(path));
  assert.equal(lstatSync(path).mode & 0o777, 0o666);
  // Another container is as fast as that.
  unlinkSync(path);
  symlinkSync(victim, path);
  await setImmediate();
  assert.equal(statSync(victim).mode & 0o777, 0o600);
});
