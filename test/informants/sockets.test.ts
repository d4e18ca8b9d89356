/** The program `sexton-sockets`, asked by the supervisor's own class about real connections. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Connection, EVER, Informant } from '../../src/runtime/traffic/informant.ts';
import { NODE } from '../helpers/paths.ts';
import { build, buildRefuse } from '../helpers/program.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { BUILDS, STATIC } from '../init/builds.ts';

for (const { name, path } of BUILDS) {
  test(`the program lists open connections of IPv4 and IPv6, then closed ones (${name})`, async (t) => {
    const { connect, ask } = await listen(t, path);
    await ask(0);
    const sockets = [await connect('127.0.0.1'), await connect('::1')];
    const both = [`127.0.0.1 ${sockets[0]?.localPort}`, `0:0:0:0:0:0:0:1 ${sockets[1]?.localPort}`].sort();
    const open = await ask(EVER);
    assert.deepEqual(open.map(textOf).sort(), both);
    assert.deepEqual(
      open.map(({ state }) => state),
      [1, 1],
    );
    for (const socket of sockets) socket.destroy();
    const closed: Connection[] = [];
    await waitFor('both have closed', async () => closed.push(...(await ask(0))) === 2);
    assert.deepEqual(closed.map(textOf).sort(), both);
    assert.deepEqual(closed.map(({ cookie }) => cookie).sort(), open.map(({ cookie }) => cookie).sort());
    assert.ok(closed.every(({ state }) => state === 0));
    assert.deepEqual(await ask(EVER), []);
  });

  test(`the program lists no idle connection, and lists it again once data has come (${name})`, async (t) => {
    const { connect, ask } = await listen(t, path);
    const socket = await connect('127.0.0.1');
    await waitFor('it is idle for 50 ms', async () => (await ask(50)).length === 0);
    const before = (await ask(EVER))[0]?.ageMs ?? 0;
    assert.ok(before > 50);
    socket.write('x');
    await waitFor('its age starts over', async () => Number((await ask(EVER))[0]?.ageMs) < before);
  });

  test(`the program ends with its input, and no input makes it crash (${name})`, async (t) => {
    const program = spawn(path, [], { argv0: 'sexton-sockets', stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => program.kill('SIGKILL'));
    program.stdin.end(`0\n-\n99999999999999999999 nonsense \0\n${'9'.repeat(100_000)}\n\0\n7`);
    program.stdout.resume();
    assert.deepEqual(await within('it ends', once(program, 'exit')), [0, null]);
  });
}

test('a question that the kernel refuses is answered at once, with the reason', async (t) => {
  const path = join(temporaryDirectory(), 'filtered');
  const program = `exec -a sexton-sockets ${STATIC.path}`;
  writeFileSync(path, `#!/bin/bash\nexec ${buildRefuse()} sendto EPERM /bin/bash -c '${program}'\n`, { mode: 0o755 });
  const filtered = spawn(path, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => filtered.kill('SIGKILL'));
  filtered.stdin.write('1000\n');
  const [answer] = await within('an answer', once(filtered.stdout, 'data'));
  assert.equal(String(answer), '! 1\n');
  const informant = begin(t, path);
  assert.deepEqual([await informant.ask(EVER), informant.refusal], [undefined, 'sock_diag fails with EPERM']);
});

test('a list that the kernel ends with an error is no empty list', async (t) => {
  const informant = begin(t, build('informants/failing-dump.c', 'src/informants/sockets.c'));
  assert.deepEqual([await informant.ask(EVER), informant.refusal], [undefined, 'sock_diag fails with ENOENT']);
});

test('an answer whose last line comes in two pieces is read whole', async (t) => {
  const path = join(temporaryDirectory(), 'slow');
  writeFileSync(path, '#!/bin/sh\nread question\nprintf .\nsleep 0.2\necho\nread question\n', { mode: 0o755 });
  assert.deepEqual(await begin(t, path).ask(0), { connections: [], isWhole: true });
});

test('a refusal of the kernel ends the informant', async (t) => {
  const path = join(temporaryDirectory(), 'refused');
  writeFileSync(path, '#!/bin/sh\nread question\necho "! 93"\nread question\n', { mode: 0o755 });
  const informant = begin(t, path);
  assert.deepEqual([await informant.ask(0), await informant.ask(0)], [undefined, undefined]);
});

test('an informant that cannot run or is closed gives no answer, at once', async (t) => {
  for (const init of [undefined, '/nonexistent', '/bin/false']) {
    const informant = begin(t, init);
    assert.equal(await within('an answer', informant.ask(0)), undefined);
    assert.equal(await informant.ask(EVER), undefined);
  }
  const informant = begin(t, STATIC.path);
  const answer = informant.ask(EVER);
  informant.close();
  assert.equal(await within('an answer', answer), undefined);
});

test('an informant that finds no free descriptor says so, and gives no answer', () => {
  const path = join(import.meta.dirname, '../../src/runtime/traffic/informant.ts');
  const script = `
    import { openSync } from 'node:fs';
    import { Informant } from ${JSON.stringify(path)};
    try { for (;;) openSync('/dev/null'); } catch {}
    const informant = new Informant('/bin/cat');
    console.log(await informant.ask(0), informant.refusal);
  `;
  const limited = ['-c', 'ulimit -n 64; exec "$@"', 'sh', NODE, '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  assert.equal(stdout, 'undefined sexton-sockets finds no free descriptor\n', stderr);
});

function begin(t: TestContext, init: string | undefined): Informant {
  const informant = new Informant(init);
  t.after(() => informant.close());
  return informant;
}

function textOf({ address, remotePort }: Connection): string {
  return `${address} ${remotePort}`;
}

/** A listener, and an informant whose answers are about this listener only. */
async function listen(t: TestContext, init: string) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.resume().on('error', () => {})));
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
  const informant = begin(t, init);
  const ask = async (windowMs: number): Promise<readonly Connection[]> => {
    const { connections, isWhole } = (await informant.ask(windowMs)) ?? assert.fail('no answer');
    assert.ok(isWhole);
    return connections.filter(({ localPort }) => localPort === port);
  };
  // Only a listed listener tells accepted connections from others.
  await ask(EVER);
  return { connect, ask };
}
