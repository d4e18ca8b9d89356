/**
 * Whom `--quit` and `sexton quit` know by name, and how each is asked to leave: from the documentation of each. All listen on the
 * loopback address that the containers of a pod share.
 */
import type { HttpAction, QuitAction } from '../core/config.ts';
import { formatAction, LOCALHOST, parseActionText, parsePort } from './action.ts';
import { nearest } from './nearest.ts';
import { bad, good, type Parse, show } from './parse.ts';

interface Preset {
  readonly port: number;
  /** Paths, one POST after the other. */
  readonly paths: readonly [string, ...string[]];
  readonly hint?: string;
  readonly headers?: HttpAction['headers'];
}

export const PRESETS: Readonly<Record<string, Preset>> = {
  // Of pilot-agent; Envoy's own on 15000 would leave the agent alive.
  istio: { port: 15_020, paths: ['/quitquitquit'] },
  linkerd: {
    port: 4191,
    paths: ['/shutdown'],
    hint: 'switch it on by the annotation config.linkerd.io/proxy-admin-shutdown: enabled',
  },
  'cloud-sql-proxy': { port: 9091, paths: ['/quitquitquit'], hint: 'start the proxy with --quitquitquit' },
  dapr: { port: 3500, paths: ['/v1.0/shutdown'] },
  'vault-agent': {
    port: 8200,
    paths: ['/agent/v1/quit'],
    hint: 'set agent_api { enable_quit = true } in a listener of the agent',
    headers: [['X-Vault-Request', 'true']],
  },
  envoy: { port: 9901, paths: ['/healthcheck/fail', '/drain_listeners?graceful', '/quitquitquit'] },
  'consul-dataplane': { port: 20_300, paths: ['/graceful_shutdown'] },
};

/** `istio`, `envoy:15000`, `http://127.0.0.1:8080/quit`; several with commas. */
export function parseQuits(text: string): Parse<readonly QuitAction[]> {
  const quits: QuitAction[] = [];
  for (const word of text.split(',')) {
    const quit = parseQuit(word.trim());
    if (!quit.ok) return quit;
    if (quits.some(({ name }) => name === quit.value.name)) return bad(`${show(quit.value.name)} is given twice`);
    quits.push(quit.value);
  }
  return good(quits);
}

export function formatQuits(quits: readonly QuitAction[]): string {
  return quits.map(({ name }) => name).join(',');
}

export function parseQuit(word: string): Parse<QuitAction> {
  if (word.includes('://')) return parseUrl(word);
  const [, name = word, portText] = /^(.*?):(.*)$/.exec(word) ?? [];
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  if (preset === undefined) {
    const near = nearest(name, Object.keys(PRESETS));
    const remedy =
      near === undefined ? `write one of ${Object.keys(PRESETS).join(', ')}, or a URL` : `did you mean ${near}?`;
    return bad(`${show(name)} is nobody that sexton knows; ${remedy}`);
  }
  const port = portText === undefined ? good(preset.port) : parsePort(portText);
  if (!port.ok) return port;
  const [first, ...rest] = preset.paths;
  const call = (path: string): HttpAction => post(port.value, path, preset.headers ?? []);
  return good({ kind: 'quit', name: word, calls: [call(first), ...rest.map(call)], hint: preset.hint });
}

function parseUrl(word: string): Parse<QuitAction> {
  const parsed = parseActionText(`POST ${word}`, {
    what: 'a quit call',
    schemes: ['http', 'https'],
    methods: ['POST'],
    example: 'http://127.0.0.1:8080/quit',
    options: { known: [], refused: {} },
  });
  if (!parsed.ok) return parsed;
  const { action } = parsed.value;
  if (action.kind !== 'http') return bad(`${show(word)} is no http URL; write http://127.0.0.1:PORT/PATH`);
  return good({ kind: 'quit', name: formatAction(action).replace(/^POST /, ''), calls: [action], hint: undefined });
}

function post(port: number, path: string, headers: HttpAction['headers']): HttpAction {
  return { kind: 'http', method: 'POST', scheme: 'http', host: LOCALHOST, port, path, headers };
}
