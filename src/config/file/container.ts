/**
 * The part of a configuration file that is a container of a Pod, key for key. It is checked by Kubernetes' rules, so
 * that a probe or a hook can be pasted from a manifest as it is.
 */
import type { HookAction, HttpAction, Probe, ProbeAction, ProbeKind, RestartRule } from '../../core/config.ts';
import { signalName, signalNumber } from '../../core/signals.ts';
import { HEADER_NAME, HEADER_VALUE, isHost, LOCALHOST } from '../notation/actions/action.ts';
import { MAX_TIMES, PROBE_DEFAULTS } from '../notation/actions/probe.ts';
import { encodePath } from '../notation/address.ts';
import { POD_ACTIONS } from '../notation/stop/exit-codes.ts';
import {
  described,
  either,
  listOf,
  MOST,
  oneOfTexts,
  type Report,
  record,
  type Shape,
  type Shaped,
  text,
  wholeNumber,
} from './shape.ts';

const word = text('^[^\\u0000]*$', 'must be a string without a NUL byte; quote it');
const portNumber = wholeNumber(1, 65_535, 8080);
/** RFC 6335, 5.1, as Kubernetes checks it. */
const PORT_NAME = '^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$';
const portName = text(PORT_NAME, 'must be the name of a port: at most 15 lowercase letters, digits and inner dashes');
const anyPort = either(
  portNumber,
  text(PORT_NAME, 'must be a port from 1 to 65535 or the name of one in ports; write its number'),
);
const host = described(
  `A name or an address; without one ${LOCALHOST}.`,
  text(
    '^$|^\\[?[A-Za-z0-9:]([-A-Za-z0-9._:]*[A-Za-z0-9:])?\\.?\\]?$',
    `must be a host name or an address; leave it out for ${LOCALHOST}`,
  ),
);

const exec = described(
  'A program and its arguments, started without a shell.',
  record({ command: listOf(word, '[cat, /tmp/ready]', 1) }, { needs: ['command'] }),
);
const header = record(
  {
    name: text(HEADER_NAME, 'must be the name of a header; write one such as X-Probe'),
    value: text(HEADER_VALUE, 'has characters that a header cannot have; leave them out'),
  },
  { needs: ['name', 'value'] },
);
const httpGet = described(
  'A GET; right is a status from 200 to 399.',
  record(
    {
      path: described('With the query, if any.', word),
      port: anyPort,
      host,
      scheme: described('Certificates are not checked.', oneOfTexts(['HTTP', 'HTTPS'])),
      httpHeaders: listOf(header, '[{name: X-Probe, value: sexton}]'),
    },
    { needs: ['port'] },
  ),
);
const tcpSocket = described('A connection that is accepted.', record({ port: anyPort, host }, { needs: ['port'] }));
const grpc = described(
  'SERVING by grpc.health.v1.Health.',
  record({ port: portNumber, service: described('Empty: the server as a whole.', word) }, { needs: ['port'] }),
);
const sleep = described('Just wait.', record({ seconds: wholeNumber(0, MOST, 5) }, { needs: ['seconds'] }));

const NO_GRPC = 'a hook cannot be grpc; write exec, httpGet or sleep';
const handlers = { exec, httpGet, tcpSocket, sleep } as const;
const hook = record(handlers, { oneOf: handlers, refused: { grpc: NO_GRPC } });

/** The names that Kubernetes has for signals, without those that no process can receive. */
const POD_SIGNALS = Array.from({ length: 31 }, (_, index) => signalName(index + 1)).filter(
  (name) => !['SIGKILL', 'SIGSTOP', 'SIGCHLD'].includes(name),
);
const stopSignal = text(
  `^(${POD_SIGNALS.join('|')}|SIGIOT|SIGPOLL|SIGRTMIN(\\+([1-9]|1[0-5]))?|SIGRTMAX(-([1-9]|1[0-4]))?)$`,
  'must be a signal that can be received; write one such as SIGTERM or SIGUSR1',
);

