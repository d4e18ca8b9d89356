/**
 * The head of an HTTP/1 request (RFC 9112), as far as it matters here: method and path. All headers are skipped, a body is not read:
 * there is none that could change an answer, and after the answer the connection is closed.
 */

export type Request =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'too long' }
  | { readonly kind: 'request'; readonly method: string; readonly path: string };

export const MOST_HEAD_BYTES = 8_192;

/** `text` is read as latin1, so that a character is a byte. */
export function readRequest(text: string): Request {
  // An empty line before the request is forgiven, as RFC 9112 (2.2) asks for.
  const from = /^(?:\r?\n){0,4}/.exec(text)?.[0].length ?? 0;
  const lineEnd = text.indexOf('\n', from);
  if (lineEnd === -1 && !isPlausible(text.slice(from))) return { kind: 'malformed' };
  const line = lineEnd === -1 ? undefined : text.slice(from, lineEnd).replace(/\r$/, '');
  const [, method, target] = line === undefined ? [] : (/^([A-Z]{1,16}) (\S+) HTTP\/1\.[01]$/.exec(line) ?? []);
  if (line !== undefined && (method === undefined || target === undefined)) return { kind: 'malformed' };
  // The end of the head, or of the line when there are no headers.
  if (method === undefined || target === undefined || !/\r?\n\r?\n/.test(text.slice(from)))
    return text.length > MOST_HEAD_BYTES ? { kind: 'too long' } : { kind: 'incomplete' };
  return { kind: 'request', method, path: pathOf(target) };
}

/** Whoever speaks something else (TLS, HTTP/2, a shell) is told apart by the first bytes. */
function isPlausible(start: string): boolean {
  return /^[A-Z]{0,16}$|^[A-Z]{1,16} [\x21-\x7e]*( H?T?T?P?\/?[0-9.]{0,3}\r?)?$/.test(start);
}

/** Without the query; of the absolute form (RFC 9112, 3.2.2) only the path. */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/, '');
}
