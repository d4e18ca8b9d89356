/**
 * Workloads of every kind, without sexton and from an image that knows nothing of it. Tests put them under sexton, by
 * file or by policy. All leave an orphan, which stays a zombie unless PID 1 reaps it.
 */
import { familiarName, type Images } from '../../src/check/stop/images.ts';
import { ENTRY, imageNames } from './helpers/images.ts';

export interface Workload {
  /** Its name, and the label `app` of its pods. */
  readonly name: string;
  readonly object: Readonly<Record<string, unknown>> & { readonly kind: string };
  /** The containers that get sexton, and the end of the command line of PID 1 in each. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

const { plain } = imageNames();

/** What `sexton images lock` would say of the image that all workloads name. */
export const LOCK: Images = new Map([[familiarName(plain), ENTRY]]);

const ORPHAN = ['/bin/orphan', '3600'] as const;
const WEB = ['sh', '-c', '(sleep 1 &); echo ok >/tmp/index.html; exec httpd -f -p 8080 -h /tmp'] as const;
/** It ends when PID 1 has reaped the orphan: until then /proc has it. */
const WORK = [
  'sh',
  '-c',
  "tr '\\0' ' ' </proc/1/cmdline; p=$(sleep 1 >/dev/null & echo $!); while [ -e /proc/$p ]; do sleep 0.1; done",
] as const;
/** The level "restricted" of the Pod Security Standards, and a root that cannot be written. */
const LOCKED_DOWN = {
  runAsNonRoot: true,
  runAsUser: 10_001,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

function container(name: string, more: object): object {
  return { name, image: plain, imagePullPolicy: 'Never', ...more };
}

const main = (more: object = { command: ORPHAN }): object => container('main', more);

interface Template {
  readonly containers: readonly object[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

function template(name: string, { annotations, ...spec }: Template) {
  const metadata = { labels: { app: name }, ...(annotations && { annotations }) };
  return { metadata, spec: { terminationGracePeriodSeconds: 10, ...spec } };
}

/** As its template, with the name of the pod. */
function pod(name: string, spec: Template): Workload['object'] {
  const { metadata, ...rest } = template(name, spec);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, ...rest };
}

function controller(kind: string, name: string, spec: object, pods: Template): Workload['object'] {
  const selector = { matchLabels: { app: name } };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: { selector, ...spec, template: template(name, pods) },
  };
}

/** A proxy of the old kind: nothing ends it. */
const jobOf = (name: string) => ({
  backoffLimit: 0,
  template: template(name, {
    annotations: { 'inject.sexton.dev/role.proxy': 'sidecar' },
    restartPolicy: 'Never',
    containers: [main({ command: WORK }), container('proxy', { command: ORPHAN })],
  }),
});

/** `web` is the server of a Service of that name, `job` and `cron` end by themselves, `cron` when a Job is made of it. */
export const WORKLOADS: readonly Workload[] = [
  {
    name: 'web',
    object: controller(
      'Deployment',
      'web',
      { replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } },
      {
        annotations: { 'inject.sexton.dev/drain': '3s' },
        containers: [
          main({
            command: WEB.slice(0, 1),
            args: WEB.slice(1),
            ports: [{ name: 'http', containerPort: 8080 }],
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          }),
        ],
      },
    ),
    members: { main: WEB },
  },
  {
    name: 'stateful',
    object: controller('StatefulSet', 'stateful', { serviceName: 'stateful' }, { containers: [main()] }),
    members: { main: ORPHAN },
  },
  {
    name: 'daemon',
    object: controller('DaemonSet', 'daemon', {}, { containers: [main()] }),
    members: { main: ORPHAN },
  },
  {
    name: 'job',
    object: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'job' }, spec: jobOf('job') },
    members: { main: WORK, proxy: ORPHAN },
  },
  {
    name: 'cron',
    object: {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'cron' },
      spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: jobOf('cron') } },
    },
    members: { main: WORK, proxy: ORPHAN },
  },
  { name: 'command', object: pod('command', { containers: [main()] }), members: { main: ORPHAN } },
  {
    name: 'args',
    object: pod('args', { containers: [main({ args: ['1800'] })] }),
    members: { main: ['/bin/orphan', '1800'] },
  },
  { name: 'neither', object: pod('neither', { containers: [main({})] }), members: { main: ORPHAN } },
  {
    name: 'pair',
    object: pod('pair', { containers: [main(), container('other', { args: ['1800'] })] }),
    members: { main: ORPHAN, other: ['/bin/orphan', '1800'] },
  },
  {
    name: 'native',
    object: pod('native', {
      initContainers: [container('proxy', { command: ORPHAN, restartPolicy: 'Always' })],
      containers: [main()],
    }),
    members: { main: ORPHAN },
  },
  {
    name: 'restricted',
    object: pod('restricted', { containers: [main({ command: ORPHAN, securityContext: LOCKED_DOWN })] }),
    members: { main: ORPHAN },
  },
];

/** The Service of `web`. */
export const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ port: 8080 }] },
};
