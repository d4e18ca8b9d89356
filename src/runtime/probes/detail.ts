/** What went wrong, in a few printable words for the log and the history. */

/** `connection refused`, `TLS: wrong version number` and so on. */
export function detailOf(error: unknown): string {
  const { code, message, cause } = error as Partial<NodeJS.ErrnoException>;
  if (cause instanceof Error) return detailOf(cause);
  // OpenSSL's own words stand between file and line: `error:0A00010B:SSL routines:f:wrong version
  // number:../record.c:354:`.
  const tls = /:SSL routines:[^:]*:([^:]+):/.exec(message ?? '')?.[1];
  const words = code === undefined ? undefined : WORDS[code];
  // HTTP/1.1 is the one protocol that is offered.
  const remedy = tls?.endsWith('no application protocol') ? '; it does not speak HTTP/1.1, use tcp or exec' : '';
  return printable(tls === undefined ? (words ?? message ?? String(error)) : `TLS: ${tls}${remedy}`);
}

/** What a server says is shown only as far as it is printable and short. */
export function printable(text: string): string {
  const line = text.replace(/[^\x20-\x7e]+/g, ' ').trim();
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 3)}...`;
}

const MAX_CHARACTERS = 120;

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed by the other side',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'no local address or port is free for it',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host name cannot be resolved now',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files on this machine',
  EACCES: 'not permitted',
  EPERM: 'not permitted',
  ERR_HTTP2_ERROR: 'malformed answer: not HTTP/2',
};
