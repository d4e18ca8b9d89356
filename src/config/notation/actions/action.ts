/**
 * What a probe or a hook does, as a flag writes it: `exec:CMD`, `http://HOST:PORT/PATH`, `POST http://..`,
 * `tcp://HOST:PORT`, `grpc://HOST:PORT/SERVICE`, `sleep:5s`. Without a host it is 127.0.0.1: the supervisor is inside
 * the container.
 */
import type { ExecAction, GrpcAction, HttpAction, SleepAction, TcpAction } from '../../../core/config.ts';
import { addressText, encodePath } from '../address.ts';
import { formatDuration, parseDuration } from '../duration.ts';
import { nearest } from '../nearest.ts';
import { type Option, type OptionNames, splitPlain, splitQuoted } from '../options.ts';
import { bad, good, type Parse, show, unexpanded } from '../parse.ts';
import { formatWords, quoted, wordsOf } from '../words.ts';

export type Action = ExecAction | HttpAction | TcpAction | GrpcAction | SleepAction;

/** What a probe or a hook can be, and how messages name it. */
export interface ActionRules {
  readonly what: string;
  readonly schemes: readonly Scheme[];
  readonly methods: readonly string[];
  readonly example: string;
  /** Names of options, without `header`, which only http has. */
  readonly options: OptionNames;
}

const SCHEMES = ['exec', 'http', 'https', 'tcp', 'grpc', 'sleep'] as const;
type Scheme = (typeof SCHEMES)[number];

export interface ActionText {
  readonly action: Action;
  readonly options: readonly Option[];
}

export const LOCALHOST = '127.0.0.1';

export function parseActionText(text: string, rules: ActionRules): Parse<ActionText> {
  const [, method, scheme = '', rest = ''] = /^(?:([A-Za-z]+) +)?([A-Za-z]+):(.*)$/s.exec(text) ?? [];
  const wrong = schemeProblem(text, scheme, rest, rules) ?? methodProblem(method, scheme, rules);
  if (wrong !== undefined) return bad(wrong);
  // `schemeProblem` refuses all others.
  const kind = scheme as Scheme;
  if (kind === 'exec') return parseExec(rest, rules.options);
  // In a command it may be meant for a shell; anywhere else it is a mistake.
  const slip = unexpanded(rest);
  if (slip !== undefined) return bad(slip);
  if (kind === 'sleep') {
    const time = parseDuration(rest);
    return time.ok ? good({ action: { kind: 'sleep', ms: time.value }, options: [] }) : bad(time.why);
  }
  const isHttp = kind === 'http' || kind === 'https';
  const { known } = rules.options;
  const split = splitPlain(rest, { ...rules.options, known: isHttp ? [...known, 'header'] : known });
  if (!split.ok) return split;
  const { head, options } = split.value;
  const target = parseTarget(scheme, head);
  if (!target.ok) return target;
  const { host, port, path } = target.value;
  switch (kind) {
    case 'http':
    case 'https': {
      const headers = headersOf(options);
      if (!headers.ok) return headers;
      const call = { method: method === 'POST' ? 'POST' : 'GET', scheme: kind } as const;
      const action = { kind: 'http', ...call, host, port, path: encodePath(path), headers: headers.value } as const;
      return good({ action, options: options.filter(({ name }) => name !== 'header') });
    }
    case 'tcp':
      if (path !== '') return bad(`${show(path)} has no meaning for tcp; leave it out`);
      return good({ action: { kind: 'tcp', host, port }, options });
    case 'grpc':
      return good({ action: { kind, host, port, service: path.replace('/', '') }, options });
    default:
      return kind satisfies never;
  }
}

/** A URL that is called once and takes no options. */
export function parseCall(text: string, what: string, methods: readonly string[], example: string): Parse<HttpAction> {
  const options = { known: [], refused: {} };
  const parsed = parseActionText(text, { what, schemes: ['http', 'https'], methods, example, options });
  return parsed.ok ? good(parsed.value.action as HttpAction) : parsed;
}

/** The inverse of `parseActionText`, with the options in the notation `,name=value`. */
export function formatAction(action: Action, options: readonly Option[] = []): string {
  const all = action.kind === 'http' ? [...headerOptions(action), ...options] : options;
  return `${formatHead(action)}${all.map(({ name, text }) => `,${name}=${quoted(text)}`).join('')}`;
}

