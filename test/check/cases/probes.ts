import { under } from '../workloads.ts';
import { type Cases, each } from './case.ts';

const DRAIN = '--drain, "min=1s,quiet=2s,max=15s"';

function probed(probe: string, drain = DRAIN, spec = '', more = ''): string {
  return under(drain, spec, `  ports: [{name: web, containerPort: 8080}]\n  readinessProbe: ${probe}\n${more}`);
}

export const PROBE_CASES: Cases = {
  SX808: {
    'a probe that comes as often as the drain waits, and says how long it takes': [
      probed('{httpGet: {port: 8080}, periodSeconds: 2}'),
      /^warning @15000 \[\{httpGet: \{port: 8080\}, periodSeconds: 2\}\] web: its readiness probe on port 8080 comes every 2 s, .* waits for 2 s .* takes 15 s each time$/,
    ],
    'a probe that comes less often': probed('{httpGet: {port: 8080}, periodSeconds: 3}'),
    'the period that a probe has by default': probed('{httpGet: {port: 8080}}'),
    'the period that a probe has by default, where the drain waits for longer': [
      probed('{tcpSocket: {port: 8080}}', '--drain, "min=1s,quiet=11s,max=25s"'),
      / comes every 10 s, /,
    ],
    'a port by its name': [probed('{tcpSocket: {port: web}, periodSeconds: 1}'), /on port 8080 /],
    'a port by a name that nothing has': probed('{tcpSocket: {port: other}, periodSeconds: 1}'),
    'a probe of gRPC on a port that is named': [
      probed('{grpc: {port: 9000}, periodSeconds: 1}', '--drain, "quiet=2s,max=15s,ports=9000"'),
      /on port 9000 /,
    ],
    'a port whose connections do not count': probed(
      '{grpc: {port: 9000}, periodSeconds: 1}',
      '--drain, "quiet=2s,max=15s,ports=8080"',
    ),
    'a probe by a program': probed('{exec: {command: [a]}, periodSeconds: 1}'),
    'a probe that asks another host': probed('{httpGet: {port: 8080, host: 10.1.2.3}, periodSeconds: 1}'),
    'a probe at the port of sexton itself': probed(
      '{httpGet: {port: 9700}, periodSeconds: 1}',
      `${DRAIN}, --http, ":9700"`,
    ),
    'a probe beside the port of sexton itself': [
      probed('{httpGet: {port: 9701}, periodSeconds: 1}', `${DRAIN}, --http, ":9700"`),
      /on port 9701 /,
    ],
    'a probe of a sidecar that is asked by its name': probed(
      '{httpGet: {port: 15021}, periodSeconds: 1}',
      `${DRAIN}, --start-after, istio=ready`,
    ),
    'addresses that are ignored': probed(
      '{httpGet: {port: 8080}, periodSeconds: 1}',
      '--drain, "quiet=2s,max=15s,ignore=10.1.2.3"',
    ),
    'the network of the host, which SX807 reports': probed(
      '{httpGet: {port: 8080}, periodSeconds: 1}',
      DRAIN,
      'hostNetwork: true\n',
    ),
    'a fixed drain': probed('{httpGet: {port: 8080}, periodSeconds: 1}', '--drain, 5s'),
    'a liveness probe, which the kubelet ends with the stop request': probed(
      '{httpGet: {port: 8080}}',
      DRAIN,
      '',
      '  livenessProbe: {httpGet: {port: 8080}, periodSeconds: 1}\n',
    ),
    'the probe of another container, which shares the network': [
      probed(
        '{exec: {command: [a]}}',
        DRAIN,
        '',
        '- name: metrics\n  image: example.com/m:1\n  readinessProbe: {tcpSocket: {port: 9100}, periodSeconds: 1}\n',
      ),
      /web: metrics's readiness probe on port 9100 /,
    ],
    ...each(['8080a', 'a8080'], (port) => [
      `the name ${port}, which is no number`,
      probed(`{tcpSocket: {port: ${port}}, periodSeconds: 1}`),
    ]),
  },
};
