/**
 * The HTTP probe: success is a status from 200 to 399. Redirects are followed as long as they stay on the same host,
 * and the tenth in a row is a failure. As for the kubelet (pkg/probe/http), one that leads elsewhere is a success, and
 * so is one without a location.
 *
 * The exchange is written by hand over node:net and node:tls, as only the head of the answer matters. It takes two
 * thirds of the CPU time of node:http and half of its memory (node:http keeps 1.3 MiB more after 20 probes). A short
 * body is still read to its end, because a server whose answer is cut off logs an error.
 */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { HttpAction } from '../../core/config.ts';
import { detailOf } from './detail.ts';
import { type BodyEnd, type Head, readHead } from './head.ts';
import { redirectOf, requestText, type Target, targetOf } from './request.ts';
import { type Attempt, bareHost, connectTcp, NO_ANSWER, noteOwn, type Tell, type Verdict } from './tcp.ts';

export function attemptHttp(action: HttpAction, tell: Tell): Attempt {
  return new HttpAttempt(targetOf(action), tell);
}

const MAX_REDIRECTS = 10;
const MAX_HEAD_BYTES = 65_536;
/** The kubelet reads as much. */
const MAX_BODY_BYTES = 10_240;
/** A body that does not end is not waited for. */
const MAX_BODY_MS = 1_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

class HttpAttempt implements Attempt {
  readonly #tell: Tell;
  #target: Target;
  #redirects = 0;
  #socket: Socket | undefined;
  #text = '';
  #verdict: Verdict | undefined;
  #bodyEnd: BodyEnd = { kind: 'close' };
  #bodyBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(target: Target, tell: Tell) {
    this.#target = target;
    this.#tell = tell;
    this.#ask();
  }

  get sofar(): Verdict | undefined {
    return this.#verdict;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#socket?.destroy();
    // Its own `close` comes later, and is no news any more.
    this.#socket = undefined;
  }

  #ask(): void {
    const socket = connect(this.#target);
    this.#socket = socket;
    this.#text = '';
    const isCurrent = (): boolean => this.#socket === socket;
    socket.write(requestText(this.#target));
    socket.on('data', (chunk) => isCurrent() && this.#take(chunk));
    socket.on('error', (error) => isCurrent() && this.#finish(detailOf(error)));
    socket.on('close', () => isCurrent() && this.#finish(NO_ANSWER));
  }

  /** Once the status is known it is what counts, however the connection ends. */
  #finish(trouble: string): void {
    const { ok, detail } = this.#verdict ?? { ok: false, detail: trouble };
    this.#tell(ok, detail);
  }

  #take(chunk: Buffer): void {
    if (this.#verdict !== undefined) return this.#skipBody(chunk);
    this.#text += chunk.toString('latin1');
    // Interim answers come before the one that counts; 101 is none of them.
    for (;;) {
      const head = readHead(this.#text);
      if (head === 'malformed') return this.#finish('malformed answer: not HTTP/1');
      const isTooLong = head === 'incomplete' && this.#text.length > MAX_HEAD_BYTES;
      if (isTooLong) return this.#finish('malformed answer: its head is too long');
      if (head === 'incomplete') return;
      const rest = this.#text.slice(head.headBytes);
      if (head.status >= 200 || head.status === 101) return this.#takeHead(head, rest);
      this.#text = rest;
      if (rest === '') return;
    }
  }

  #takeHead({ status, location, body }: Head, rest: string): void {
    if (REDIRECTS.has(status) && location !== undefined && location !== '') return this.#follow(status, location);
    this.#verdict = { ok: status >= 200 && status < 400, detail: `status ${status}` };
    this.#bodyEnd = body;
    this.#text = '';
    this.#timer = setTimeout(() => this.#finish(''), MAX_BODY_MS);
    this.#skipBody(Buffer.from(rest, 'latin1'));
  }

  #skipBody(chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    const end = this.#bodyEnd;
    const isAtEnd =
      (end.kind === 'after' && this.#bodyBytes >= end.bytes) ||
      // The last chunk mostly comes whole; if not, the server closes.
      (end.kind === 'chunked' && chunk.subarray(-5).toString('latin1') === '0\r\n\r\n');
    if (isAtEnd || this.#bodyBytes >= MAX_BODY_BYTES) this.#finish('');
  }

  #follow(status: number, location: string): void {
    const redirect = redirectOf(this.#target, status, location);
    if (redirect === 'elsewhere') return this.#tell(true, `status ${status}, redirects to another host`);
    if (redirect === 'unusable') return this.#tell(false, `status ${status} with an unusable location`);
    this.#redirects += 1;
    if (this.#redirects >= MAX_REDIRECTS) return this.#tell(false, `stopped after ${MAX_REDIRECTS} redirects`);
    this.#socket?.destroy();
    this.#target = redirect;
    this.#ask();
  }
}

export function connect({ scheme, host, port }: Target): Socket {
  if (scheme === 'http') return connectTcp(host, port);
  const tls = process.getBuiltinModule('node:tls');
  const { isIP } = process.getBuiltinModule('node:net');
  // No root certificates: nothing is checked against them, and reading them takes longer than all else.
  context ??= tls.createSecureContext({ ca: [] });
  const bare = bareHost(host);
  return noteOwn(
    tls.connect({
      host: bare,
      port,
      secureContext: context,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(bare) === 0 && { servername: bare }),
    }),
  );
}

let context: SecureContext | undefined;