function formatHead(action: Action): string {
  switch (action.kind) {
    case 'exec':
      return `exec:${formatWords(action.argv)}`;
    case 'http': {
      const { method, scheme, path } = action;
      const escaped = path.replace(/,(?=[-A-Za-z]+=)/g, '%2C');
      return `${method === 'POST' ? 'POST ' : ''}${scheme}://${addressText({ ...action, kind: 'tcp' })}${escaped}`;
    }
    case 'tcp':
      return `tcp://${addressText(action)}`;
    case 'grpc':
      return `grpc://${addressText({ ...action, kind: 'tcp' })}${action.service === '' ? '' : `/${action.service}`}`;
    case 'sleep':
      return `sleep:${formatDuration(action.ms)}`;
    default:
      return action satisfies never;
  }
}

export function parsePort(text: string): Parse<number> {
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return good(Number(text));
  return bad(`${show(text)} is not a port; write a number from 1 to 65535`);
}

export function isHost(text: string): boolean {
  if (/^[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?\.?$/.test(text)) return true;
  return text.includes(':') && URL.canParse(`http://[${text}]/`);
}

/** RFC 9110, 5.6.2: a token. */
export const HEADER_NAME = "^[-!#$%&'*+.^_`|~A-Za-z0-9]+$";
export const HEADER_VALUE = '^[\\t\\u0020-\\u007e\\u0080-\\u00ff]*$';

function schemeProblem(text: string, scheme: string, rest: string, rules: ActionRules): string | undefined {
  const { what, schemes, example } = rules;
  const known = schemes.find((candidate) => candidate === scheme);
  if (known === undefined) {
    if (SCHEMES.some((one) => one === scheme)) return `${what} cannot be ${scheme}; write one such as ${example}`;
    const near = nearest(scheme, schemes);
    if (near !== undefined) return `${scheme} is not a kind of ${what.replace(/^an? /, '')}; did you mean ${near}?`;
    return `is not ${what}; write one such as ${example}`;
  }
  if (known === 'exec' || known === 'sleep' || rest.startsWith('//')) return undefined;
  return `${show(text)} has no // after ${scheme}:; write one such as ${scheme}://:8080`;
}

function methodProblem(method: string | undefined, scheme: string, { what, methods }: ActionRules): string | undefined {
  if (method === undefined) return undefined;
  if (!scheme.startsWith('http')) return `${method} goes before http:// only; leave it out`;
  if (methods.includes(method)) return undefined;
  const remedy = methods.length > 0 ? `write ${methods.join(' or ')}` : `leave ${method} out`;
  return `${method} is not possible for ${what}; ${remedy}`;
}

function parseExec(rest: string, names: OptionNames): Parse<ActionText> {
  const split = splitQuoted(rest, names);
  if (!split.ok) return split;
  const argv = wordsOf(split.value.head);
  return argv.ok ? good({ action: { kind: 'exec', argv: argv.value }, options: split.value.options }) : argv;
}

function parseTarget(
  scheme: string,
  head: string,
): Parse<{ readonly host: string; readonly port: number; readonly path: string }> {
  const [, bracketed, plain = '', portText, path = ''] =
    /^\/\/(?:\[([^\]]*)\]|([^:/?#[\]]*))(?::([^/?#]*))?(.*)$/s.exec(head) ?? [];
  const host = bracketed ?? plain;
  if (host !== '' && (!isHost(host) || (bracketed !== undefined && !host.includes(':')))) {
    return bad(`${show(host)} is not a host; write a name or an address, or leave it out for ${LOCALHOST}`);
  }
  if (portText === undefined || portText === '') {
    // No host has only digits: they are a port without its colon.
    const isNumber = /^\d+$/.test(plain);
    const place = isNumber && parsePort(plain).ok ? `:${plain}` : `${isNumber ? '' : plain}:8080`;
    return bad(`has no port; write one such as ${scheme}://${place}${path.startsWith('/') ? path : ''}`);
  }
  const port = parsePort(portText);
  if (!port.ok) return port;
  if (path.includes('#')) return bad('a server never receives what follows a #; leave it out');
  return good({ host: host === '' ? LOCALHOST : host, port: port.value, path });
}

function headersOf(options: readonly Option[]): Parse<HttpAction['headers']> {
  const headers: (readonly [string, string])[] = [];
  for (const { name, text } of options) {
    if (name !== 'header') continue;
    const [, header = '', value = ''] = /^([^:]*):[ \t]*(.*)$/s.exec(text) ?? [];
    if (!new RegExp(HEADER_NAME).test(header) || !new RegExp(HEADER_VALUE).test(value)) {
      return bad(`header=${show(text)} is not a header; write one such as header='Accept: text/plain'`);
    }
    headers.push([header, value]);
  }
  return good(headers);
}

function headerOptions({ headers }: HttpAction): readonly Option[] {
  return headers.map(([name, value]) => ({ name: 'header', text: `${name}: ${value}` }));
}
