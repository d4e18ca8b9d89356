/**
 * Inputs beside the examples of the rules: the near misses on both sides of a condition.
 */
import { deployment, job, SERVICE } from '../../src/check/rules/examples.ts';

interface Case {
  readonly rule: string;
  readonly what: string;
  readonly text: string;
}

const WEB = '- name: web\n  image: example.com/web:1\n';
const hook = (preStop: string, spec = '') => deployment(`${WEB}  lifecycle: {preStop: ${preStop}}`, spec);
const command = (words: string, image = 'debian:12') =>
  deployment(`- name: web\n  image: ${image}\n  command: ${words}`);
const budget = (spec: string, replicas = 2) =>
  `${deployment(WEB).replace('replicas: 2', `replicas: ${replicas}`)}---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, ${spec}}\n`;
const sexton = (flags: string, spec = '', image = 'example.com/web:1') =>
  deployment(`- name: web\n  image: ${image}\n  command: [/sexton/sexton, run, ${flags}, --, /bin/server]`, spec);
const proxy = 'name: proxy, image: "envoyproxy/envoy:v1.31"';

export const FOUND: readonly Case[] = [
  { rule: 'SX101', what: 'a sleep in a shell', text: hook('{exec: {command: [sh, -c, "sleep 20; sleep 15"]}}') },
  { rule: 'SX101', what: 'a hook of just the grace period', text: hook('{sleep: {seconds: 30}}') },
  { rule: 'SX102', what: 'a drain that may take longer', text: sexton('--drain, "min=1s,quiet=2s,max=40s"') },
  {
    rule: 'SX103',
    what: "gunicorn's default behind a hook",
    text: deployment(`${WEB}  command: [gunicorn, app]\n  lifecycle: {preStop: {sleep: {seconds: 5}}}`),
  },
  {
    rule: 'SX201',
    what: 'a loop in any shell',
    text: command('[sh, -c, "while true; do work; done"]', 'example.com/any:1'),
  },
  { rule: 'SX201', what: 'a pipe in busybox', text: command('[sh, -c, "server | tee /log"]', 'alpine:3.20') },
  {
    rule: 'SX201',
    what: 'a list in a shell that is not known',
    text: command('[sh, -c, "a && b"]', 'example.com/any:1'),
  },
  { rule: 'SX202', what: 'uwsgi that would reload', text: command('[uwsgi, --ini, a.ini]') },
  {
    rule: 'SX202',
    what: 'the signal that sexton passes on',
    text: sexton('--stop-signals, "TERM"', '', 'alpine:3.20').replace('/bin/server', 'nginx'),
  },
  {
    rule: 'SX203',
    what: 'QUIT on Windows',
    text: deployment(`${WEB}  lifecycle: {stopSignal: SIGQUIT}`, 'os: {name: windows}\n'),
  },
  {
    rule: 'SX207',
    what: 'a probe by cat without a shell',
    text: deployment(
      '- name: web\n  image: gcr.io/distroless/base\n  readinessProbe: {exec: {command: [cat, /ready]}}',
    ),
  },
  { rule: 'SX501', what: 'maxUnavailable 0', text: budget('maxUnavailable: 0') },
  { rule: 'SX501', what: 'minAvailable 100%', text: budget('minAvailable: "100%"') },
  { rule: 'SX501', what: 'the one replica that is the default', text: budget('minAvailable: 1', 1) },
  {
    rule: 'SX801',
    what: 'a hook that takes its part',
    text: deployment(
      `- name: web\n  image: example.com/web:1\n  command: [/sexton/sexton, run, --grace-period, 30s, --, /bin/server]\n  lifecycle: {preStop: {sleep: {seconds: 5}}}`,
    ),
  },
  { rule: 'SX801', what: 'a grace period that is too short', text: sexton('--grace-period, 10s') },
  {
    rule: 'SX401',
    what: 'a proxy beside two mains',
    text: job(`- {name: a, image: "example.com/a:1"}\n- {name: b, image: "example.com/b:1"}\n- {${proxy}}`),
  },
];

