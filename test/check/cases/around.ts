/** Near misses of rules on a pod and what is around it: balancers, routes, volumes, the version of the cluster. */
import { deployment, SERVICE } from '../workloads.ts';
import { type Cases, FOUND, version } from './case.ts';

const WEB = '- {name: web, image: "example.com/web:1"}\n';
const SLEEPS = '- {name: web, image: "example.com/web:1", lifecycle: {preStop: {sleep: {seconds: 10}}}}\n';
const HEADLESS = SERVICE.replace('spec:\n', 'spec:\n  clusterIP: None\n');

const GROUPS = {
  Ingress: 'networking.k8s.io',
  HTTPRoute: 'gateway.networking.k8s.io',
  BackendConfig: 'cloud.google.com',
  GCPBackendPolicy: 'networking.gke.io',
} as const;

function object(kind: keyof typeof GROUPS, spec: string, metadata = 'name: web'): string {
  return `---\napiVersion: ${GROUPS[kind]}/v1\nkind: ${kind}\nmetadata: {${metadata}}\nspec:\n  ${spec}\n`;
}
const annotated = (text: string): string =>
  SERVICE.replace('metadata: {name: web}', `metadata: {name: web, annotations: {${text}}}`);
const route = (ref: string, metadata?: string): string =>
  object('HTTPRoute', `rules: [{backendRefs: [{${ref}}]}]`, metadata);
const ingress = (name: string): string =>
  object('Ingress', `rules: [{http: {paths: [{path: /, backend: {service: {name: ${name}, port: {number: 80}}}}]}}]`);

const drains = (seconds: number, metadata?: string): string =>
  object('BackendConfig', `connectionDraining: {drainingTimeoutSec: ${seconds}}`, metadata);
const policy = (seconds: number, target: string, metadata?: string): string =>
  object(
    'GCPBackendPolicy',
    `default: {connectionDraining: {drainingTimeoutSec: ${seconds}}}\n  targetRef: {${target}}`,
    metadata,
  );
const named = (value: string): string => annotated(`cloud.google.com/backend-config: '${value}'`);
const attributes = (name: string): string =>
  ingress(name).replace(
    'metadata: {name: web}',
    'metadata: {name: web, annotations: {alb.ingress.kubernetes.io/target-group-attributes: "a=b,deregistration_delay.timeout_seconds=30"}}',
  );

/** sexton from the volume, and how that is mounted. */
const mounted = (mount: string, volume: string, program = '/sexton/sexton'): string =>
  deployment(
    `- name: web\n  image: example.com/web:1\n  command: [${program}, run, --, /bin/server]\n  volumeMounts: [{name: sexton, mountPath: /sexton${mount}}]`,
    `volumes: [{name: sexton, ${volume}}]\n`,
  );
const IMAGE_VOLUME = 'image: {reference: "example.com/sexton:1"}';

export const AROUND_CASES: Cases = {
  SX110: {
    'a BackendConfig': [deployment(SLEEPS) + named('{"default": "web"}') + drains(60), FOUND],
    'the BackendConfig of one port': [deployment(SLEEPS) + named('{"ports": {"80": "web"}}') + drains(60), FOUND],
    'the slower one of two': [
      deployment(SLEEPS) + named('{"default": "web", "ports": {"80": "b"}}') + drains(5) + drains(60, 'name: b'),
      FOUND,
    ],
    'a GCPBackendPolicy': [deployment(SLEEPS) + SERVICE + policy(60, 'kind: Service, name: web'), FOUND],
    'an Ingress of an ALB': [deployment(SLEEPS) + SERVICE + attributes('web'), FOUND],
    'a BackendConfig that is quicker': deployment(SLEEPS) + named('{"default": "web"}') + drains(10),
    'a BackendConfig that no Service names': deployment(SLEEPS) + SERVICE + drains(60),
    'a BackendConfig of another namespace':
      deployment(SLEEPS) +
      named('{"default": "web"}').replace('{name: web,', '{name: web, namespace: shop,') +
      drains(60, 'name: web, namespace: other'),
    'an annotation that is no JSON': deployment(SLEEPS) + named('web') + drains(60),
    'a policy for another Service': deployment(SLEEPS) + SERVICE + policy(60, 'kind: Service, name: b'),
    'a policy for what is no Service': deployment(SLEEPS) + SERVICE + policy(60, 'kind: ServiceImport, name: web'),
    'a policy of another namespace':
      deployment(SLEEPS) +
      SERVICE.replace('{name: web}', '{name: web, namespace: shop}') +
      policy(60, 'kind: Service, name: web', 'name: web, namespace: other'),
    'an Ingress to another Service': deployment(SLEEPS) + SERVICE + attributes('other'),
  },
  SX301: {
    'a headless Service behind an Ingress': [deployment(WEB) + HEADLESS + ingress('web'), FOUND],
    'a headless Service behind an HTTPRoute': [deployment(WEB) + HEADLESS + route('name: web'), FOUND],
    'an HTTPRoute of another namespace that names this one': [
      deployment(WEB) +
        HEADLESS.replace('{name: web}', '{name: web, namespace: shop}') +
        route('name: web, namespace: shop', 'name: web, namespace: gateways'),
      FOUND,
    ],
    'an HTTPRoute to another Service': deployment(WEB) + HEADLESS + route('name: other'),
    'an HTTPRoute to what is no Service': deployment(WEB) + HEADLESS + route('name: web, kind: Bucket'),
    'an HTTPRoute of another namespace':
      deployment(WEB) +
      HEADLESS.replace('{name: web}', '{name: web, namespace: shop}') +
      route('name: web', 'name: web, namespace: gateways'),
  },
  SX806: {
    'a mount with noexec': [mounted(', bindMountOptions: [nosuid, noexec]', 'emptyDir: {}'), FOUND],
    'an image volume on 1.34, where it is off': [mounted('', IMAGE_VOLUME), FOUND, version('1.34')],
    'a mount with other options': mounted(', bindMountOptions: [nosuid]', 'emptyDir: {}'),
    'noexec where sexton does not come from': mounted(', bindMountOptions: [noexec]', 'emptyDir: {}', '/opt/sexton'),
    'noexec for another program': mounted(', bindMountOptions: [noexec]', 'emptyDir: {}', '/sexton/other'),
    'an image volume on 1.35': [mounted(', subPath: sexton', IMAGE_VOLUME), version('1.35')],
    'an image volume on a version that is not said': mounted('', IMAGE_VOLUME),
  },
};
