import { asCronJob, deployment, hooked, SERVICE, under, WEB } from '../workloads.ts';
import { type Cases, each, scenario } from './case.ts';

const grace = (seconds: number): string => `terminationGracePeriodSeconds: ${seconds}\n`;
const sleep = (seconds: number): string => `{sleep: {seconds: ${seconds}}}`;
const native = (more: string): string =>
  `initContainers:\n  - {name: proxy, image: "example.com/proxy:1", restartPolicy: Always, ${more}}\n`;
const script = (text: string, options = '-c'): string =>
  hooked(`{exec: {command: [sh, ${options}, ${JSON.stringify(text)}]}}`);
const gunicorn = (seconds: number, more = ''): string =>
  `${WEB}  command: [gunicorn, --graceful-timeout, "${seconds}", app]\n${more}`;
const declared = (text: string, annotations: string): string =>
  text.replace('metadata: {name: web}', `metadata: {name: web, annotations: {${annotations}}}`);
const balanced = (attributes: string): string =>
  SERVICE.replace(
    'metadata: {name: web}',
    `metadata: {name: web, annotations: {service.beta.kubernetes.io/aws-load-balancer-target-group-attributes: "${attributes}"}}`,
  );
const configured = (annotation: string, namespace: string): string =>
  `${SERVICE.replace('metadata: {name: web}', `metadata: {name: web, namespace: web, annotations: {${annotation}: '{"default": "slow"}'}}`)}---
apiVersion: cloud.google.com/v1
kind: BackendConfig
metadata: {name: slow, namespace: ${namespace}}
spec: {connectionDraining: {drainingTimeoutSec: 60}}
`;
const probe = (seconds: number, hook = 5): string =>
  deployment(
    `${WEB}  lifecycle: {preStop: ${sleep(hook)}}\n  livenessProbe: {httpGet: {port: 80}, terminationGracePeriodSeconds: ${seconds}}`,
  );

