/**
 * `sexton stop` on a volume that is full after its first request.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stop } from '../../src/cli/commands/stop/stop.ts';
import { readBootId } from '../../src/runtime/clock.ts';
import { writeTombstone } from '../runtime/graveyard/neighbours.ts';
import { needsMount, tmpfs } from '../runtime/graveyard/volume.ts';

it('sexton stop that fails midway names those that it has asked already', { skip: needsMount }, async (t) => {
  // The directory, two tombstones and one request.
  const dir = tmpfs(t, 'size=1m,nr_inodes=4');
  for (const name of ['app', 'web']) writeTombstone(dir, name, { Boot: readBootId() });
  const stopping = stop(['--graveyard', dir, '--no-wait'], {});
  await assert.rejects(stopping, /cannot ask web to stop: ENOSPC: .*; asked already, and stopping: app$/);
  const again = stop(['--graveyard', dir, '--no-wait'], {});
  await assert.rejects(
    again,
    ({ message }: Error) => /cannot ask app /.test(message) && !/asked already/.test(message),
  );
});
