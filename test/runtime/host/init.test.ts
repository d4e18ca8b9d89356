import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildInit } from '../../../src/init/build.ts';
import { hasEnded } from '../../helpers/process.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { hostContract } from './contract.ts';
import { start } from './host-process.ts';

const dir = mkdtempSync(join(tmpdir(), 'sx-init-'));
after(() => rmSync(dir, { recursive: true }));
const kind = { name: 'InitHost', init: join(dir, 'sexton') } as const;
// What a test does not acknowledge must not end its supervisor on a slow machine.
buildInit(kind.init, { hangMs: 300_000 });

hostContract(kind);

test('nothing is out of reach over init', async (t) => {
  assert.deepEqual((await start(t, kind)).limits, []);
});

test('a supervisor whose init is gone ends itself and says nothing', async (t) => {
  const host = await start(t, kind);
  process.kill(host.pid, 'SIGKILL');
  await waitFor('the supervisor has ended', () => hasEnded(host.supervisorPid));
  await within('the host ends', host.ended);
  assert.deepEqual(host.errors, []);
});

test('a supervisor that crashes is started again, and its crash can be read', async (t) => {
  const host = await start(t, kind);
  await host.commit({ memo: 'kept' });
  host.say({ type: 'crash' });
  assert.equal((await host.supervisor()).memo, 'kept');
  assert.ok(host.errors.some((line) => line.includes('a crash that the test asked for')));
});

test('the command on init’s own command line is started by its index', async (t) => {
  const host = await start(t, kind);
  // argv: sexton -- /bin/sh -c ...
  await host.commit({ commands: [{ type: 'spawn', id: 1, to: 'tree', program: { fromIndex: 2, argv: ['/bin/sh'] } }] });
  assert.equal((await host.event('spawned')).id, 1);
  assert.equal(await host.output.next(() => true), 'own command line');
});
