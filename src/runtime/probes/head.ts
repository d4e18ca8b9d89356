/**
 * The head of an HTTP/1 answer: its status, where it points to, and how its body ends (RFC 9112). All else is skipped.
 * What is not such a head is malformed and never guessed at.
 */

export interface Head {
  readonly status: number;
  readonly location: string | undefined;
  /** Its own length, with the empty line. */
  readonly headBytes: number;
  readonly body: BodyEnd;
}

export type BodyEnd =
  | { readonly kind: 'after'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

/** `text` is read as latin1, so that a character is a byte. */
export function readHead(text: string): Head | 'incomplete' | 'malformed' {
  // A server of another protocol shows by its first bytes; it may send no more for a long time.
  if (!PREFIX.startsWith(text.slice(0, PREFIX.length))) return 'malformed';
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null) return 'incomplete';
  const [statusLine = '', ...lines] = text.slice(0, end.index).split(/\r?\n/);
  const status = /^HTTP\/1\.[01] ([1-9][0-9]{2})(?: |$)/.exec(statusLine)?.[1];
  if (status === undefined) return 'malformed';
  const headers = readHeaders(lines);
  const body = headers === undefined ? undefined : bodyOf(Number(status), headers);
  if (headers === undefined || body === undefined) return 'malformed';
  const headBytes = end.index + end[0].length;
  return { status: Number(status), location: headers.get('location'), headBytes, body };
}

const PREFIX = 'HTTP/1.';

/**
 * Only those that are of interest; of several the first. A line that begins with a blank goes on with the one before.
 */
function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  for (const line of lines) {
    if (/^[ \t]/.test(line) && line !== lines[0]) continue;
    const [start = '', name = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):/.exec(line) ?? [];
    if (name === '') return undefined;
    const value = withoutBlanks(line.slice(start.length));
    const key = name.toLowerCase();
    if (!OF_INTEREST.has(key)) continue;
    // Two lengths: it cannot be known where the body ends.
    if (key === 'content-length' && headers.has(key) && headers.get(key) !== value) return undefined;
    if (!headers.has(key)) headers.set(key, value);
  }
  return headers;
}

/**
 * By hand: a pattern tries the blanks in the midst of a long value again from each of them, and `trim` takes more than
 * blanks.
 */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && BLANKS.includes(text.charAt(start))) start += 1;
  while (end > start && BLANKS.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const BLANKS = ' \t';
const OF_INTEREST: ReadonlySet<string> = new Set(['location', 'content-length', 'transfer-encoding']);

function bodyOf(status: number, headers: ReadonlyMap<string, string>): BodyEnd | undefined {
  const length = headers.get('content-length');
  if (length !== undefined && !/^[0-9]{1,15}$/.test(length)) return undefined;
  if (status < 200 || status === 204 || status === 304) return { kind: 'after', bytes: 0 };
  if (headers.has('transfer-encoding')) return { kind: 'chunked' };
  return length === undefined ? { kind: 'close' } : { kind: 'after', bytes: Number(length) };
}
