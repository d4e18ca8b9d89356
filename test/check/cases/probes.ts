import { type Case, under } from './case.ts';

const DRAIN = '--drain, "min=1s,quiet=2s,max=15s"';

function probed(probe: string, drain = DRAIN, spec = '', more = ''): string {
  return under(drain, spec, `  ports: [{name: web, containerPort: 8080}]\n  readinessProbe: ${probe}\n${more}`);
}

export const PROBE_CASES: readonly Case[] = [
  {
    rule: 'SX808',
    what: 'a probe that comes as often as the drain waits, and says how long it takes',
    text: probed('{httpGet: {port: 8080}, periodSeconds: 2}'),
    says: [
      /^warning @15000 \[\{httpGet: \{port: 8080\}, periodSeconds: 2\}\] web: its readiness probe on port 8080 comes every 2 s, .* waits for 2 s .* takes 15 s each time$/,
    ],
  },
  {
    rule: 'SX808',
    what: 'a probe that comes less often',
    text: probed('{httpGet: {port: 8080}, periodSeconds: 3}'),
    says: [],
  },
  { rule: 'SX808', what: 'the period that a probe has by default', text: probed('{httpGet: {port: 8080}}'), says: [] },
  {
    rule: 'SX808',
    what: 'the period that a probe has by default, where the drain waits for longer',
    text: probed('{tcpSocket: {port: 8080}}', '--drain, "min=1s,quiet=11s,max=25s"'),
    says: [/ comes every 10 s, /],
  },
  {
    rule: 'SX808',
    what: 'a port by its name',
    text: probed('{tcpSocket: {port: web}, periodSeconds: 1}'),
    says: [/on port 8080 /],
  },
  ...['8080a', 'a8080'].map(
    (port): Case => ({
      rule: 'SX808',
      what: `the name ${port}, which is no number`,
      text: probed(`{tcpSocket: {port: ${port}}, periodSeconds: 1}`),
      says: [],
    }),
  ),
  {
    rule: 'SX808',
    what: 'a port by a name that nothing has',
    text: probed('{tcpSocket: {port: other}, periodSeconds: 1}'),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'a probe of gRPC on a port that is named',
    text: probed('{grpc: {port: 9000}, periodSeconds: 1}', '--drain, "quiet=2s,max=15s,ports=9000"'),
    says: [/on port 9000 /],
  },
  {
    rule: 'SX808',
    what: 'a port whose connections do not count',
    text: probed('{grpc: {port: 9000}, periodSeconds: 1}', '--drain, "quiet=2s,max=15s,ports=8080"'),
    says: [],
  },
  { rule: 'SX808', what: 'a probe by a program', text: probed('{exec: {command: [a]}, periodSeconds: 1}'), says: [] },
  {
    rule: 'SX808',
    what: 'a probe that asks another host',
    text: probed('{httpGet: {port: 8080, host: 10.1.2.3}, periodSeconds: 1}'),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'a probe at the port of sexton itself',
    text: probed('{httpGet: {port: 9700}, periodSeconds: 1}', `${DRAIN}, --http, ":9700"`),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'a probe beside the port of sexton itself',
    text: probed('{httpGet: {port: 9701}, periodSeconds: 1}', `${DRAIN}, --http, ":9700"`),
    says: [/on port 9701 /],
  },
  {
    rule: 'SX808',
    what: 'a probe of a sidecar that is asked by its name',
    text: probed('{httpGet: {port: 15021}, periodSeconds: 1}', `${DRAIN}, --start-after, istio=ready`),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'addresses that are ignored',
    text: probed('{httpGet: {port: 8080}, periodSeconds: 1}', '--drain, "quiet=2s,max=15s,ignore=10.1.2.3"'),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'the network of the host, of which SX807 tells',
    text: probed('{httpGet: {port: 8080}, periodSeconds: 1}', DRAIN, 'hostNetwork: true\n'),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'a fixed drain',
    text: probed('{httpGet: {port: 8080}, periodSeconds: 1}', '--drain, 5s'),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'a liveness probe, which the kubelet ends with the stop request',
    text: probed('{httpGet: {port: 8080}}', DRAIN, '', '  livenessProbe: {httpGet: {port: 8080}, periodSeconds: 1}\n'),
    says: [],
  },
  {
    rule: 'SX808',
    what: 'the probe of another container, which shares the network',
    text: probed(
      '{exec: {command: [a]}}',
      DRAIN,
      '',
      '- name: metrics\n  image: example.com/m:1\n  readinessProbe: {tcpSocket: {port: 9100}, periodSeconds: 1}\n',
    ),
    says: [/web: metrics's readiness probe on port 9100 /],
  },
];
