/** redis: TERM saves all writes that it has acknowledged up to its end. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { waitFor } from '../helpers/wait.ts';
import { endOf, outputOf, skipOf } from './graceful-stop.ts';
import { PORT, prepareStage, type Stage } from './stage.ts';
import { type Talk, talkTo } from './talk.ts';

const server = { program: '/usr/bin/redis-server', packages: 'redis-server', preset: 'redis-server', ladder: 'TERM' };
const skip = skipOf(server);

test('redis serves in the drain by --stop auto, and keeps every write that it has acknowledged', {
  skip,
}, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(t, stage, ['--stop', 'auto', '--drain', '10m']);
  const [blocked, writer] = [talkTo(t, stage), talkTo(t, stage)];
  blocked.say('BLPOP queue 0\r\n');
  await write(writer, 1, 100);
  await container.signal('SIGTERM');
  await waitFor('it drains', () => container.stderr().includes('draining'));
  await write(writer, 101, 200);
  writer.say('RPUSH queue job\r\n');
  await blocked.hear(/job\r\n/);
  await container.signal('SIGINT');
  const output = await endOf(container, server);
  assert.match(output, /Received SIGTERM scheduling shutdown[\s\S]*DB saved on disk[\s\S]*ready to exit, bye bye/);
  assert.match(
    execFileSync('redis-check-rdb', [stage.scratch.path('dump.rdb')], { encoding: 'utf8' }),
    /200 keys read/,
  );
});

test('redis loses what it has acknowledged when it gets KILL (the control)', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(t, stage, ['--stop', 'KILL']);
  await write(talkTo(t, stage), 1, 100);
  await container.signal('SIGTERM');
  assert.equal((await container.exit()).status, 137);
  assert.ok(!existsSync(stage.scratch.path('dump.rdb')));
});

async function serve(t: TestContext, stage: Stage, flags: readonly string[]): Promise<Container> {
  const where = ['--bind', stage.host, '--port', String(PORT), '--dir', stage.dir, '--save', '3600 1'];
  const container = startContainer(stage.scratch, { name: 'redis', flags, command: [server.program, ...where] });
  await waitFor('redis is ready', () => outputOf(container).includes('Ready to accept connections'));
  const first = talkTo(t, stage);
  first.say('PING\r\n');
  await first.hear(/PONG/);
  return container;
}

async function write(writer: Talk, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) {
    writer.say(`SET key:${number} ${number}\r\n`);
    await writer.hear(/\+OK\r\n/);
  }
}
