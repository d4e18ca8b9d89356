import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { HttpAddress } from '../../../src/config/notation/address.ts';
import { answerTo } from '../../../src/runtime/http/answers.ts';
import { Listener } from '../../../src/runtime/http/listener.ts';
import { Log } from '../../../src/runtime/log/log.ts';
import { mainConfig } from '../../core/helpers.ts';
import { Life } from '../../core/life.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { closedPort, listen } from '../probes/servers.ts';
import { ask, dial, exchange, replyOf, waitForReply } from './client.ts';

class Heard extends Log {
  readonly lines: string[] = [];
  override say(level: string, message: string): void {
    this.lines.push(`${level} ${message}`);
  }
}

interface Open {
  readonly address: HttpAddress;
  readonly listener: Listener;
  readonly lines: readonly string[];
}

function open(t: TestContext, address: HttpAddress): Open {
  const log = new Heard({ level: 'info', format: 'json', member: 'web' });
  const { config: member, state } = new Life({ config: mainConfig(), peers: [] });
  const answer = (path: string) => answerTo(path, { member, onDrain: 'keep', state });
  const listener = new Listener({ address, log, answer });
  t.after(() => listener.close());
  return { address, listener, lines: log.lines };
}

async function opened(t: TestContext, address?: HttpAddress): Promise<Open> {
  const it = open(t, address ?? { kind: 'unix', path: join(temporaryDirectory(), 'http.sock') });
  await waitForReply(it.address, '/livez', 'is answered', ({ status }) => status === 200);
  return it;
}

/** The reply to these bytes, up to the end of the connection. */
async function replyTo(address: HttpAddress, bytes: string): ReturnType<typeof ask> {
  const socket = dial(address);
  socket.write(bytes, 'latin1');
  return replyOf(await exchange(socket));
}

describe('the listener', { concurrency: 4 }, () => {
  it('the listener answers GET, sends only the head for HEAD, and refuses other methods', async (t) => {
    const { address } = await opened(t);
    const get = await ask(address, '/readyz?verbose');
    assert.deepEqual([get?.status, get?.body, get?.headers['content-length']], [200, 'ok\n', '3']);
    assert.deepEqual([get?.headers.connection, get?.headers['cache-control']], ['close', 'no-store']);
    const head = await ask(address, '/readyz', 'HEAD');
    assert.deepEqual([head?.status, head?.body, head?.headers['content-length']], [200, '', '3']);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']) {
      const reply = await ask(address, '/readyz', method);
      assert.deepEqual([reply?.status, reply?.headers.allow], [405, 'GET, HEAD'], method);
    }
    assert.equal((await ask(address, '/healthz'))?.status, 404);
    assert.equal((await ask(address, '/'))?.status, 404);
    assert.equal((await ask(address, '/__proto__'))?.status, 404);
  });

  it('the listener refuses what is not HTTP/1, and a head that is too long', async (t) => {
    const { address } = await opened(t);
    assert.equal((await replyTo(address, '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'))?.status, 400);
    for (const text of [
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'SSH-2.0-OpenSSH_9.2\r\n',
      'get /livez HTTP/1.1\r\n\r\n',
      'GET /a b HTTP/1.1\r\n\r\n',
      'GET /livez HTTP/1.1 \r\n\r\n',
      '\0\0\0\0',
    ])
      assert.equal((await replyTo(address, text))?.status, 400, JSON.stringify(text));
    assert.equal((await replyTo(address, `GET /livez HTTP/1.1\r\nCookie: ${'x'.repeat(20_000)}`))?.status, 431);
    assert.equal((await replyTo(address, `GET /${'x'.repeat(20_000)}`))?.status, 431);
  });

  it('the listener survives a client that asks for a tunnel and resets the connection', async (t) => {
    const { address } = await opened(t, { kind: 'tcp', host: '127.0.0.1', port: await closedPort(t) });
    for (let at = 0; at < 20; at++) {
      const socket = dial(address);
      await once(socket, 'connect');
      await new Promise((resolve) => socket.write('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', resolve));
      socket.resetAndDestroy();
    }
    assert.equal((await ask(address, '/livez'))?.status, 200);
  });

  it('the listener answers any HTTP/1 version, whole addresses and requests after an empty line', async (t) => {
    const { address } = await opened(t);
    for (const text of [
      'GET /livez HTTP/1.0\r\n\r\n',
      'GET http://10.0.0.1:8081/livez?verbose=1 HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n',
      '\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n',
    ])
      assert.equal((await replyTo(address, text))?.body, 'ok\n', JSON.stringify(text));
  });

  it('the listener answers once when a client sends a body, sends two requests or half-closes', async (t) => {
    const { address } = await opened(t);
    const body = 'x'.repeat(30_000);
    const request = 'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n';
    assert.equal((await replyTo(address, `${request}${body}`))?.body, 'ok\n');
    assert.equal((await replyTo(address, 'GET /livez HTTP/1.1\r\n\r\nGET /livez HTTP/1.1\r\n\r\n'))?.body, 'ok\n');
    const socket = dial(address);
    socket.end('GET /livez HTTP/1.1\r\n\r\n');
    assert.equal(replyOf(await exchange(socket))?.body, 'ok\n');
  });

  it('the listener ends a request that comes byte by byte and never whole', async (t) => {
    const { address } = await opened(t);
    const socket = dial(address);
    socket.write('GET /livez HTTP/1.1\r\nX-Slow: ');
    const drip = setInterval(() => socket.write('x'), 100);
    t.after(() => clearInterval(drip));
    assert.equal(replyOf(await exchange(socket))?.status, 408);
  });

  it('the listener closes a connection without a request', async (t) => {
    const { address } = await opened(t);
    assert.equal(await exchange(dial(address)), '');
  });

  it('the listener answers while a thousand silent clients have connected', async (t) => {
    const { address } = await opened(t, { kind: 'tcp', host: '127.0.0.1', port: await closedPort(t) });
    const all: Socket[] = [];
    t.after(() => all.map((socket) => socket.destroy()));
    for (let round = 0; round < 20; round += 1) {
      const sockets = Array.from({ length: 50 }, () => dial(address).resume());
      all.push(...sockets);
      await within('all are connected', Promise.all(sockets.map((socket) => once(socket, 'connect'))));
      assert.equal((await ask(address, '/livez'))?.status, 200);
    }
    await waitFor('all but a few are closed', () => all.filter(({ closed }) => !closed).length <= 64);
  });
});

