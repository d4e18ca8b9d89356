/** memcached: USR1 leaves behind what a restart with the same memory file needs, TERM does not. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { waitFor } from '../helpers/wait.ts';
import { endOf, outputOf, skipOf } from './graceful-stop.ts';
import { PORT, prepareStage, type Stage } from './stage.ts';
import { talkTo } from './talk.ts';

const server = { program: '/usr/bin/memcached', packages: 'memcached', preset: 'memcached', ladder: 'USR1' };
const skip = skipOf(server);

test('memcached serves in the drain by --stop auto, and leaves its memory for a restart', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(t, stage, ['--stop', 'auto', '--drain', '10m']);
  const client = talkTo(t, stage);
  client.say('set half 0 0 10\r\n12345');
  await container.signal('SIGTERM');
  await waitFor('it drains', () => container.stderr().includes('draining'));
  client.say('67890\r\nget half\r\n');
  await client.hear(/STORED\r\nVALUE half 0 10\r\n1234567890\r\nEND\r\n/);
  await container.signal('SIGINT');
  assert.match(await endOf(container, server), /all background threads stopped/);
  assert.ok(existsSync(stage.scratch.path('memory.meta')));
});

test('memcached leaves nothing for a restart when it gets TERM (the control)', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(t, stage, ['--stop', 'TERM']);
  await container.signal('SIGTERM');
  assert.equal((await container.exit()).status, 0);
  assert.ok(!existsSync(stage.scratch.path('memory.meta')));
});

async function serve(t: TestContext, stage: Stage, flags: readonly string[]): Promise<Container> {
  const user = process.getuid?.() === 0 ? ['-u', 'root'] : [];
  const where = ['-l', stage.host, '-p', String(PORT), '-m', '64', '-e', stage.scratch.path('memory'), '-vv', ...user];
  const container = startContainer(stage.scratch, { name: 'memcached', flags, command: [server.program, ...where] });
  await waitFor('memcached listens', () => outputOf(container).includes('server listening'));
  const first = talkTo(t, stage);
  first.say('version\r\n');
  await first.hear(/VERSION/);
  return container;
}
