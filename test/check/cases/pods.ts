import { budget, deployment, job, SERVICE, under, WEB } from '../workloads.ts';
import { type Cases, each, version } from './case.ts';

const PROXY = '{name: proxy, image: "envoyproxy/envoy:v1.31"}';
const LOGS = '{name: logs, image: "fluent/fluent-bit:3.1"}';
const HOOK = '  lifecycle: {preStop: {sleep: {seconds: 5}}}\n';
const STARTUP = 'startupProbe: {tcpSocket: {port: 80}}';
const native = (more = ''): string =>
  `initContainers:\n  - {name: side, image: "example.com/side:1", restartPolicy: Always${more}}\n`;
const labelled = (text: string): string =>
  text.replace(/template:\n {4}spec:/, 'template:\n    metadata: {labels: {app: web}}\n    spec:');
const barePod = (text: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec:\n  containers:\n    ${text}`;
const scaler = (spec: string): string =>
  `---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, ${spec}}\n`;
const keda = (target: string): string =>
  `---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web}\nspec: {scaleTargetRef: {${target}}}\n`;
const unsaid = (text: string): string => text.replace('  replicas: 2\n', '');
const sized = (replicas: number, name = 'web'): string =>
  deployment(WEB)
    .replace('replicas: 2', `replicas: ${replicas}`)
    .replace('metadata: {name: web}', `metadata: {name: ${name}}`);
const two = (web: string, canary: string): string => `${web}---\n${canary}`;
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

export const POD_CASES: Cases = {
  SX301: {
    'a Job behind a Service': labelled(job(WEB)) + SERVICE,
    'a main beside a native sidecar with a hook': [
      deployment(WEB, native(', lifecycle: {preStop: {sleep: {seconds: 5}}}')) + SERVICE,
      /^info @0 \[web\] web: /,
    ],
    'the container with ports among several': [
      deployment(`- {name: first, image: "example.com/a:1"}\n${WEB}  ports: [{containerPort: 80}]`) + SERVICE,
      /^info @0 \[web\] web: /,
    ],
    'the first container where none has ports': [
      deployment(`- {name: first, image: "example.com/a:1"}\n${WEB}`) + SERVICE,
      /^info @0 \[first\] first: /,
    ],
    'a container with a postStart, which it does not touch': [
      deployment(`${WEB}  lifecycle: {postStart: {exec: {command: [warm]}}}`, 'terminationGracePeriodSeconds: 20\n') +
        SERVICE,
      /^info /,
      false,
    ],
    'the default grace period, which has room for the sleep': [
      deployment(WEB) + SERVICE,
      /^info /,
      '    spec:\n      containers:\n        - name: web\n          lifecycle: {preStop:',
    ],
    'a grace period that is written, and raises it by as much': [
      deployment(WEB, 'terminationGracePeriodSeconds: 5\n') + SERVICE,
      /^info /,
      'terminationGracePeriodSeconds: 10\n',
    ],
    'a container with merged keys, and writes to its own': [
      `${deployment('- &a\n  image: a/b:1\n  name: web\n- <<: *a\n  name: two\n  ports: [{containerPort: 80}]')}${SERVICE}`,
      /^info @0 \[two\] two: /,
      'name: two\n          lifecycle: {preStop: {sleep: {seconds: 5}}}\n',
    ],
    'a pod that is killed at once, and leaves it so': [
      deployment(WEB, 'terminationGracePeriodSeconds: 0\n') + SERVICE,
      /^info /,
      false,
    ],
    'Kubernetes 1.29, which has no sleep to write': [deployment(WEB) + SERVICE, /^info /, false, version('1.29')],
    'Kubernetes 1.30, which has one': [
      deployment(WEB) + SERVICE,
      /^info /,
      '{preStop: {sleep: {seconds: 5}}}',
      version('1.30'),
    ],
    'sexton without a drain': [under('--name, web') + SERVICE, /^info /],
    'a pre-stop by sexton': under('--pre-stop, "exec:/bin/drain"') + SERVICE,
    'sexton whose configuration cannot be seen': under('--config, /etc/sexton.json') + SERVICE,
    'a main beside the proxy of Istio': [
      deployment(`${WEB}- {name: istio-proxy, image: auto}`) + SERVICE,
      /^info @0 \[web\] /,
    ],
    ...each(['docker.io/istio/proxyv2:1.29.0', 'auto'], (image) => [
      `the gateway of Istio (${image}), which drains by itself`,
      deployment(`- {name: istio-proxy, image: "${image}"}`) + SERVICE,
    ]),
  },
  SX302: {
    'the gateway of Istio, whose probe is injected': deployment('- {name: istio-proxy, image: auto}') + SERVICE,
    'a proxy of Istio that is written out': [
      deployment('- {name: istio-proxy, image: "istio/proxyv2:1.29.0"}') + SERVICE,
      /^warning .* istio-proxy: has no readinessProbe, /,
    ],
    'a Job behind a Service': labelled(job(WEB)) + SERVICE,
    'a startup probe, before whose success no pod is ready': deployment(`${WEB}  ${STARTUP}`) + SERVICE,
    'the startup probe of a native sidecar, which is over when the main starts': [
      deployment(WEB, native(`, ${STARTUP}`)) + SERVICE,
      /^warning @- \[web\] web: /,
    ],
    'a pod that nothing rolls out': barePod('- {name: web, image: "example.com/web:1"}\n') + SERVICE,
    'a Deployment without a Service': deployment(WEB),
    'the main beside a native sidecar': [deployment(WEB, native()) + SERVICE, /^warning @- \[web\] web: /],
  },
  SX401: {
    'a main under sexton, whose --quit ends the proxy': job(
      `${WEB}  command: [/sexton/sexton, run, --drain, 1s, --, /bin/work]\n- ${PROXY}`,
    ),
    'a Deployment': deployment(`${WEB}- ${PROXY}`),
    'a shared process namespace, in which the main can end the proxy': job(
      `${WEB}- ${PROXY}`,
      'shareProcessNamespace: true\n',
    ),
    'a log agent beside the work': [job(`${WEB}- ${LOGS}`), /^error @- .* logs: /],
    'an image whose name only begins or ends like a proxy': job(
      `${WEB}- {name: a, image: "example.com/my-envoy:1"}\n- {name: b, image: "example.com/envoy-tests:1"}`,
    ),
    'an image whose name only begins or ends like an agent': job(
      `${WEB}- {name: a, image: "example.com/my-vector:1"}\n- {name: b, image: "example.com/vector-math:1"}`,
    ),
    ...each(SIDECAR_IMAGES, ([what, container]) => [
      `${what} beside the work`,
      [job(`${WEB}- ${container}`), /^error @- .* side: /],
    ]),
  },
  SX402: {
    'the hook of a main': deployment(WEB + HOOK),
  },
  SX403: {
    'a Job': job(`${WEB}- ${LOGS}`),
    'Kubernetes 1.28, which has none': [deployment(`${WEB}- ${LOGS}`), version('1.28')],
    'Kubernetes 1.29, which has them': [deployment(`${WEB}- ${LOGS}`), /^info @0 /, version('1.29')],
    'an agent that is the main': deployment(`- ${LOGS}\n- ${PROXY}`),
    'a proxy, which SX404 reports': deployment(`${WEB}- ${PROXY}`),
  },
  SX404: {
    'a proxy under sexton': deployment(
      `${WEB}- name: proxy\n  image: "envoyproxy/envoy:v1.31"\n  command: [/sexton/sexton, run, --role, sidecar, --, envoy]`,
    ),
    'a proxy beside a proxy under sexton': [
      deployment(
        `- ${PROXY}\n- name: other\n  image: "envoyproxy/envoy:v1.31"\n  command: [/sexton/sexton, run, --drain, 1s, --, envoy]`,
      ),
      /^warning @0 .* proxy: /,
    ],
    'a log agent, which SX403 reports': deployment(`${WEB}- ${LOGS}`),
    'a Job, which SX401 reports': job(`${WEB}- ${PROXY}`),
    ...each(SIDECAR_IMAGES, ([what, container]) => [
      what,
      [deployment(`${WEB}- ${container}`), /^warning @0 .* side: /],
    ]),
    ...each(['hashicorp/vault:1.19', 'example.com/proxy:1', 'example.com/agent:1', 'dapr/placement:1'], (image) => [
      `${image}, which is none of the known sidecars`,
      deployment(`${WEB}- {name: side, image: "${image}"}`),
    ]),
  },
  SX405: {
    'a drain by sexton, which is skipped, too': [
      under('--drain, 5s', '', `  restartPolicy: Never\n${killAll}`),
      /^warning @- .*action: RestartAllContainers/,
    ],
  },
  SX501: {
    'maxUnavailable 0%': [deployment(WEB) + budget('maxUnavailable: "0%"'), /^error @- \["0%"\] /],
    'the one replica of a Deployment that names no number': [
      unsaid(deployment(WEB)) + budget('minAvailable: 1'),
      /^error .*with 1 replicas/,
    ],
    'no replica where none is needed': sized(0) + budget('minAvailable: 0'),
    'two replicas, one of them needed': deployment(WEB) + budget('minAvailable: 1'),
    'a scaler that says no least number, which is 1': [
      deployment(WEB) + budget('minAvailable: 1') + scaler('maxReplicas: 5'),
      /^warning .*with 1 minReplicas/,
    ],
    'a scaler that never goes below':
      deployment(WEB) + budget('minAvailable: 1') + scaler('minReplicas: 2, maxReplicas: 5'),
    'a scaler that cannot go above': [
      deployment(WEB) + budget('minAvailable: 2') + scaler('minReplicas: 2, maxReplicas: 2'),
      /^error .*with 2 minReplicas/,
    ],
    'a ScaledObject of KEDA, which sets the number': sized(1) + budget('minAvailable: 1') + keda('name: web'),
    'a ScaledObject of KEDA for another workload': [
      sized(1) + budget('minAvailable: 1') + keda('kind: StatefulSet, name: web'),
      /^error .*with 1 replicas/,
    ],
    'a DaemonSet, which has no number of replicas':
      unsaid(deployment(WEB)).replace('kind: Deployment', 'kind: DaemonSet') + budget('minAvailable: 1'),
    'two workloads of one name, reported once': [
      `${deployment(WEB)}---\n${deployment(WEB)}${budget('minAvailable: 2')}`,
      /^error .*with 2 replicas of web/,
    ],
    'all of what is not among the inputs': [budget('minAvailable: "100%"'), /^error .*100% allows no eviction at all$/],
    'two workloads that have one more than is needed': two(sized(2), sized(2, 'canary')) + budget('minAvailable: 3'),
    'two workloads of which all are needed': [
      two(sized(2), sized(3, 'canary')) + budget('minAvailable: 5'),
      /^error .*minAvailable 5 with 5 replicas of web, canary allows no eviction$/,
    ],
    'a workload beside one whose number is not known':
      two(sized(2), sized(2, 'canary').replace('kind: Deployment', 'kind: DaemonSet')) + budget('minAvailable: 2'),
    'renderings of different size, of which the smallest counts': [
      two(sized(3), sized(2)) + budget('minAvailable: 2'),
      /^error .*with 2 replicas of web/,
    ],
    'half of one replica, which is rounded up': [
      sized(1) + budget('minAvailable: "50%"'),
      /^error @- \["50%"\] minAvailable 50% with 1 replicas of web/,
    ],
    'half of two replicas': deployment(WEB) + budget('minAvailable: "50%"'),
    'half of what a scaler may raise': [
      deployment(WEB) + budget('minAvailable: "50%"') + scaler('minReplicas: 1, maxReplicas: 5'),
      /^warning .*minAvailable 50% with 1 minReplicas/,
    ],
  },
  SX502: {
    'a rollout step by step':
      deployment(WEB).replace('  replicas: 2', '  replicas: 2\n  strategy: {type: RollingUpdate}') +
      budget('minAvailable: 1'),
  },
};
