/** `--http` (`:8080`, `[::1]:8080`, `unix:/run/sexton.sock`), `--termination-log`, `--otlp` and `--sleep-after`. */
import { MAX_SOCKET_PATH_BYTES } from '../../../core/format/tombstone.ts';
import type { HttpAddress } from '../address.ts';
import { parseSomeTime } from '../duration.ts';
import { bad, good, notAbsolute, type Parse, show } from '../parse.ts';
import { parsePort } from './action.ts';

export function parseAddress(text: string): Parse<HttpAddress> {
  if (text.startsWith('unix:')) return parseUnix(text.slice('unix:'.length));
  if (text.startsWith('/')) return bad(`a path needs unix: before it; write ${show(`unix:${text}`)}`);
  if (/^[a-z]+:\/\//i.test(text)) return bad('must be an address, not a URL; write one such as :8080');
  if (/^[0-9]+$/.test(text)) return bad(`a port needs a colon before it; write ${show(`:${text}`)}`);
  const [, host = '', port = ''] =
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?)?:([^:]*)$/.exec(text) ?? [];
  if (port === '') return bad('must be an address; write one such as :8080, 127.0.0.1:8080 or unix:/run/sexton.sock');
  const number = parsePort(port);
  if (!number.ok) return number;
  return good({ kind: 'tcp', host: host === '' ? undefined : host.replace(/^\[|\]$/g, ''), port: number.value });
}

/** Kubernetes mounts a file here. */
export const DEFAULT_TERMINATION_LOG = '/dev/termination-log';

export function parseTerminationLog(text: string): Parse<string> {
  return parseFilePath(text, DEFAULT_TERMINATION_LOG);
}

export function parseSleepAfter(text: string): Parse<number | 'never'> {
  if (text === 'never') return good(text);
  const time = parseSomeTime(text);
  return time.ok || /\d/.test(text) ? time : bad('must be a duration or never; write one of them, such as 5s');
}

/** A collector's base, to which the path of OTLP over HTTP is added, or a whole URL. */
export function parseCollector(text: string): Parse<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\//.test(text))
    return bad('not a URL; write one such as http://collector:4318');
  if (url.username !== '' || url.password !== '')
    return bad('a password in a URL is read by all; name a collector that needs none');
  if (url.hash !== '') return bad('a URL with a #; leave that out');
  return good(url.pathname === '/' && url.search === '' ? `${url.origin}/v1/traces` : url.href);
}

function parseUnix(path: string): Parse<HttpAddress> {
  const parsed = parseFilePath(path, 'unix:/run/sexton.sock');
  if (!parsed.ok) return parsed;
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES)
    return bad(`a socket's path has at most ${MAX_SOCKET_PATH_BYTES} bytes, this one has ${bytes}; use a shorter one`);
  return good({ kind: 'unix', path });
}

function parseFilePath(path: string, example: string): Parse<string> {
  // Only a configuration file can contain one, and the kernel ends a path there.
  if (path.includes('\0')) return bad(`must not contain a NUL byte; write one such as ${example}`);
  if (!path.startsWith('/')) return notAbsolute(path, example);
  return path.endsWith('/') ? bad(`must be a file, not a directory; write one such as ${example}`) : good(path);
}
