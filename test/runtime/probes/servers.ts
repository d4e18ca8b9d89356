/** Servers for the tests of probes, and a probe that is awaited. All of them end with the test. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import type { TestContext } from 'node:test';
import type { HttpAction } from '../../../src/core/config.ts';
import { type ActionEnd, type NetworkAction, startAction } from '../../../src/runtime/probes/probe.ts';
import { within } from '../../helpers/wait.ts';

/** Far beyond what any of them takes: only what is to time out has a time of its own. */
const FAR_MS = 40_000;

export const ok = (detail: string): ActionEnd => ({ ok: true, detail, output: '' });
export const failed = (detail: string): ActionEnd => ({ ok: false, detail, output: '' });

export function run(action: NetworkAction, timeoutMs: number | undefined = FAR_MS): Promise<ActionEnd> {
  return within(
    `the end of a ${action.kind} probe`,
    new Promise((onEnd) => {
      startAction(action, { timeoutMs, onEnd });
    }),
  );
}

export function httpAction(port: number, more: Partial<HttpAction> = {}): HttpAction {
  return { kind: 'http', method: 'GET', scheme: 'http', host: '127.0.0.1', port, path: '/', headers: [], ...more };
}

export async function httpServer(t: TestContext, listener: RequestListener, host = '127.0.0.1'): Promise<number> {
  return listen(t, createServer(listener), host);
}

/** Sends `bytes` to whoever connects, once the request is there, and then does nothing unless told to close. */
export async function rawServer(
  t: TestContext,
  bytes: string | Buffer,
  { closes = false, onSocket }: { closes?: boolean; onSocket?: (socket: Socket) => void } = {},
): Promise<number> {
  return listen(
    t,
    createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        if (bytes.length > 0) socket.write(bytes);
        if (closes) socket.end();
      });
      onSocket?.(socket);
    }),
  );
}

export async function listen(t: TestContext, server: Server | TcpServer, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export async function closedPort(t: TestContext): Promise<number> {
  const server = createTcpServer();
  const port = await listen(t, server);
  server.close();
  await once(server, 'close');
  return port;
}
