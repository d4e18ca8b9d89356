/** mosquitto: TERM saves the messages that it has acknowledged and not yet delivered. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Container, startContainer } from '../helpers/container.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { endOf, outputOf, skipOf } from './graceful-stop.ts';
import { PORT, prepareStage, type Stage } from './stage.ts';

const server = {
  program: '/usr/sbin/mosquitto',
  packages: 'mosquitto mosquitto-clients',
  preset: 'mosquitto',
  ladder: 'TERM',
};
const skip = skipOf(server) || skipOf({ ...server, program: '/usr/bin/mosquitto_pub' });
const promise = promisify(execFile);

test('mosquitto serves in the drain by --stop auto, and keeps what it has acknowledged', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'auto', '--drain', '10m']);
  subscribeAndLeave(stage);
  publish(stage, 'one');
  await container.signal('SIGTERM');
  await waitFor('it drains', () => container.stderr().includes('draining'));
  publish(stage, 'two');
  await container.signal('SIGINT');
  assert.match(await endOf(container, server), /mosquitto version .* terminating[\s\S]*Saving in-memory database/);
  const again = await serve(stage, []);
  const { stdout } = await within('both messages come', promise('mosquitto_sub', [...subscriber(stage), '-C', '2']));
  assert.equal(stdout, 'one\ntwo\n');
  await again.kill();
});

test('mosquitto loses what it has acknowledged when it gets KILL (the control)', { skip }, async (t) => {
  const stage = await prepareStage(t);
  const container = await serve(stage, ['--stop', 'KILL']);
  subscribeAndLeave(stage);
  publish(stage, 'one');
  await container.signal('SIGTERM');
  assert.equal((await container.exit()).status, 137);
  assert.ok(!existsSync(stage.scratch.path('mosquitto.db')));
});

async function serve(stage: Stage, flags: readonly string[]): Promise<Container> {
  const user = process.getuid?.() === 0 ? 'user root\n' : '';
  const conf = stage.write(
    'mosquitto.conf',
    `${user}listener ${PORT} ${stage.host}\nallow_anonymous true\npersistence true\npersistence_location ${stage.dir}/\nautosave_interval 0\nlog_dest stderr\n`,
  );
  const container = startContainer(stage.scratch, { name: 'mosquitto', flags, command: [server.program, '-c', conf] });
  await waitFor('mosquitto is ready', () => /mosquitto version .* running/.test(outputOf(container)));
  return container;
}

/** Returns when it is acknowledged. */
function publish(stage: Stage, text: string): void {
  execFileSync('mosquitto_pub', ['-h', stage.host, '-p', String(PORT), '-q', '1', '-t', 'work', '-m', text]);
}

/** Its session stays: what is published from now on waits for it. */
function subscribeAndLeave(stage: Stage): void {
  execFileSync('mosquitto_sub', [...subscriber(stage), '-E']);
}

function subscriber({ host }: Stage): readonly string[] {
  return ['-h', host, '-p', String(PORT), '-i', 'reader', '-c', '-q', '1', '-t', 'work'];
}