describe('the address of a listener', { concurrency: 4 }, () => {
  it('the address is reported once when taken, and answers as soon as it is free', async (t) => {
    const other = createServer();
    const port = await listen(t, other);
    const { address, lines } = open(t, { kind: 'tcp', host: '127.0.0.1', port });
    await waitFor('it is reported', () => lines.length > 0);
    await new Promise((resolve) => other.close(resolve));
    await waitForReply(address, '/livez', 'is answered', ({ status }) => status === 200);
    assert.deepEqual(lines, [`error cannot answer HTTP at 127.0.0.1:${port}: ${TAKEN}`, 'info answering HTTP']);
  });

  it('the listener takes over the socket of a killed process', async (t) => {
    const path = join(temporaryDirectory(), 'http.sock');
    const script = "require('node:net').createServer().listen(process.argv[1], () => console.log('there'))";
    const dying = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(dying.stdout, 'data');
    dying.kill('SIGKILL');
    await once(dying, 'close');
    assert.ok(lstatSync(path).isSocket());
    const { lines, listener } = await opened(t, { kind: 'unix', path });
    assert.deepEqual(lines, ['info answering HTTP']);
    assert.equal(lstatSync(path).mode & 0o777, 0o666);
    listener.close();
    await waitFor('its file is gone', () => !existsSync(path));
  });

  it('the listener leaves the socket of a living process, and a file, as they are', async (t) => {
    const dir = temporaryDirectory();
    const { address } = await opened(t, { kind: 'unix', path: join(dir, 'taken.sock') });
    const second = open(t, address);
    await waitFor('it is reported', () => second.lines.length > 0);
    assert.deepEqual(second.lines, [`error cannot answer HTTP at unix:${join(dir, 'taken.sock')}: ${TAKEN}`]);
    assert.equal((await ask(address, '/livez'))?.status, 200);
    const path = join(dir, 'a file');
    writeFileSync(path, 'precious');
    const third = open(t, { kind: 'unix', path });
    await waitFor('it is reported', () => third.lines.length > 0);
    assert.ok(lstatSync(path).isFile());
  });

  it('the address is reported once when it is a dangling link, and answers when that has gone', async (t) => {
    const path = join(temporaryDirectory(), 'link');
    symlinkSync('nowhere', path);
    const { address, lines } = open(t, { kind: 'unix', path });
    await waitFor('it is reported', () => lines.length > 0);
    unlinkSync(path);
    await waitForReply(address, '/livez', 'is answered', ({ status }) => status === 200);
    assert.deepEqual(lines, [`error cannot answer HTTP at unix:${path}: ${TAKEN}`, 'info answering HTTP']);
  });

  it('the address has no connection any more once the listener is closed', async (t) => {
    const { address, listener } = await opened(t);
    const socket = dial(address);
    await once(socket, 'connect');
    const closed = exchange(socket);
    listener.close();
    assert.equal(await closed, '');
    assert.equal(await ask(address, '/livez'), undefined);
  });
});

const TAKEN = 'address already in use; give another address with --http; it is tried again';
