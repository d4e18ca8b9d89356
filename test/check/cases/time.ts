import { deployment, SERVICE } from '../../../src/check/rules/examples.ts';
import { asCronJob, type Case, hooked, under, WEB } from './case.ts';

const grace = (seconds: number): string => `terminationGracePeriodSeconds: ${seconds}\n`;
const sleep = (seconds: number): string => `{sleep: {seconds: ${seconds}}}`;
const native = (more: string): string =>
  `initContainers:\n  - {name: proxy, image: "example.com/proxy:1", restartPolicy: Always, ${more}}\n`;
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

export const TIME_CASES: readonly Case[] = [
  {
    rule: 'SX101',
    what: 'the hook of a native sidecar',
    text: deployment(WEB, native('lifecycle: {preStop: {sleep: {seconds: 30}}}')),
    says: [/^error @30000 \[.*\] native sidecar proxy: /],
  },
  {
    rule: 'SX101',
    what: 'a grace period that is written, and raises it there',
    text: hooked(sleep(35), grace(20)),
    says: [/^error @20000 \[.*\] web: /],
    fixed: '\n      terminationGracePeriodSeconds: 65\n      containers',
  },
  {
    rule: 'SX101',
    what: 'a grace period without a value, and writes no second one',
    text: hooked(sleep(35), 'terminationGracePeriodSeconds:\n'),
    says: [/^error @30000 /],
    fixed: false,
  },
  {
    rule: 'SX101',
    what: 'a grace period that is written as a text',
    text: hooked(sleep(35), 'terminationGracePeriodSeconds: "20"\n'),
    says: [/^error @20000 /],
    fixed: '\n      terminationGracePeriodSeconds: 65\n      containers',
  },
  { rule: 'SX101', what: 'a pod that is killed at once', text: hooked(sleep(5), grace(0)), says: [] },
  {
    rule: 'SX102',
    what: 'a drain of the whole grace period',
    text: under('--drain, 30s', grace(30)),
    says: [/^error @30000 .*at least 30 s/],
  },
  {
    rule: 'SX102',
    what: 'a drain and rungs that may take longer',
    text: under('--drain, 10s, --stop, "TERM:21s,KILL"', grace(30)),
    says: [/^warning @30000 .*up to 31 s/],
  },
  {
    rule: 'SX102',
    what: 'a drain and rungs that just fit',
    text: under('--drain, 10s, --stop, "TERM:20s,KILL"', grace(30)),
    says: [],
  },
  {
    rule: 'SX102',
    what: 'a hook of its own without an end',
    text: under('--pre-stop, "exec:/bin/drain"', grace(30)),
    says: [],
  },
  { rule: 'SX103', what: 'a timeout that just fits', text: deployment(gunicorn(60), grace(60)), says: [] },
  {
    rule: 'SX103',
    what: 'a timeout without a hook',
    text: deployment(gunicorn(61), grace(60)),
    says: [/may take 61 s, the grace/],
  },
  {
    rule: 'SX103',
    what: 'a timeout behind a hook',
    text: deployment(gunicorn(60, `  lifecycle: {preStop: ${sleep(5)}}`), grace(60)),
    says: [/may take 60 s after 5 s of hook and drain, the grace/],
    fixed: 'terminationGracePeriodSeconds: 70\n',
  },
  {
    rule: 'SX104',
    what: 'a hook of just half the time',
    text: hooked('{exec: {command: [sleep, "15.000"]}}'),
    says: [],
  },
  {
    rule: 'SX104',
    what: 'a hook of a little more',
    text: hooked('{exec: {command: [sleep, "15.001"]}}'),
    says: [/^warning @15001 /],
  },
  { rule: 'SX104', what: 'a hook of all the time, of which SX101 tells', text: hooked(sleep(30)), says: [] },
  {
    rule: 'SX104',
    what: 'a hook of nearly all the time',
    text: hooked('{exec: {command: [sleep, "29.999"]}}'),
    says: [/^warning @29999 /],
  },
  {
    rule: 'SX105',
    what: 'a grace period of 1 s, of which SX109 tells',
    text: deployment(WEB, grace(1)) + SERVICE,
    says: [],
  },
  {
    rule: 'SX105',
    what: 'a grace period of 2 s',
    text: deployment(WEB, grace(2)) + SERVICE,
    says: [/^info @2000 \[2\] /],
  },
  {
    rule: 'SX105',
    what: 'a grace period of 9 s',
    text: deployment(WEB, grace(9)) + SERVICE,
    says: [/^info @9000 \[9\] /],
  },
  { rule: 'SX105', what: 'a grace period of 10 s', text: deployment(WEB, grace(10)) + SERVICE, says: [] },
  {
    rule: 'SX106',
    what: 'the container whose hook it is',
    text: deployment(
      `- {name: other, image: "example.com/o:1"}\n${WEB}  lifecycle: {preStop: ${sleep(26)}}`,
      grace(60),
    ),
    flags: ['--scenario', 'spot=25'],
    says: [/^warning @\d+ .* web: /],
  },
  {
    rule: 'SX106',
    what: 'a hook that takes just what the scenario leaves',
    text: hooked(sleep(25), grace(60)),
    flags: ['--scenario', 'spot=25'],
    says: [/^warning /],
  },
  {
    rule: 'SX106',
    what: 'a hook of which nothing is known',
    text: hooked('{httpGet: {port: 80}}', grace(60)),
    flags: ['--scenario', 'spot=25'],
    says: [],
  },
  {
    rule: 'SX106',
    what: 'a hook under sexton of which nothing is known',
    text: under('--pre-stop, "exec:/bin/drain"', grace(60)),
    flags: ['--scenario', 'spot=25'],
    says: [],
  },
  {
    rule: 'SX107',
    what: 'each sidecar by its name',
    text: deployment(
      gunicorn(25),
      `initContainers:\n  - {name: first, image: "example.com/a:1", restartPolicy: Always, command: [envoy]}\n  - {name: last, image: "example.com/b:1", restartPolicy: Always, command: [gunicorn, --graceful-timeout=20, a]}\n`,
    ),
    says: [/native sidecar last: gets TERM after up to 25 s and needs 20 s/],
  },
  {
    rule: 'SX107',
    what: 'a sidecar that just fits',
    text: deployment(gunicorn(25), native('command: [gunicorn, --graceful-timeout=5, a]')),
    says: [],
  },
  {
    rule: 'SX107',
    what: 'a sidecar that just fits behind what the kubelet rounds',
    text: declared(
      deployment(gunicorn(25), native('command: [envoy]')),
      'check.sexton.dev/stop-seconds.proxy: "5.999"',
    ),
    says: [],
  },
  {
    rule: 'SX107',
    what: 'a sidecar that gets TERM at once',
    text: declared(
      deployment(WEB, `${grace(10)}${native('command: [gunicorn, --graceful-timeout=20, a]')}`),
      'check.sexton.dev/stop-seconds.web: "0"',
    ),
    says: [],
  },
  {
    rule: 'SX107',
    what: 'a main behind its hook',
    text: deployment(gunicorn(60, `  lifecycle: {preStop: ${sleep(5)}}`), grace(30)),
    says: [],
  },
  {
    rule: 'SX107',
    what: 'a sidecar of which nothing is known',
    text: deployment(gunicorn(25), native('command: [envoy]')),
    says: [],
  },
  {
    rule: 'SX108',
    what: 'a probe that leaves just the time of the hook',
    text: probe(5),
    says: [/^warning @5000 \[5\] /],
  },
  { rule: 'SX108', what: 'a probe that leaves a second more', text: probe(6), says: [] },
  {
    rule: 'SX108',
    what: 'a probe that leaves nothing, where there is no hook',
    text: deployment(`${WEB}  livenessProbe: {httpGet: {port: 80}, terminationGracePeriodSeconds: 0}`),
    says: [],
  },
  { rule: 'SX109', what: 'a grace period of 1 s', text: deployment(WEB, grace(1)), says: [/^warning @0 \[1\] /] },
  { rule: 'SX109', what: 'a grace period of 2 s', text: deployment(WEB, grace(2)), says: [] },
  { rule: 'SX109', what: 'a CronJob', text: asCronJob(deployment(WEB, grace(0))), says: [] },
  {
    rule: 'SX110',
    what: 'the hook of a native sidecar, which serves nobody',
    text:
      deployment(WEB, native('lifecycle: {preStop: {sleep: {seconds: 20}}}')) +
      balanced('deregistration_delay.timeout_seconds=15'),
    says: [/^warning @0 /],
  },
  {
    rule: 'SX110',
    what: 'a hook as long as the delay',
    text: hooked(sleep(15)) + balanced('stickiness.enabled=true,deregistration_delay.timeout_seconds=15'),
    says: [],
  },
  {
    rule: 'SX110',
    what: 'a hook that the grace period cuts off',
    text: hooked('{exec: {command: [sleep, "40"]}}', grace(20)) + balanced('deregistration_delay.timeout_seconds=60'),
    says: [/^warning @20000 /],
  },
  {
    rule: 'SX110',
    what: 'a BackendConfig by its older annotation',
    text: hooked(sleep(5)) + configured('beta.cloud.google.com/backend-config', 'web'),
    says: [/^warning @5000 \[60\] /],
  },
  {
    rule: 'SX110',
    what: 'a BackendConfig of another namespace',
    text: hooked(sleep(5)) + configured('cloud.google.com/backend-config', 'other'),
    says: [],
  },
  {
    rule: 'SX110',
    what: 'other attributes of a balancer',
    text: hooked(sleep(5)) + balanced('stickiness.enabled=true'),
    says: [],
  },
  {
    rule: 'SX110',
    what: 'the delay that the pod declares, before that of its workload',
    text: declared(hooked(sleep(5)), 'check.sexton.dev/lb-seconds: "6"').replace(
      'labels: {app: web}}',
      'labels: {app: web}, annotations: {a: "9", check.sexton.dev/lb-seconds: "1m", b: "9"}}',
    ),
    says: [/^warning @5000 \["1m"\] .*for 60 s/],
  },
];
