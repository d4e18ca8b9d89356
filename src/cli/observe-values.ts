/**
 * Where HTTP is answered: `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `unix:/run/sexton.sock`. And where the evidence is left.
 */
import { MAX_SOCKET_PATH_BYTES } from '../core/handle.ts';
import type { HttpAddress } from '../runtime/http.ts';
import { bad, good, type Parse, show } from './parse.ts';

export function parseAddress(text: string): Parse<HttpAddress> {
  if (text.startsWith('unix:')) return parseUnix(text.slice('unix:'.length));
  if (text.startsWith('/')) return bad(`a path needs unix: before it; write ${show(`unix:${text}`)}`);
  if (/^[a-z]+:\/\//i.test(text)) return bad('not a URL; write the address alone, such as :8080');
  if (/^[0-9]+$/.test(text)) return bad(`a port needs a colon before it; write ${show(`:${text}`)}`);
  const [, host = '', port = ''] =
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?)?:([^:]*)$/.exec(text) ?? [];
  if (port === '') return bad('not an address; write one such as :8080, 127.0.0.1:8080 or unix:/run/sexton.sock');
  const number = /^[0-9]{1,6}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65_535) return bad(`${show(port)} is no port; write a number from 1 to 65535`);
  return good({ kind: 'tcp', host: host === '' ? undefined : host.replace(/^\[|\]$/g, ''), port: number });
}

/** Where Kubernetes mounts a file for it. */
export const DEFAULT_TERMINATION_LOG = '/dev/termination-log';

/** An absolute path of a file. */
export function parseTerminationLog(text: string): Parse<string> {
  return parsePath(text, DEFAULT_TERMINATION_LOG);
}

function parseUnix(path: string): Parse<HttpAddress> {
  const parsed = parsePath(path, 'unix:/run/sexton.sock');
  if (!parsed.ok) return parsed;
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES)
    return bad(`a socket's path has at most ${MAX_SOCKET_PATH_BYTES} bytes, this one has ${bytes}; use a shorter one`);
  return good({ kind: 'unix', path });
}

function parsePath(path: string, example: string): Parse<string> {
  // Only a file can say it, and a path ends there.
  if (path.includes('\0')) return bad(`no path has a NUL byte in it; write one such as ${example}`);
  if (!path.startsWith('/')) return bad(`not an absolute path; write one such as ${example}`);
  return path.endsWith('/') ? bad(`the path of a directory; write one such as ${example}`) : good(path);
}