export const CLEAN: readonly Case[] = [
  { rule: 'SX101', what: 'a hook of which nothing is known', text: hook('{httpGet: {port: 80}}') },
  { rule: 'SX101', what: 'a hook of a second less', text: hook('{sleep: {seconds: 29}}') },
  {
    rule: 'SX101',
    what: 'a declared hook',
    text: hook('{exec: {command: [drain]}}').replace(
      'metadata: {name: web}',
      'metadata: {name: web, annotations: {check.sexton.dev/prestop-seconds: "5"}}',
    ),
  },
  { rule: 'SX104', what: 'a short hook', text: hook('{sleep: {seconds: 15}}') },
  {
    rule: 'SX105',
    what: 'a short grace period without a Service',
    text: deployment(WEB, 'terminationGracePeriodSeconds: 5\n'),
  },
  { rule: 'SX109', what: 'a Job without a grace period', text: job(WEB, 'terminationGracePeriodSeconds: 0\n') },
  { rule: 'SX201', what: 'a trap', text: command('[sh, -c, "trap \'exit 0\' TERM; while true; do sleep 1; done"]') },
  { rule: 'SX201', what: 'exec at the end', text: command('[bash, -c, "a; exec b"]') },
  {
    rule: 'SX201',
    what: 'busybox, which becomes its last command',
    text: command('[sh, -c, "a && b"]', 'alpine:3.20'),
  },
  { rule: 'SX201', what: 'bash with a plain last command', text: command('[bash, -c, "a && b"]') },
  {
    rule: 'SX201',
    what: 'a shared process namespace',
    text: deployment('- name: web\n  image: debian:12\n  command: [sh, -c, "a && b"]', 'shareProcessNamespace: true\n'),
  },
  {
    rule: 'SX201',
    what: 'a shell under sexton',
    text: deployment('- name: web\n  image: debian:12\n  command: [/sexton/sexton, run, --, sh, -c, "a && b"]'),
  },
  { rule: 'SX202', what: 'an image whose signal is not known', text: command('[nginx]', 'example.com/nginx:1') },
  { rule: 'SX202', what: 'the httpd of busybox', text: command('[httpd, -f]', 'busybox:1.37') },
  { rule: 'SX202', what: 'postgres', text: command('[postgres]', 'postgres:17') },
  { rule: 'SX206', what: 'npm under sexton', text: sexton('--drain, 1s').replace('/bin/server', 'npm, start') },
  {
    rule: 'SX208',
    what: 'a quit that the platform sends again',
    text: deployment('- name: web\n  image: nginx:1.29\n  lifecycle: {preStop: {exec: {command: [nginx, -s, quit]}}}'),
  },
  {
    rule: 'SX210',
    what: 'a sleep with more behind it',
    text: hook('{exec: {command: [sh, -c, "sleep 5; nginx -s quit"]}}'),
  },
  {
    rule: 'SX301',
    what: 'a headless Service',
    text: deployment(WEB) + SERVICE.replace('spec:\n', 'spec:\n  clusterIP: None\n'),
  },
  { rule: 'SX301', what: 'a Service of other pods', text: deployment(WEB) + SERVICE.replace('app: web', 'app: other') },
  { rule: 'SX301', what: 'a drain by sexton', text: sexton('--drain, 5s') + SERVICE },
  {
    rule: 'SX401',
    what: 'a main that asks the proxy to leave',
    text: job(
      `- {name: work, image: "example.com/work:1", command: [sh, -c, "work; curl -X POST localhost:15000/quitquitquit"]}\n- {${proxy}}`,
    ),
  },
  { rule: 'SX401', what: 'a Job of one container', text: job(`- {${proxy}}`) },
  { rule: 'SX404', what: 'a proxy that is the main', text: deployment(`- {${proxy}}`) },
  {
    rule: 'SX404',
    what: 'a proxy with a hook',
    text: deployment(`${WEB}- {${proxy}, lifecycle: {preStop: {sleep: {seconds: 5}}}}`),
  },
  {
    rule: 'SX405',
    what: 'a pod without hooks',
    text: deployment(
      `${WEB}  restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]`,
    ),
  },
  {
    rule: 'SX501',
    what: 'a budget of other pods',
    text: budget('minAvailable: 2').replace('matchLabels: {app: web}}, min', 'matchLabels: {app: other}}, min'),
  },
  { rule: 'SX501', what: 'maxUnavailable 1', text: budget('maxUnavailable: 1') },
  { rule: 'SX501', what: 'a workload that is scaled to 0', text: budget('minAvailable: 1', 0) },
  {
    rule: 'SX801',
    what: 'a grace period less the hook',
    text: deployment(
      `- name: web\n  image: example.com/web:1\n  command: [/sexton/sexton, run, --grace-period, 25s, --, /bin/server]\n  lifecycle: {preStop: {sleep: {seconds: 5}}}`,
    ),
  },
  { rule: 'SX802', what: 'sexton without a graveyard', text: sexton('--drain, 5s') },
  { rule: 'SX804', what: 'sexton without a graveyard', text: sexton('--drain, 5s') },
  { rule: 'SX807', what: 'a fixed drain', text: sexton('--drain, 5s', 'hostNetwork: true\n') },
];