export const TIME_CASES: Cases = {
  SX101: {
    'the hook of a native sidecar': [
      deployment(WEB, native('lifecycle: {preStop: {sleep: {seconds: 30}}}')),
      /^error @30000 \[.*\] native sidecar proxy: /,
    ],
    'a grace period that is written, and raises it there': [
      hooked(sleep(35), grace(20)),
      /^error @20000 \[.*\] web: /,
      '\n      terminationGracePeriodSeconds: 65\n      containers',
    ],
    'a grace period without a value, and writes it there': [
      hooked(sleep(35), 'terminationGracePeriodSeconds:\n'),
      /^error @30000 /,
      '\n    spec:\n      terminationGracePeriodSeconds: 65\n      containers',
    ],
    'a grace period of null, and writes no second one': [
      hooked(sleep(35), 'terminationGracePeriodSeconds: null\n'),
      /^error @30000 /,
      false,
    ],
    'a grace period that is written as a text': [
      hooked(sleep(35), 'terminationGracePeriodSeconds: "20"\n'),
      /^error @20000 /,
      '\n      terminationGracePeriodSeconds: 65\n      containers',
    ],
    'a pod that is killed at once': hooked(sleep(5), grace(0)),
    ...each(
      [
        'rm -f /tmp/ready; sleep 40',
        'rm -f /tmp/ready\nsleep 40\n',
        'sleep 15 && rm -f /tmp/ready; sleep 25 || true',
        '(log bye; exit) ; sleep 40',
        'log "$(date; id)" & sleep 40',
        '[ -f /tmp/ready ] &&\n  rm /tmp/ready # sleep 5\nsleep 40',
        'true && sleep 40; log bye',
      ],
      (text) => [`${JSON.stringify(text)}, which sleeps in any case`, [script(text), /^error .* at least 40 s in a/]],
    ),
    ...each(
      [
        'rm /tmp/ready && sleep 40',
        'rm /tmp/ready &&\nsleep 40',
        'deregister && true && sleep 40',
        'deregister || sleep 40',
        'deregister ||\nsleep 40',
        'deregister | sleep 40; log bye',
        'sleep 40 | log',
        'sleep 40 & log',
        'sleep 40 && log & log',
        '(log; sleep 40; log) & log',
        'if is-last; then log; sleep 40; fi',
        'case $A in a|b) log; sleep 40;; esac',
        'wait() { log; sleep 40; }; log',
        '[ -f /tmp/ready ] || exit 0; sleep 40',
        'set -e; deregister; sleep 40',
        'nginx -s quit; sleep 40',
        'kill -QUIT 1; sleep 40',
        'log <<END\nsleep 40\nEND',
      ],
      (text) => [`${JSON.stringify(text)}, which may not sleep`, script(text)],
    ),
    'a sleep in a shell that leaves at the first failure': script('deregister; sleep 40', '-ec'),
  },
  SX102: {
    'nothing to do in a pod that is killed at once': under('--log-level, info', grace(0)),
    'a drain of the whole grace period': [under('--drain, 30s', grace(30)), /^error @30000 .*at least 30 s/],
    'a drain and rungs that may take longer': [
      under('--drain, 10s, --stop, "TERM:21s,KILL"', grace(30)),
      /^warning @30000 .*up to 31 s/,
    ],
    'a drain and rungs that just fit': under('--drain, 10s, --stop, "TERM:20s,KILL"', grace(30)),
    'a hook of its own without an end': under('--pre-stop, "exec:/bin/drain"', grace(30)),
  },
  SX103: {
    'a timeout that just fits': deployment(gunicorn(60), grace(60)),
    'a timeout in GUNICORN_CMD_ARGS': [
      deployment(
        `${WEB}  env: [{name: GUNICORN_CMD_ARGS, value: "-w 4 --graceful-timeout 61"}]\n  command: [gunicorn, app]\n`,
        grace(60),
      ),
      /may take 61 s, the grace/,
    ],
    'a timeout on the command line, which beats GUNICORN_CMD_ARGS': deployment(
      gunicorn(60, '  env: [{name: GUNICORN_CMD_ARGS, value: "--graceful-timeout=61"}]\n'),
      grace(60),
    ),
    'a timeout without a hook': [deployment(gunicorn(61), grace(60)), /may take 61 s, the grace/],
    'a timeout behind a hook': [
      deployment(gunicorn(60, `  lifecycle: {preStop: ${sleep(5)}}`), grace(60)),
      /may take 60 s after 5 s of hook and drain, the grace/,
      'terminationGracePeriodSeconds: 70\n',
    ],
  },
  SX104: {
    'a hook of just half the time': hooked('{exec: {command: [sleep, "15.000"]}}'),
    'a hook of a little more': [hooked('{exec: {command: [sleep, "15.001"]}}'), /^warning @15001 /],
    'a sleep behind another command': [script('rm -f /tmp/ready; sleep 25'), /^warning @25000 /],
    'a hook of all the time, which SX101 reports': hooked(sleep(30)),
    'a hook of nearly all the time': [hooked('{exec: {command: [sleep, "29.999"]}}'), /^warning @29999 /],
  },
  SX105: {
    'a grace period of 1 s, which SX109 reports': deployment(WEB, grace(1)) + SERVICE,
    'a grace period of 2 s': [deployment(WEB, grace(2)) + SERVICE, /^info @2000 \[2\] /],
    'a grace period of 9 s': [deployment(WEB, grace(9)) + SERVICE, /^info @9000 \[9\] /],
    'a grace period of 10 s': deployment(WEB, grace(10)) + SERVICE,
  },
  SX106: {
    'the container whose hook it is': [
      deployment(`- {name: other, image: "example.com/o:1"}\n${WEB}  lifecycle: {preStop: ${sleep(26)}}`, grace(60)),
      /^warning @\d+ .* web: /,
      scenario('spot=25'),
    ],
    'a hook that takes just what the scenario leaves': [hooked(sleep(25), grace(60)), /^warning /, scenario('spot=25')],
    'a hook with nothing known about it': [hooked('{httpGet: {port: 80}}', grace(60)), scenario('spot=25')],
    'a hook under sexton with nothing known about it': [
      under('--pre-stop, "exec:/bin/drain"', grace(60)),
      scenario('spot=25'),
    ],
  },
  SX107: {
    'each sidecar by its name': [
      deployment(
        gunicorn(25),
        `initContainers:\n  - {name: first, image: "example.com/a:1", restartPolicy: Always, command: [envoy]}\n  - {name: last, image: "example.com/b:1", restartPolicy: Always, command: [gunicorn, --graceful-timeout=20, a]}\n`,
      ),
      /native sidecar last: gets TERM after up to 25 s and needs 20 s/,
    ],
    'a sidecar that just fits': deployment(gunicorn(25), native('command: [gunicorn, --graceful-timeout=5, a]')),
    'a sidecar that just fits behind what the kubelet rounds': declared(
      deployment(gunicorn(25), native('command: [envoy]')),
      'check.sexton.dev/stop-seconds.proxy: "5.999"',
    ),
    'a sidecar that gets TERM at once': declared(
      deployment(WEB, `${grace(10)}${native('command: [gunicorn, --graceful-timeout=20, a]')}`),
      'check.sexton.dev/stop-seconds.web: "0"',
    ),
    'a main behind its hook': deployment(gunicorn(60, `  lifecycle: {preStop: ${sleep(5)}}`), grace(30)),
    'a sidecar with nothing known about it': deployment(gunicorn(25), native('command: [envoy]')),
  },
  SX108: {
    'a probe that leaves just the time of the hook': [probe(5), /^warning @5000 \[5\] /],
    'a probe that leaves a second more': probe(6),
    'a probe that leaves nothing, where there is no hook': deployment(
      `${WEB}  livenessProbe: {httpGet: {port: 80}, terminationGracePeriodSeconds: 0}`,
    ),
  },
  SX109: {
    'a grace period of 1 s': [deployment(WEB, grace(1)), /^warning @0 \[1\] /],
    'a grace period of 2 s': deployment(WEB, grace(2)),
    'a CronJob': asCronJob(deployment(WEB, grace(0))),
  },
  SX110: {
    'the hook of a native sidecar, which does not serve': [
      deployment(WEB, native('lifecycle: {preStop: {sleep: {seconds: 20}}}')) +
        balanced('deregistration_delay.timeout_seconds=15'),
      /^warning @0 /,
    ],
    'a hook as long as the delay':
      hooked(sleep(15)) + balanced('stickiness.enabled=true,deregistration_delay.timeout_seconds=15'),
    'a hook that the grace period cuts off': [
      hooked('{exec: {command: [sleep, "40"]}}', grace(20)) + balanced('deregistration_delay.timeout_seconds=60'),
      /^warning @20000 /,
    ],
    'a BackendConfig by its older annotation': [
      hooked(sleep(5)) + configured('beta.cloud.google.com/backend-config', 'web'),
      /^warning @5000 \[60\] /,
    ],
    'other attributes of a balancer': hooked(sleep(5)) + balanced('stickiness.enabled=true'),
    'the delay that the pod declares, before that of its workload': [
      declared(hooked(sleep(5)), 'check.sexton.dev/lb-seconds: "6"').replace(
        'labels: {app: web}}',
        'labels: {app: web}, annotations: {a: "9", check.sexton.dev/lb-seconds: "1m", b: "9"}}',
      ),
      /^warning @5000 \["1m"\] .*for 60 s/,
    ],
  },
};
