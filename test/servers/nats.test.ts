/** nats: USR2 is its lame duck mode. It takes no new clients, and those that are there finish what they are at. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { waitFor } from '../helpers/wait.ts';
import { isRefused } from './clients.ts';
import { endOf, outputOf, skipOf } from './graceful-stop.ts';
import { PORT, prepareStage, type Stage } from './stage.ts';
import { type Talk, talkTo } from './talk.ts';

const server = { program: '/usr/sbin/nats-server', packages: 'nats-server', preset: 'nats-server', ladder: 'USR2' };
const skip = skipOf(server);

test('nats takes clients in the drain by --stop auto, and then lets a reply come through', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'auto', '--drain', '10m']);
  const answerer = await join(t, stage);
  answerer.say('SUB work 1\r\n');
  await container.signal('SIGTERM');
  await waitFor('it drains', () => container.stderr().includes('draining'));
  const asker = await join(t, stage);
  asker.say('SUB reply 1\r\nPUB work reply 4\r\njob1\r\n');
  await answerer.hear(/MSG work 1 reply 4\r\njob1\r\n/);
  // The request is under way, its answer is not.
  await container.signal('SIGINT');
  await waitFor('it takes no new clients', () => isRefused(stage));
  answerer.say('PUB reply 4\r\ndone\r\n');
  await asker.hear(/MSG reply 1 4\r\ndone\r\n/);
  const output = await endOf(container, server);
  assert.match(output, /Entering lame duck mode[\s\S]*Closing existing clients[\s\S]*Server Exiting/);
});

test('nats cuts its clients off when it gets TERM, and exits with 1 (the control)', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'TERM']);
  const client = await join(t, stage);
  await container.signal('SIGTERM');
  await waitFor('it is cut off', () => client.isOver());
  assert.equal((await container.exit()).status, 1);
});

async function serve(stage: Stage, flags: readonly string[]): Promise<Container> {
  const conf = stage.write('nats.conf', `listen: "${stage.host}:${PORT}"\nlame_duck_duration: "30s"\n`);
  const container = startContainer(stage.scratch, { name: 'nats', flags, command: [server.program, '-c', conf] });
  await waitFor('nats is ready', () => outputOf(container).includes('Server is ready'));
  return container;
}

async function join(t: TestContext, stage: Stage): Promise<Talk> {
  const talk = talkTo(t, stage);
  talk.say('CONNECT {"verbose":false}\r\nPING\r\n');
  await talk.hear(/PONG\r\n/);
  return talk;
}
