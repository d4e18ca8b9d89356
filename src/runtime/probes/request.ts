/** What an HTTP probe asks: the request as it goes over the wire, and where a redirect leads. */
import { encodePath } from '../../config/notation/address.ts';
import type { HttpAction } from '../../core/config.ts';
import { bareHost } from './tcp.ts';

export interface Target extends Omit<HttpAction, 'kind'> {
  /** The value of the Host header; undefined: the address. */
  readonly hostHeader: string | undefined;
}

export function targetOf(action: HttpAction): Target {
  const isHost = ([name]: readonly [string, string]): boolean => name.toLowerCase() === 'host';
  const hostHeader = action.headers.find(isHost)?.[1];
  return { ...action, hostHeader: hostHeader === '' ? undefined : hostHeader };
}

/**
 * As the kubelet's: its own User-Agent and `Accept`, unless the user gives one; an empty one is left out. No
 * compression is asked for and no connection is kept.
 */
export function requestText(target: Target): string {
  const { method, path, headers, hostHeader } = target;
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  // A server never receives what follows a #.
  const lines = [
    `${method} ${encodePath(path.replace(/#.*/s, ''))} HTTP/1.1`,
    `Host: ${hostHeader ?? authorityOf(target)}`,
  ];
  if (!names.has('user-agent')) lines.push(`User-Agent: ${USER_AGENT}`);
  if (!names.has('accept')) lines.push('Accept: */*');
  if (method === 'POST') lines.push('Content-Length: 0');
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (OWN_HEADERS.has(key) || (value === '' && (key === 'user-agent' || key === 'accept'))) continue;
    lines.push(`${name}: ${value}`);
  }
  lines.push('Connection: close');
  // What would begin a line of its own could be a header or a request of its own.
  return `${lines.map((line) => line.replace(/[\r\n\0]+/g, ' ')).join('\r\n')}\r\n\r\n`;
}

/**
 * The rules are the kubelet's: those of Go's client and of its own RedirectChecker (pkg/probe/http). The same host is
 * the same name or address, whatever the port and the scheme, and `elsewhere` is another host. 307 and 308 keep the
 * method. A user's Host header is kept when the location is relative.
 */
export function redirectOf(target: Target, status: number, location: string): Target | 'elsewhere' | 'unusable' {
  try {
    const from = new URL(`${target.scheme}://${authorityOf(target)}${encodePath(target.path)}`);
    const to = new URL(Buffer.from(location, 'latin1').toString('utf8'), from);
    if (to.hostname !== from.hostname) return 'elsewhere';
    const scheme = to.protocol.slice(0, -1);
    if (scheme !== 'http' && scheme !== 'https') return 'unusable';
    const port = to.port === '' ? DEFAULT_PORTS[scheme] : Number(to.port);
    const method = status === 307 || status === 308 ? target.method : 'GET';
    const hostHeader = /^[a-z][a-z0-9+.-]*:/i.test(location) ? undefined : target.hostHeader;
    return { ...target, scheme, port, method, hostHeader, path: `${to.pathname}${to.search}` };
  } catch {
    return 'unusable';
  }
}

/** `127.0.0.1:8080`, `[::1]:8080`; with the port also when it is the usual one. */
export function authorityOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const bare = bareHost(host);
  return bare.includes(':') ? `[${bare.replace(/%.*/, '')}]:${port}` : `${bare}:${port}`;
}

declare const __SEXTON_VERSION__: string | undefined;

export const USER_AGENT: string = `sexton-probe/${typeof __SEXTON_VERSION__ === 'string' ? __SEXTON_VERSION__ : 'source'}`;

const DEFAULT_PORTS = { http: 80, https: 443 } as const;
/** Written by ourselves. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);
