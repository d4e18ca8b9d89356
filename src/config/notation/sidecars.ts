/**
 * The sidecars that cannot be wrapped and that sexton knows by name, from the documentation of each. An entry says how
 * it is asked to leave (`--quit`, `sexton quit`), how its readiness is checked (`--start-after istio=ready`), and by
 * which image `sexton check` recognizes it. All listen on the loopback address that the containers of a pod share.
 */
import type { HttpAction, QuitAction } from '../../core/config.ts';
import { formatAction, LOCALHOST, parseCall, parsePort } from './actions/action.ts';
import { didYouMean, nearest } from './nearest.ts';
import { bad, eachOf, good, type Parse, repeated, show } from './parse.ts';

export interface Sidecar {
  /** The end of its image's repository, without a registry. */
  readonly image: RegExp;
  /** What its command line has, where the image has other programs, too. */
  readonly words?: RegExp;
  readonly quit: {
    readonly port: number;
    /** Paths, one POST after the other. The last one makes it leave, those before only prepare that. */
    readonly paths: readonly [string, ...string[]];
    readonly hint?: string;
    readonly absent?: string;
  };
  /** A GET; the hint is the remedy when nothing listens, or when it answers 404. */
  readonly ready: { readonly port: number; readonly path: string; readonly hint?: string };
  readonly headers?: HttpAction['headers'];
}

export const SIDECARS: Readonly<Record<string, Sidecar>> = {
  istio: {
    image: /(^|\/)(proxyv2|istio-proxy)$/,
    // The endpoint of pilot-agent (pilot/cmd/pilot-agent/status); Envoy's own quit on 15000 would leave the agent alive.
    quit: { port: 15_020, paths: ['/quitquitquit'] },
    // What holdApplicationUntilProxyStarts waits for (pilot-agent wait).
    ready: { port: 15_021, path: '/healthz/ready' },
  },
  linkerd: {
    image: /(^|\/)(linkerd\/proxy|linkerd-proxy)$/,
    // linkerd.io, Proxy Configuration, and linkerd2-proxy, admin server: 404 unless enabled.
    quit: {
      port: 4191,
      paths: ['/shutdown'],
      hint: 'switch it on by the annotation config.linkerd.io/proxy-admin-shutdown: enabled',
    },
    // As linkerd-await does.
    ready: { port: 4191, path: '/ready' },
  },
  'cloud-sql-proxy': {
    // gce-proxy is version 1.
    image: /(^|\/)(cloud-?sql-proxy|gce-proxy)$/,
    // cloud-sql-proxy v2 --help: the admin server, and the health check server.
    quit: {
      port: 9091,
      paths: ['/quitquitquit'],
      hint: 'start the proxy with --quitquitquit',
      absent: 'start the proxy with --quitquitquit',
    },
    ready: { port: 9090, path: '/readiness', hint: 'start the proxy with --health-check' },
  },
  dapr: {
    image: /(^|\/)daprd$/,
    // docs.dapr.io, metadata API and health API: without /outbound it waits for the application, which waits here.
    quit: { port: 3500, paths: ['/v1.0/shutdown'] },
    ready: { port: 3500, path: '/v1.0/healthz/outbound' },
  },
  'vault-agent': {
    image: /(^|\/)vault$/,
    words: /(^|\s)agent(\s|$)/,
    // developer.hashicorp.com, Vault Agent: the quit API, and a listener without metrics_only, which passes this on to
    // Vault. The agent has no readiness of its own (hashicorp/vault issue 13602).
    quit: {
      port: 8200,
      paths: ['/agent/v1/quit'],
      hint: 'set agent_api { enable_quit = true } in a listener of the agent',
      absent: 'give the agent a listener with agent_api { enable_quit = true }',
    },
    ready: {
      port: 8200,
      path: '/v1/sys/health?standbyok=true&perfstandbyok=true',
      hint: 'give the agent a listener that passes requests on to Vault',
    },
    // For a listener with require_request_header.
    headers: [['X-Vault-Request', 'true']],
  },
  envoy: {
    image: /(^|\/)(envoy|aws-appmesh-envoy)$/,
    // envoyproxy.io, administration interface.
    quit: { port: 9901, paths: ['/healthcheck/fail', '/drain_listeners?graceful', '/quitquitquit'] },
    ready: { port: 9901, path: '/ready' },
  },
  'consul-dataplane': {
    image: /(^|\/)consul-dataplane$/,
    // developer.hashicorp.com, consul-dataplane, -graceful-port and -envoy-admin-bind-port. Its own /graceful_startup
    // says yes at once without a grace period, and after that in any case.
    quit: {
      port: 20_300,
      paths: ['/graceful_shutdown'],
      absent: 'name its port: consul-k8s makes it consul-dataplane:20600',
    },
    ready: { port: 19_000, path: '/ready' },
  },
};

export const SIDECAR_NAMES: readonly string[] = Object.keys(SIDECARS);

export function isSidecarName(name: string): boolean {
  return Object.hasOwn(SIDECARS, name);
}

/** `istio` or `istio:15020`; the port is undefined where none is written. */
export function parseSidecar(word: string): Parse<{ readonly sidecar: Sidecar; readonly port: number | undefined }> {
  const [, name = word, portText] = /^([^:]*):(.*)$/s.exec(word) ?? [];
  const sidecar = isSidecarName(name) ? SIDECARS[name] : undefined;
  if (sidecar === undefined) {
    const all = `write one of ${SIDECAR_NAMES.join(', ')}, or a URL`;
    return bad(`unknown sidecar ${show(name)}; ${didYouMean(nearest(name, SIDECAR_NAMES), all)}`);
  }
  if (portText === undefined) return good({ sidecar, port: undefined });
  const port = parsePort(portText);
  return port.ok ? good({ sidecar, port: port.value }) : port;
}

export function callOf(
  method: HttpAction['method'],
  port: number,
  path: string,
  { headers = [] }: Sidecar,
): HttpAction {
  return { kind: 'http', method, scheme: 'http', host: LOCALHOST, port, path, headers };
}

/** What `--quit` and `sexton quit` take: `istio`, `envoy:15000`, `http://127.0.0.1:8080/quit`; several with commas. */
export function parseQuits(text: string): Parse<readonly QuitAction[]> {
  const quits = eachOf(text, (word) => parseQuit(word.trim()));
  const twice = quits.ok ? repeated(quits.value.map(({ name }) => name)) : undefined;
  return twice === undefined ? quits : bad(`${show(twice)} is given twice; give it once`);
}

export function formatQuits(quits: readonly QuitAction[]): string {
  return quits.map(({ name }) => name).join(',');
}

export function parseQuit(word: string): Parse<QuitAction> {
  if (word.includes('://')) return parseQuitUrl(word);
  const parsed = parseSidecar(word);
  if (!parsed.ok) return parsed;
  const { sidecar, port = sidecar.quit.port } = parsed.value;
  const { paths, hint = 'another program may listen on this port', absent } = sidecar.quit;
  const [first, ...rest] = paths;
  const call = (path: string): HttpAction => callOf('POST', port, path, sidecar);
  const calls = [call(first), ...rest.map(call)] as const;
  return good({ kind: 'quit', name: word, calls, hint, ...(absent !== undefined && { absent }) });
}

function parseQuitUrl(word: string): Parse<QuitAction> {
  const call = parseCall(`POST ${word}`, 'a quit call', ['POST'], 'http://127.0.0.1:8080/quit');
  if (!call.ok) return call;
  const name = formatAction(call.value).replace(/^POST /, '');
  return good({ kind: 'quit', name, calls: [call.value], hint: 'check the path' });
}