const lifecycle = record({
  postStart: described('Run beside the command when it was spawned.', hook),
  preStop: described('Run after the drain and before the first stop signal.', hook),
  stopSignal: described('The signal that the platform stops the container with; one more of stopSignals.', stopSignal),
});

const timing = {
  initialDelaySeconds: described(
    'From the start of the command to the first probe. Default: 0.',
    wholeNumber(0, MOST, 5),
  ),
  periodSeconds: described('From one probe to the next. Default: 10.', wholeNumber(1, MOST, 10)),
  timeoutSeconds: described('How long one probe may take. Default: 1.', wholeNumber(1, MOST, 1)),
  failureThreshold: described('So many failures in a row count as one. Default: 3.', wholeNumber(1, MAX_TIMES, 3)),
} as const;
const actions = { exec, httpGet, tcpSocket, grpc } as const;
const NO_SLEEP = { sleep: 'a probe cannot sleep; write initialDelaySeconds' };

const readinessProbe = record(
  {
    ...actions,
    ...timing,
    successThreshold: described('So many successes in a row count as one. Default: 1.', wholeNumber(1, MAX_TIMES, 1)),
  },
  {
    oneOf: actions,
    refused: {
      ...NO_SLEEP,
      terminationGracePeriodSeconds: 'a readiness probe stops nothing, so it has no grace period; leave it out',
    },
  },
);
const stoppingProbe = record(
  {
    ...actions,
    ...timing,
    successThreshold: described('Only 1 is possible.', wholeNumber(1, 1, 1)),
    terminationGracePeriodSeconds: described(
      'The time for the stop that a failure leads to.',
      wholeNumber(1, MOST, 30),
    ),
  },
  { oneOf: actions, refused: NO_SLEEP },
);

const ports = listOf(
  record(
    {
      name: portName,
      containerPort: portNumber,
      protocol: oneOfTexts(['TCP', 'UDP', 'SCTP']),
      hostPort: wholeNumber(0, 65_535, 8080),
      hostIP: word,
    },
    { needs: ['containerPort'] },
  ),
  '[{name: http, containerPort: 8080}]',
);

const restartRule = record(
  {
    action: described('All containers of the pod, or this one.', oneOfTexts(['Restart', 'RestartAllContainers'])),
    exitCodes: record(
      { operator: oneOfTexts(['In', 'NotIn']), values: listOf(wholeNumber(0, 255, 42), '[42]', 1) },
      { needs: ['operator', 'values'] },
    ),
  },
  { needs: ['action', 'exitCodes'] },
);
const restartPolicyRules = listOf(restartRule, '[{action: Restart, exitCodes: {operator: In, values: [42]}}]');

/** Keys of a container in a Pod that are read here in their own shape. */
export const CONTAINER = {
  startupProbe: described('As in a Pod. The command has started when it succeeds once.', stoppingProbe),
  readinessProbe: described('As in a Pod. Whether the command can serve.', readinessProbe),
  livenessProbe: described(
    'As in a Pod. Whether the command still works; if not it is stopped, then --restart decides.',
    stoppingProbe,
  ),
  lifecycle: described('As in a Pod.', lifecycle),
  ports: described('As in a Pod; probes and hooks may name them.', ports),
  restartPolicyRules: described(
    'As in a Pod. The first that matches the exit code beats restartPolicy.',
    restartPolicyRules,
  ),
} as const satisfies Readonly<Record<string, Shape<unknown>>>;

export type ContainerKey = keyof typeof CONTAINER;
export type Container = { readonly [K in ContainerKey]?: Shaped<(typeof CONTAINER)[K]> };

