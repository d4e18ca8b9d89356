/**
 * One connection: a request, an answer, the end. It is never kept alive, so nobody holds a place for long, and a client that sends slowly,
 * sends too much or does not read costs a bounded time and a bounded number of bytes.
 */
import type { Socket } from 'node:net';
import type { Answer } from './answers.ts';
import { MOST_HEAD_BYTES, readRequest } from './request.ts';

/** For the request, and again for the client to take the answer. */
const MOST_MS = 5_000;
/** What a client sends behind its request is read and dropped: a close with bytes unread makes a reset, which may overtake the answer. */
const MOST_LEFT_BYTES = 65_536;

export function beginExchange(socket: Socket, answer: (path: string) => Answer): void {
  let text = '';
  let isAnswered = false;
  let leftBytes = 0;
  const finish = (content: string): void => {
    isAnswered = true;
    text = '';
    socket.end(content, 'latin1');
    timer.refresh();
  };
  const timer = setTimeout(() => {
    if (isAnswered || text === '') return void socket.destroy();
    finish(refusal(408, 'the request took too long'));
  }, MOST_MS).unref();
  socket.on('data', (chunk: Buffer) => {
    if (isAnswered) {
      leftBytes += chunk.length;
      if (leftBytes > MOST_LEFT_BYTES) socket.destroy();
      return;
    }
    text += chunk.toString('latin1', 0, MOST_HEAD_BYTES + 1);
    const reading = readRequest(text);
    if (reading.kind === 'incomplete') return;
    if (reading.kind === 'malformed') return finish(refusal(400, 'not a request of HTTP/1'));
    if (reading.kind === 'too long') return finish(refusal(431, 'the head of the request is too long'));
    finish(reply(reading.method, reading.path, answer));
  });
  // The client has said all: the answer is on its way, or there was no request.
  socket.on('end', () => isAnswered || socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(timer));
}

function reply(method: string, path: string, answer: (path: string) => Answer): string {
  if (method !== 'GET' && method !== 'HEAD') return refusal(405, 'only GET and HEAD', ['Allow: GET, HEAD']);
  const { status, type, body } = answer(path);
  return message(status, type, body, method === 'HEAD');
}

function refusal(status: keyof typeof REASONS, text: string, headers: readonly string[] = []): string {
  return message(status, 'text/plain; charset=utf-8', `${text}\n`, false, headers);
}

const REASONS = {
  200: 'OK',
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
} as const;

/** As latin1, so that a character is a byte. */
function message(
  status: keyof typeof REASONS,
  type: string,
  body: string,
  isHead: boolean,
  headers: readonly string[] = [],
): string {
  const bytes = Buffer.from(body);
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${type}`,
    `Content-Length: ${bytes.length}`,
    'Cache-Control: no-store',
    ...headers,
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${isHead ? '' : bytes.toString('latin1')}`;
}
