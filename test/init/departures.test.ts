/** Another program in init's file: it reports closed connections. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Departures } from '../../src/runtime/traffic/departures.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { BUILDS } from './builds.ts';

for (const { name, path } of BUILDS) {
  test(`closed connections of IPv4 and IPv6 are reported, however short they were (${name})`, async (t) => {
    const { port, visit } = await listen(t);
    const departures = begin(t, path);
    await departures.ask(() => {});
    const clients = [await visit('127.0.0.1'), await visit('::1')];
    const gone: string[] = [];
    await waitFor('both are told', async () => {
      const isWhole = await departures.ask(({ isV4, localPort, remotePort, state }) => {
        if (localPort === port) gone.push(`${isV4 ? 4 : 6} ${remotePort} ${state}`);
      });
      assert.ok(isWhole);
      return gone.length >= 2;
    });
    assert.deepEqual(gone.sort(), [`4 ${clients[0]} 7`, `6 ${clients[1]} 7`]);
  });

  test(`while it does not listen nothing is reported, and the next answer says so (${name})`, async (t) => {
    const { port, visit } = await listen(t);
    const departures = begin(t, path);
    const count = async (): Promise<readonly [boolean, number]> => {
      let told = 0;
      const isWhole = await departures.ask(({ localPort }) => {
        if (localPort === port) told += 1;
      });
      return [isWhole, told];
    };
    assert.deepEqual(await count(), [false, 0]);
    departures.pause();
    await visit('127.0.0.1');
    assert.deepEqual(await count(), [false, 0]);
    await visit('127.0.0.1');
    await waitFor('it is told', async () => (await count())[1] >= 1);
  });

  test(`it ends with its input, and no input makes it crash (${name})`, async (t) => {
    const teller = spawn(path, [], { argv0: 'sexton-departures', stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => teller.kill('SIGKILL'));
    teller.stdin.end(`?\n-\n-\n\n${'x'.repeat(100_000)}\n\0\n?`);
    teller.stdout.resume();
    assert.deepEqual(await within('it ends', once(teller, 'exit')), [0, null]);
  });
}

test('an answer whose last line comes in two pieces is read whole', async (t) => {
  const path = join(temporaryDirectory(), 'slow');
  writeFileSync(path, '#!/bin/sh\nread question\nprintf .\nsleep 0.2\necho\nread question\n', { mode: 0o755 });
  assert.equal(await begin(t, path).ask(() => assert.fail('nothing has gone')), true);
});

test('without the program nothing is known, and no answer is waited for', async (t) => {
  for (const init of [undefined, '/nonexistent', '/bin/false']) {
    const departures = begin(t, init);
    assert.equal(await departures.ask(() => assert.fail('there is nothing to report')), false);
    await waitFor('it is over', () => !departures.works);
    assert.equal(await departures.ask(() => assert.fail('there is nothing to report')), false);
  }
});

function begin(t: TestContext, init: string | undefined): Departures {
  const departures = new Departures(init);
  t.after(() => departures.close());
  return departures;
}

async function listen(t: TestContext): Promise<{ port: number; visit: (host: string) => Promise<number> }> {
  const server = createServer((socket) => socket.resume().on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  /** The client's port. */
  const visit = async (host: string): Promise<number> => {
    const socket = createConnection(port, host);
    await within('it is connected', once(socket, 'connect'));
    const { localPort = 0 } = socket;
    socket.destroy();
    await within('it is closed', once(socket, 'close'));
    return localPort;
  };
  return { port, visit };
}