/** The fields of the container that are valid: ports become numbers, seconds milliseconds. */
export function lifecycleOf(container: Container, report: Report) {
  const named = new Map((container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]));
  const probes: Partial<Record<ProbeKind, Probe>> = {};
  for (const kind of ['startup', 'readiness', 'liveness'] as const) {
    const given: Shaped<typeof stoppingProbe> | undefined = container[`${kind}Probe`];
    const action = given && actionOf(given, `${kind}Probe`);
    if (given === undefined || action === undefined || action.kind === 'sleep') continue;
    probes[kind] = {
      action,
      periodMs: milliseconds(given.periodSeconds) ?? PROBE_DEFAULTS.periodMs,
      timeoutMs: milliseconds(given.timeoutSeconds) ?? PROBE_DEFAULTS.timeoutMs,
      failures: given.failureThreshold ?? PROBE_DEFAULTS.failures,
      successes: given.successThreshold ?? PROBE_DEFAULTS.successes,
      delayMs: milliseconds(given.initialDelaySeconds) ?? PROBE_DEFAULTS.delayMs,
      graceMs: milliseconds(given.terminationGracePeriodSeconds),
    };
  }
  const { postStart, preStop, stopSignal } = container.lifecycle ?? {};
  return {
    probes,
    postStart: hookOf('postStart', postStart),
    preStop: hookOf('preStop', preStop),
    stopSignal: stopSignal === undefined ? undefined : signalNumber(stopSignal),
    restartRules: container.restartPolicyRules?.map(ruleOf),
  };

  function hookOf(name: string, given: Shaped<typeof hook> | undefined): HookAction | undefined {
    const action = given && actionOf(given, `lifecycle.${name}`);
    return action?.kind === 'grpc' ? undefined : action;
  }

  function actionOf(
    given: Shaped<typeof stoppingProbe> & Shaped<typeof hook>,
    path: string,
  ): ProbeAction | HookAction | undefined {
    if (given.exec?.command) {
      const [program = '', ...args] = given.exec.command;
      if (program !== '') return { kind: 'exec', argv: [program, ...args] };
      report(`${path}.exec.command`, 'begins with an empty string; write a program and its arguments');
    }
    if (given.httpGet) return http(given.httpGet, `${path}.httpGet`);
    if (given.tcpSocket) {
      const target = targetOf(given.tcpSocket, `${path}.tcpSocket`);
      return target && { kind: 'tcp', ...target };
    }
    if (given.grpc) {
      const target = targetOf(given.grpc, `${path}.grpc`);
      return target && { kind: 'grpc', ...target, service: given.grpc.service ?? '' };
    }
    return given.sleep && { kind: 'sleep', ms: milliseconds(given.sleep.seconds) ?? 0 };
  }

  function http(given: Shaped<typeof httpGet>, path: string): HttpAction | undefined {
    const target = targetOf(given, path);
    const headers = (given.httpHeaders ?? []).map(({ name = '', value = '' }) => [name, value] as const);
    const scheme = given.scheme === 'HTTPS' ? 'https' : 'http';
    return target && { kind: 'http', method: 'GET', scheme, ...target, path: encodePath(given.path ?? '/'), headers };
  }

  function targetOf(
    { port, host: given = '' }: { readonly port?: number | string; readonly host?: string },
    path: string,
  ): { readonly host: string; readonly port: number } | undefined {
    const hostname = given === '' ? LOCALHOST : given.replace(/^\[(.*)\]$/, '$1');
    if (!isHost(hostname))
      report(`${path}.host`, `must be a host name or an address; leave it out for ${LOCALHOST}`, given);
    const number = typeof port === 'number' ? port : named.get(port);
    if (number === undefined) report(`${path}.port`, noSuchPort([...named.keys()]), port);
    return number !== undefined && isHost(hostname) ? { host: hostname, port: number } : undefined;
  }
}

function ruleOf({ action, exitCodes }: Shaped<typeof restartRule>): RestartRule {
  const { operator, values = [] } = exitCodes ?? {};
  return {
    action: (action && POD_ACTIONS.get(action)) ?? 'restart',
    codes: values,
    except: operator === 'NotIn',
  };
}

function noSuchPort(names: readonly (string | undefined)[]): string {
  const given = names.filter((name) => name !== undefined);
  const known = given.length === 0 ? 'ports names none' : `ports names ${given.join(', ')}`;
  return `no port has this name, ${known}; write its number, or add {name, containerPort} to ports`;
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
