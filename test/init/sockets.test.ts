/** Another program in init's file: it reports which connections are in use. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { waitFor, within } from '../helpers/wait.ts';
import { BUILDS, type Build } from './builds.ts';

const EVER_MS = 4_000_000_000;

for (const build of BUILDS) {
  test(`connections of IPv4 and IPv6 that were used lately are reported, with remote address and port (${build.name})`, async (t) => {
    const { port, connect } = await listen(t);
    const teller = startTeller(t, build, [port]);
    const [four, six] = [await connect('127.0.0.1'), await connect('::1')];
    const lines = await teller.ask(EVER_MS);
    const told = lines.slice(0, -1).map((line) => line.split(' ').slice(0, 3).join(' '));
    assert.deepEqual(told.sort(), [
      `00000000000000000000000000000001 ${six.localPort} ${port}`,
      `00000000000000000000ffff7f000001 ${four.localPort} ${port}`,
    ]);
    assert.equal(lines.at(-1), '. 2');
  });

  test(`an idle connection is not reported, and is again when bytes have come (${build.name})`, async (t) => {
    const { port, connect } = await listen(t);
    const teller = startTeller(t, build, [port]);
    const socket = await connect('127.0.0.1');
    await waitFor('it is idle for 50 ms', async () => (await teller.ask(50)).length === 1);
    const ageOf = async () => Number((await teller.ask(EVER_MS))[0]?.split(' ')[3]);
    const before = await ageOf();
    assert.ok(before > 50);
    socket.write('x');
    await waitFor('its age has begun anew', async () => (await ageOf()) < before);
  });

  test(`only the ports that were named count, and no input makes it crash (${build.name})`, async (t) => {
    const { port, connect } = await listen(t);
    await connect('127.0.0.1');
    const teller = startTeller(t, build, [1, 99_999_999, port === 2 ? 3 : 2]);
    assert.deepEqual(await teller.ask(EVER_MS), ['. 0']);
    assert.deepEqual(await teller.ask('99999999999999999999 nonsense \0'), ['. 0']);
    teller.process.stdin?.end();
    assert.deepEqual(await within('it ends with its input', once(teller.process, 'exit')), [0, null]);
  });
}

async function listen(t: TestContext): Promise<{ port: number; connect: (host: string) => Promise<Socket> }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const connect = async (host: string): Promise<Socket> => {
    const socket = createConnection(port, host);
    sockets.push(socket);
    await within('it is connected', once(socket, 'connect'));
    return socket;
  };
  return { port, connect };
}

function startTeller(t: TestContext, { path }: Build, ports: readonly number[]) {
  const teller: ChildProcess = spawn(path, ports.map(String), { argv0: 'sexton-sockets', stdio: 'pipe' });
  t.after(() => teller.kill('SIGKILL'));
  const errors: string[] = [];
  teller.stderr?.on('data', (chunk) => errors.push(String(chunk)));
  const lines: string[] = [];
  const { stdout } = teller;
  assert.ok(stdout !== null);
  createInterface(stdout).on('line', (line) => lines.push(line));
  const ask = async (window: number | string): Promise<string[]> => {
    teller.stdin?.write(`${window}\n`);
    await waitFor(`an answer; ${errors.join('')}`, () => /^[.!]/.test(lines.at(-1) ?? ''));
    return lines.splice(0);
  };
  return { process: teller, ask };
}
