import { deployment, job, SERVICE } from '../../../src/check/rules/examples.ts';
import { type Case, under, WEB } from './case.ts';

const PROXY = '{name: proxy, image: "envoyproxy/envoy:v1.31"}';
const LOGS = '{name: logs, image: "fluent/fluent-bit:3.1"}';
const HOOK = '  lifecycle: {preStop: {sleep: {seconds: 5}}}\n';
const native = (more = ''): string =>
  `initContainers:\n  - {name: side, image: "example.com/side:1", restartPolicy: Always${more}}\n`;
const labelled = (text: string): string =>
  text.replace(/template:\n {4}spec:/, 'template:\n    metadata: {labels: {app: web}}\n    spec:');
const barePod = (text: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec:\n  containers:\n    ${text}`;
const budget = (spec: string): string =>
  `---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, ${spec}}\n`;
const scaler = (spec: string): string =>
  `---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, ${spec}}\n`;
const unsaid = (text: string): string => text.replace('  replicas: 2\n', '');
const killAll = '  restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]\n';

/** As their injectors and documentations write them. */
const SIDECAR_IMAGES = [
  ['istio', '{name: side, image: "docker.io/istio/proxyv2:1.29.0"}'],
  ['linkerd', '{name: side, image: "cr.l5d.io/linkerd/proxy:edge-26.1.1"}'],
  ['dapr', '{name: side, image: "ghcr.io/dapr/daprd:1.17.0"}'],
  ['vault agent by its words', '{name: side, image: "hashicorp/vault:1.19", args: [agent, -config=/vault/config.hcl]}'],
  [
    'vault agent in a shell',
    '{name: side, image: "hashicorp/vault:1.19", command: [/bin/sh, -ec], args: ["base64 -d > a && vault agent -config=a"]}',
  ],
  ['cloud-sql-proxy of version 1', '{name: side, image: "gcr.io/cloudsql-docker/gce-proxy:1.37"}'],
  ['consul', '{name: side, image: "hashicorp/consul-dataplane:1.9"}'],
  ['envoy of App Mesh', '{name: side, image: "public.ecr.aws/appmesh/aws-appmesh-envoy:v1.34"}'],
] as const;

export const POD_CASES: readonly Case[] = [
  { rule: 'SX301', what: 'a Job behind a Service', text: labelled(job(WEB)) + SERVICE, says: [] },
  {
    rule: 'SX301',
    what: 'a main beside a native sidecar with a hook',
    text: deployment(WEB, native(', lifecycle: {preStop: {sleep: {seconds: 5}}}')) + SERVICE,
    says: [/^info @0 \[web\] web: /],
  },
  {
    rule: 'SX301',
    what: 'the container with ports among several',
    text: deployment(`- {name: first, image: "example.com/a:1"}\n${WEB}  ports: [{containerPort: 80}]`) + SERVICE,
    says: [/^info @0 \[web\] web: /],
  },
  {
    rule: 'SX301',
    what: 'the first container where none has ports',
    text: deployment(`- {name: first, image: "example.com/a:1"}\n${WEB}`) + SERVICE,
    says: [/^info @0 \[first\] first: /],
  },
  {
    rule: 'SX301',
    what: 'a container with a postStart, which it does not touch',
    text:
      deployment(`${WEB}  lifecycle: {postStart: {exec: {command: [warm]}}}`, 'terminationGracePeriodSeconds: 20\n') +
      SERVICE,
    says: [/^info /],
    fixed: false,
  },
  {
    rule: 'SX301',
    what: 'the default grace period, which has room for the sleep',
    text: deployment(WEB) + SERVICE,
    says: [/^info /],
    fixed: '    spec:\n      containers:\n        - name: web\n          lifecycle: {preStop:',
  },
  {
    rule: 'SX301',
    what: 'a grace period that is written, and raises it by as much',
    text: deployment(WEB, 'terminationGracePeriodSeconds: 5\n') + SERVICE,
    says: [/^info /],
    fixed: 'terminationGracePeriodSeconds: 10\n',
  },
  {
    rule: 'SX301',
    what: 'a container with merged keys, and writes to its own',
    text: `${deployment('- &a\n  image: a/b:1\n  name: web\n- <<: *a\n  name: two\n  ports: [{containerPort: 80}]')}${SERVICE}`,
    says: [/^info @0 \[two\] two: /],
    fixed: 'name: two\n          lifecycle: {preStop: {sleep: {seconds: 5}}}\n',
  },
  {
    rule: 'SX301',
    what: 'a pod that is killed at once, and leaves it so',
    text: deployment(WEB, 'terminationGracePeriodSeconds: 0\n') + SERVICE,
    says: [/^info /],
    fixed: false,
  },
  {
    rule: 'SX301',
    what: 'Kubernetes 1.29, which has no sleep to write',
    text: deployment(WEB) + SERVICE,
    flags: ['--kubernetes-version', '1.29'],
    says: [/^info /],
    fixed: false,
  },
  {
    rule: 'SX301',
    what: 'Kubernetes 1.30, which has one',
    text: deployment(WEB) + SERVICE,
    flags: ['--kubernetes-version', '1.30'],
    says: [/^info /],
    fixed: '{preStop: {sleep: {seconds: 5}}}',
  },
  {
    rule: 'SX301',
    what: 'sexton without a drain',
    text: under('--name, web') + SERVICE,
    says: [/^info /],
  },
  { rule: 'SX301', what: 'a pre-stop by sexton', text: under('--pre-stop, "exec:/bin/drain"') + SERVICE, says: [] },
  {
    rule: 'SX301',
    what: 'sexton whose configuration cannot be seen',
    text: under('--config, /etc/sexton.json') + SERVICE,
    says: [],
  },
  ...['docker.io/istio/proxyv2:1.29.0', 'auto'].map(
    (image): Case => ({
      rule: 'SX301',
      what: `the gateway of Istio (${image}), which drains by itself`,
      text: deployment(`- {name: istio-proxy, image: "${image}"}`) + SERVICE,
      says: [],
    }),
  ),
  {
    rule: 'SX301',
    what: 'a main beside the proxy of Istio',
    text: deployment(`${WEB}- {name: istio-proxy, image: auto}`) + SERVICE,
    says: [/^info @0 \[web\] /],
  },
  {
    rule: 'SX302',
    what: 'the gateway of Istio, whose probe is injected',
    text: deployment('- {name: istio-proxy, image: auto}') + SERVICE,
    says: [],
  },
  {
    rule: 'SX302',
    what: 'a proxy of Istio that is written out',
    text: deployment('- {name: istio-proxy, image: "istio/proxyv2:1.29.0"}') + SERVICE,
    says: [/^warning .* istio-proxy: has no readinessProbe, /],
  },
  { rule: 'SX302', what: 'a Job behind a Service', text: labelled(job(WEB)) + SERVICE, says: [] },
  {
    rule: 'SX302',
    what: 'a pod that nothing rolls out',
    text: barePod('- {name: web, image: "example.com/web:1"}\n') + SERVICE,
    says: [],
  },
  { rule: 'SX302', what: 'a Deployment without a Service', text: deployment(WEB), says: [] },
  {
    rule: 'SX302',
    what: 'the main beside a native sidecar',
    text: deployment(WEB, native()) + SERVICE,
    says: [/^warning @- \[web\] web: /],
  },
  {
    rule: 'SX401',
    what: 'a main under sexton, whose --quit ends the proxy',
    text: job(`${WEB}  command: [/sexton/sexton, run, --drain, 1s, --, /bin/work]\n- ${PROXY}`),
    says: [],
  },
  { rule: 'SX401', what: 'a Deployment', text: deployment(`${WEB}- ${PROXY}`), says: [] },
  {
    rule: 'SX401',
    what: 'a shared process namespace, in which the main can end the proxy',
    text: job(`${WEB}- ${PROXY}`, 'shareProcessNamespace: true\n'),
    says: [],
  },
  { rule: 'SX401', what: 'a log agent beside the work', text: job(`${WEB}- ${LOGS}`), says: [/^error @- .* logs: /] },
  {
    rule: 'SX401',
    what: 'an image whose name only begins or ends like a proxy',
    text: job(`${WEB}- {name: a, image: "example.com/my-envoy:1"}\n- {name: b, image: "example.com/envoy-tests:1"}`),
    says: [],
  },
  {
    rule: 'SX401',
    what: 'an image whose name only begins or ends like an agent',
    text: job(`${WEB}- {name: a, image: "example.com/my-vector:1"}\n- {name: b, image: "example.com/vector-math:1"}`),
    says: [],
  },
  { rule: 'SX402', what: 'the hook of a main', text: deployment(WEB + HOOK), says: [] },
  { rule: 'SX403', what: 'a Job', text: job(`${WEB}- ${LOGS}`), says: [] },
  {
    rule: 'SX403',
    what: 'Kubernetes 1.28, which has none',
    text: deployment(`${WEB}- ${LOGS}`),
    flags: ['--kubernetes-version', '1.28'],
    says: [],
  },
  {
    rule: 'SX403',
    what: 'Kubernetes 1.29, which has them',
    text: deployment(`${WEB}- ${LOGS}`),
    flags: ['--kubernetes-version', '1.29'],
    says: [/^info @0 /],
  },
  { rule: 'SX403', what: 'an agent that is the main', text: deployment(`- ${LOGS}\n- ${PROXY}`), says: [] },
  {
    rule: 'SX404',
    what: 'a proxy under sexton',
    text: deployment(
      `${WEB}- name: proxy\n  image: "envoyproxy/envoy:v1.31"\n  command: [/sexton/sexton, run, --role, sidecar, --, envoy]`,
    ),
    says: [],
  },
  {
    rule: 'SX404',
    what: 'a proxy beside a proxy under sexton',
    text: deployment(
      `- ${PROXY}\n- name: other\n  image: "envoyproxy/envoy:v1.31"\n  command: [/sexton/sexton, run, --drain, 1s, --, envoy]`,
    ),
    says: [/^warning @0 .* proxy: /],
  },
  ...SIDECAR_IMAGES.flatMap(([what, container]): Case[] => [
    {
      rule: 'SX401',
      what: `${what} beside the work`,
      text: job(`${WEB}- ${container}`),
      says: [/^error @- .* side: /],
    },
    { rule: 'SX404', what, text: deployment(`${WEB}- ${container}`), says: [/^warning @0 .* side: /] },
  ]),
  ...['hashicorp/vault:1.19', 'example.com/proxy:1', 'example.com/agent:1', 'dapr/placement:1'].map(
    (image): Case => ({
      rule: 'SX404',
      what: `${image}, which is none of the known sidecars`,
      text: deployment(`${WEB}- {name: side, image: "${image}"}`),
      says: [],
    }),
  ),
  { rule: 'SX403', what: 'a proxy, of which SX404 tells', text: deployment(`${WEB}- ${PROXY}`), says: [] },
  { rule: 'SX404', what: 'a log agent, of which SX403 tells', text: deployment(`${WEB}- ${LOGS}`), says: [] },
  { rule: 'SX404', what: 'a Job, of which SX401 tells', text: job(`${WEB}- ${PROXY}`), says: [] },
  {
    rule: 'SX405',
    what: 'a drain by sexton, which is skipped, too',
    text: under('--drain, 5s', '', `  restartPolicy: Never\n${killAll}`),
    says: [/^warning @- .*action: RestartAllContainers/],
  },
  {
    rule: 'SX501',
    what: 'maxUnavailable 0%',
    text: deployment(WEB) + budget('maxUnavailable: "0%"'),
    says: [/^error @- \["0%"\] /],
  },
  {
    rule: 'SX501',
    what: 'the one replica that nobody wrote',
    text: unsaid(deployment(WEB)) + budget('minAvailable: 1'),
    says: [/^error .*with 1 replicas/],
  },
  {
    rule: 'SX501',
    what: 'no replica where none is needed',
    text: deployment(WEB).replace('replicas: 2', 'replicas: 0') + budget('minAvailable: 0'),
    says: [],
  },
  {
    rule: 'SX501',
    what: 'two replicas of which one is needed',
    text: deployment(WEB) + budget('minAvailable: 1'),
    says: [],
  },
  {
    rule: 'SX501',
    what: 'a scaler that says no least number, which is 1',
    text: deployment(WEB) + budget('minAvailable: 1') + scaler('maxReplicas: 5'),
    says: [/^warning .*with 1 minReplicas/],
  },
  {
    rule: 'SX501',
    what: 'a scaler that never goes below',
    text: deployment(WEB) + budget('minAvailable: 1') + scaler('minReplicas: 2, maxReplicas: 5'),
    says: [],
  },
  {
    rule: 'SX501',
    what: 'a scaler that cannot go above',
    text: deployment(WEB) + budget('minAvailable: 2') + scaler('minReplicas: 2, maxReplicas: 2'),
    says: [/^error .*with 2 minReplicas/],
  },
  {
    rule: 'SX501',
    what: 'a DaemonSet, whose number nobody wrote',
    text: unsaid(deployment(WEB)).replace('kind: Deployment', 'kind: DaemonSet') + budget('minAvailable: 1'),
    says: [],
  },
  {
    rule: 'SX501',
    what: 'two workloads of one name, of which it tells once',
    text: `${deployment(WEB)}---\n${deployment(WEB)}${budget('minAvailable: 2')}`,
    says: [/^error .*with 2 replicas of web/],
  },
  {
    rule: 'SX502',
    what: 'a rollout step by step',
    text:
      deployment(WEB).replace('  replicas: 2', '  replicas: 2\n  strategy: {type: RollingUpdate}') +
      budget('minAvailable: 1'),
    says: [],
  },
];
