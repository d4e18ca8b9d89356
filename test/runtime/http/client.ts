import { connect, type Socket } from 'node:net';
import type { HttpAddress } from '../../../src/config/notation/address.ts';
import { waitFor, within } from '../../helpers/wait.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function dial(address: HttpAddress): Socket {
  const socket =
    address.kind === 'unix'
      ? connect({ path: address.path })
      : connect({ port: address.port, host: address.host ?? '127.0.0.1' });
  // How it ends is asked for where it matters.
  socket.on('error', () => {});
  return socket;
}

/** All that comes until the other side closes. */
export function exchange(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()));
  });
  return within('the connection is closed', closed);
}

/** undefined: there is no answer, or only a part of one. */
export async function ask(address: HttpAddress, path: string, method = 'GET'): Promise<Reply | undefined> {
  const socket = dial(address);
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return replyOf(await exchange(socket));
}

export function waitForReply(
  address: HttpAddress,
  path: string,
  what: string,
  holds: (reply: Reply) => boolean,
): Promise<Reply> {
  return waitFor(`${path}: ${what}`, async () => {
    const reply = await ask(address, path);
    return reply !== undefined && holds(reply) ? reply : undefined;
  });
}

/** Strict: a status line, headers, and a body of just the length that was promised. */
export function replyOf(text: string): Reply | undefined {
  const match = /^HTTP\/1\.1 ([1-5][0-9]{2}) [A-Za-z ]+\r\n((?:[-A-Za-z]+: [^\r\n]+\r\n)+)\r\n/.exec(text);
  if (match === null) return undefined;
  const [head, status = '', lines = ''] = match;
  const pairs = lines
    .trimEnd()
    .split('\r\n')
    .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]);
  return { status: Number(status), headers: Object.fromEntries(pairs), body: text.slice(head.length) };
}
