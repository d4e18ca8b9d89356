/**
 * The gRPC probe: grpc.health.v1.Health/Check over HTTP/2 without TLS and with prior knowledge; SERVING is a success.
 * As the kubelet does it (pkg/probe/grpc), which does not speak TLS either.
 */
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import type { GrpcAction } from '../../core/config.ts';
import { detailOf, printable } from './detail.ts';
import { decodeResponse, encodeRequest } from './health.ts';
import { authorityOf, USER_AGENT } from './request.ts';
import { type Attempt, connectTcp, NO_ANSWER, type Tell, type Verdict } from './tcp.ts';

export function attemptGrpc(action: GrpcAction, tell: Tell): Attempt {
  const session = open(action);
  session.on('error', (error) => tell(false, detailOf(error)));
  session.on('close', () => tell(false, NO_ANSWER));
  check(session, action.service, tell);
  return { close: () => session.destroy() };
}

const PATH = '/grpc.health.v1.Health/Check';
const MAX_ANSWER_BYTES = 4_096;

/** Node's own connection: the session writes its preface as soon as it stands. */
function open(action: GrpcAction): ClientHttp2Session {
  const { connect } = process.getBuiltinModule('node:http2');
  return connect(`http://${authorityOf(action)}`, {
    settings: { enablePush: false },
    maxSessionMemory: 1,
    createConnection: () => connectTcp(action.host, action.port),
  });
}

function check(session: ClientHttp2Session, service: string, tell: Tell): void {
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': USER_AGENT,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  // An answer without a message has its status in the headers.
  let last: IncomingHttpHeaders | undefined;
  stream.on('response', (headers) => {
    last = headers;
    const status = headers[':status'];
    if (status !== 200) tell(false, `status ${status}`);
    else if (!headers['content-type']?.startsWith('application/grpc')) tell(false, 'malformed answer: not gRPC');
  });
  stream.on('trailers', (trailers) => {
    last = trailers;
  });
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) tell(false, 'malformed answer: it is too long');
  });
  stream.on('error', (error) => tell(false, detailOf(error)));
  stream.on('end', () => {
    if (last === undefined) return tell(false, NO_ANSWER);
    const { ok, detail } = verdictOf(last, Buffer.concat(chunks));
    tell(ok, detail);
  });
  stream.end(encodeRequest(service));
}

function verdictOf(last: IncomingHttpHeaders, answer: Buffer): Verdict {
  const code = String(last['grpc-status'] ?? '');
  if (!/^[0-9]{1,4}$/.test(code)) return { ok: false, detail: 'malformed answer: no grpc-status' };
  if (code !== '0') return { ok: false, detail: `grpc status ${code} (${CODES[Number(code)] ?? 'not a known one'})` };
  const status = decodeResponse(answer);
  if (status === undefined) return { ok: false, detail: 'malformed answer: not a health check' };
  return { ok: status === 'SERVING', detail: printable(`status ${status}`) };
}

/** https://grpc.io/docs/guides/status-codes */
const CODES: readonly string[] = (
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED ' +
  'RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS ' +
  'UNAUTHENTICATED'
).split(' ');
