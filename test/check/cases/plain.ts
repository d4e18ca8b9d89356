import { budget, deployment, hooked, job, SERVICE, started, under, WEB } from '../workloads.ts';
import { type Cases, FOUND } from './case.ts';

const guarded = (spec: string, replicas = 2) =>
  deployment(WEB).replace('replicas: 2', `replicas: ${replicas}`) + budget(spec);
const proxy = 'name: proxy, image: "envoyproxy/envoy:v1.31"';

export const PLAIN_CASES: Cases = {
  SX101: {
    'a sleep in a shell': [hooked('{exec: {command: [sh, -c, "sleep 20; sleep 15"]}}'), FOUND],
    'a hook of just the grace period': [hooked('{sleep: {seconds: 30}}'), FOUND],
    'a hook with nothing known about it': hooked('{httpGet: {port: 80}}'),
    'a hook of a second less': hooked('{sleep: {seconds: 29}}'),
    'a declared hook': hooked('{exec: {command: [drain]}}').replace(
      'metadata: {name: web}',
      'metadata: {name: web, annotations: {check.sexton.dev/prestop-seconds: "5"}}',
    ),
  },
  SX102: {
    'a drain that may take longer': [under('--drain, "min=1s,quiet=2s,max=40s"'), FOUND],
  },
  SX103: {
    "gunicorn's default behind a hook": [
      deployment(`${WEB}  command: [gunicorn, app]\n  lifecycle: {preStop: {sleep: {seconds: 5}}}`),
      FOUND,
    ],
  },
  SX201: {
    'a loop in any shell': [started('[sh, -c, "while true; do work; done"]', 'example.com/any:1'), FOUND],
    'a trap': started('[sh, -c, "trap \'exit 0\' TERM; while true; do sleep 1; done"]'),
    'exec at the end': started('[bash, -c, "a; exec b"]'),
    'bash with a plain last command': started('[bash, -c, "a && b"]'),
    'a shared process namespace': deployment(
      '- name: web\n  image: debian:12\n  command: [sh, -c, "a && b"]',
      'shareProcessNamespace: true\n',
    ),
    'a shell under sexton': deployment(
      '- name: web\n  image: debian:12\n  command: [/sexton/sexton, run, --, sh, -c, "a && b"]',
    ),
  },
  SX202: {
    'uwsgi that would reload': [started('[uwsgi, --ini, a.ini]'), FOUND],
    'the signal that sexton passes on': [
      under('--stop-signals, "TERM"', '', '', 'alpine:3.20').replace('/bin/server', 'nginx'),
      FOUND,
    ],
    'an image whose signal is not known': started('[nginx]', 'example.com/nginx:1'),
    'the httpd of busybox': started('[httpd, -f]', 'busybox:1.37'),
    postgres: started('[postgres]', 'postgres:17'),
  },
  SX203: {
    'QUIT on Windows': [deployment(`${WEB}  lifecycle: {stopSignal: SIGQUIT}`, 'os: {name: windows}\n'), FOUND],
  },
  SX501: {
    'maxUnavailable 0': [guarded('maxUnavailable: 0'), FOUND],
    'minAvailable 100%': [guarded('minAvailable: "100%"'), FOUND],
    'the one replica that is the default': [guarded('minAvailable: 1', 1), FOUND],
    'a budget of other pods': guarded('minAvailable: 2').replace(
      'matchLabels: {app: web}}, min',
      'matchLabels: {app: other}}, min',
    ),
    'maxUnavailable 1': guarded('maxUnavailable: 1'),
    'a workload that is scaled to 0': guarded('minAvailable: 1', 0),
  },
  SX801: {
    'a grace period of a second': deployment(
      `- {name: web, image: "example.com/web:1", command: [/sexton/sexton, run, --grace-period, 1s, --, /bin/server]}\n`,
      'terminationGracePeriodSeconds: 1\n',
    ),
    'a grace period less the hook': deployment(
      `- name: web\n  image: example.com/web:1\n  command: [/sexton/sexton, run, --grace-period, 25s, --, /bin/server]\n  lifecycle: {preStop: {sleep: {seconds: 5}}}`,
    ),
  },
  SX401: {
    'a proxy beside two mains': [
      job(`- {name: a, image: "example.com/a:1"}\n- {name: b, image: "example.com/b:1"}\n- {${proxy}}`),
      FOUND,
    ],
    'a main that asks the proxy to leave': job(
      `- {name: work, image: "example.com/work:1", command: [sh, -c, "work; curl -X POST localhost:15000/quitquitquit"]}\n- {${proxy}}`,
    ),
    'a Job of one container': job(`- {${proxy}}`),
  },
  SX105: {
    'a short grace period without a Service': deployment(WEB, 'terminationGracePeriodSeconds: 5\n'),
  },
  SX109: {
    'a Job without a grace period': job(WEB, 'terminationGracePeriodSeconds: 0\n'),
  },
  SX206: {
    'npm under sexton': under('--drain, 1s').replace('/bin/server', 'npm, start'),
  },
  SX208: {
    'a quit that the platform sends again': deployment(
      '- name: web\n  image: nginx:1.29\n  lifecycle: {preStop: {exec: {command: [nginx, -s, quit]}}}',
    ),
  },
  SX210: {
    'a sleep with more behind it': hooked('{exec: {command: [sh, -c, "sleep 5; nginx -s quit"]}}'),
  },
  SX301: {
    'a headless Service': deployment(WEB) + SERVICE.replace('spec:\n', 'spec:\n  clusterIP: None\n'),
    'a Service of other pods': deployment(WEB) + SERVICE.replace('app: web', 'app: other'),
    'a drain by sexton': under('--drain, 5s') + SERVICE,
  },
  SX404: {
    'a proxy that is the main': deployment(`- {${proxy}}`),
    'a proxy with a hook': deployment(`${WEB}- {${proxy}, lifecycle: {preStop: {sleep: {seconds: 5}}}}`),
  },
  SX405: {
    'a pod without hooks': deployment(
      `${WEB}  restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]`,
    ),
  },
  SX802: {
    'sexton without a graveyard': under('--drain, 5s'),
  },
  SX804: {
    'sexton without a graveyard': under('--drain, 5s'),
  },
  SX807: {
    'a fixed drain': under('--drain, 5s', 'hostNetwork: true\n'),
  },
};
