/**
 * The API of the cluster that KUBECONFIG names. `kubectl proxy` does the authentication and listens on a socket of this
 * run. Requests go there as plain HTTP, so that one costs a millisecond and not a process. TEST_CLUSTER_SOCKET is the
 * path of the socket.
 */
import { execFile } from 'node:child_process';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CALL_LIMIT_MS = 120_000;
const TRIES = 3;

export interface ApiObject {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
}

export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Resolves to the object that was answered. `body` is sent as JSON, a PATCH as a strategic merge. */
export async function ask<T>(method: Method, path: string, body?: unknown): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await askOnce<T>(method, path, body);
    } catch (error) {
      // A connection that broke; what makes something is not said twice.
      if (error instanceof ApiError || method === 'POST' || tries === TRIES) throw error;
    }
  }
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

async function askOnce<T>(method: Method, path: string, body: unknown): Promise<T> {
  const response = await send(method, path, body);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  const status = response.statusCode ?? 0;
  if (status >= 300) throw new ApiError(status, `${method} ${path}: ${status} ${messageOf(text)}`);
  return JSON.parse(text) as T;
}

/** Calls `onLine` for each line until the server or `signal` ends the answer. It keeps no process alive. */
export async function follow(path: string, onLine: (line: string) => void, signal?: AbortSignal): Promise<void> {
  const response = await send('GET', path, undefined, signal);
  response.socket.unref();
  if (response.statusCode !== 200) {
    response.resume();
    throw new ApiError(response.statusCode ?? 0, `GET ${path}: ${response.statusCode}`);
  }
  const lines = createInterface({ input: response });
  lines.on('line', onLine);
  // It passes on the error of a response that was broken off.
  lines.on('error', () => {});
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.on('error', () => resolve());
  });
  lines.close();
}

function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<IncomingMessage> {
  const socketPath = process.env.TEST_CLUSTER_SOCKET;
  if (!socketPath) throw new Error('TEST_CLUSTER_SOCKET is not set: start the tests by npm run test:cluster');
  const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
  const headers = { accept: 'application/json, */*', ...(body !== undefined && { 'content-type': type }) };
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, headers, agent: false, ...(signal && { signal }) }, resolve);
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}

/** Resolves to its stdout; rejects with what it said when it failed. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('kubectl', args, { timeout: CALL_LIMIT_MS, maxBuffer: 64 << 20 });
  return stdout;
}
