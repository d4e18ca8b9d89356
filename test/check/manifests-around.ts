/**
 * The near misses of rules that join a pod with what is around it: balancers, routes, volumes, the version of the
 * cluster.
 */
import { deployment, SERVICE } from '../../src/check/rules/examples.ts';
import type { CaseAround } from './manifests-images.ts';

const WEB = '- {name: web, image: "example.com/web:1"}\n';
const SLEEPS = '- {name: web, image: "example.com/web:1", lifecycle: {preStop: {sleep: {seconds: 10}}}}\n';
const HEADLESS = SERVICE.replace('spec:\n', 'spec:\n  clusterIP: None\n');

function object(kind: string, spec: string, metadata = 'name: web'): string {
  return `---\napiVersion: example.com/v1\nkind: ${kind}\nmetadata: {${metadata}}\nspec:\n  ${spec}\n`;
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
const version = (text: string) => ({ flags: ['--kubernetes-version', text] });

export const FOUND_AROUND: readonly CaseAround[] = [
  { rule: 'SX110', what: 'a BackendConfig', text: deployment(SLEEPS) + named('{"default": "web"}') + drains(60) },
  {
    rule: 'SX110',
    what: 'the BackendConfig of one port',
    text: deployment(SLEEPS) + named('{"ports": {"80": "web"}}') + drains(60),
  },
  {
    rule: 'SX110',
    what: 'the slower one of two',
    text: deployment(SLEEPS) + named('{"default": "web", "ports": {"80": "b"}}') + drains(5) + drains(60, 'name: b'),
  },
  {
    rule: 'SX110',
    what: 'a GCPBackendPolicy',
    text: deployment(SLEEPS) + SERVICE + policy(60, 'kind: Service, name: web'),
  },
  { rule: 'SX110', what: 'an Ingress of an ALB', text: deployment(SLEEPS) + SERVICE + attributes('web') },
  { rule: 'SX301', what: 'a headless Service behind an Ingress', text: deployment(WEB) + HEADLESS + ingress('web') },
  {
    rule: 'SX301',
    what: 'a headless Service behind an HTTPRoute',
    text: deployment(WEB) + HEADLESS + route('name: web'),
  },
  {
    rule: 'SX301',
    what: 'an HTTPRoute of another namespace that names this one',
    text:
      deployment(WEB) +
      HEADLESS.replace('{name: web}', '{name: web, namespace: shop}') +
      route('name: web, namespace: shop', 'name: web, namespace: gateways'),
  },
  { rule: 'SX806', what: 'a mount with noexec', text: mounted(', bindMountOptions: [nosuid, noexec]', 'emptyDir: {}') },
  { rule: 'SX806', what: 'an image volume on 1.30', text: mounted('', IMAGE_VOLUME), ...version('1.30') },
  {
    rule: 'SX806',
    what: 'an image volume on 1.34, where it is off',
    text: mounted('', IMAGE_VOLUME),
    ...version('1.34'),
  },
  {
    rule: 'SX806',
    what: 'a part of an image volume on 1.32',
    text: mounted(', subPath: sexton', IMAGE_VOLUME),
    ...version('1.32'),
  },
];

export const CLEAN_AROUND: readonly CaseAround[] = [
  {
    rule: 'SX110',
    what: 'a BackendConfig that is quicker',
    text: deployment(SLEEPS) + named('{"default": "web"}') + drains(10),
  },
  { rule: 'SX110', what: 'a BackendConfig that no Service names', text: deployment(SLEEPS) + SERVICE + drains(60) },
  {
    rule: 'SX110',
    what: 'a BackendConfig of another namespace',
    text:
      deployment(SLEEPS) +
      named('{"default": "web"}').replace('{name: web,', '{name: web, namespace: shop,') +
      drains(60, 'name: web, namespace: other'),
  },
  { rule: 'SX110', what: 'an annotation that is no JSON', text: deployment(SLEEPS) + named('web') + drains(60) },
  {
    rule: 'SX110',
    what: 'a policy for another Service',
    text: deployment(SLEEPS) + SERVICE + policy(60, 'kind: Service, name: b'),
  },
  {
    rule: 'SX110',
    what: 'a policy for what is no Service',
    text: deployment(SLEEPS) + SERVICE + policy(60, 'kind: ServiceImport, name: web'),
  },
  {
    rule: 'SX110',
    what: 'a policy of another namespace',
    text:
      deployment(SLEEPS) +
      SERVICE.replace('{name: web}', '{name: web, namespace: shop}') +
      policy(60, 'kind: Service, name: web', 'name: web, namespace: other'),
  },
  { rule: 'SX110', what: 'an Ingress to another Service', text: deployment(SLEEPS) + SERVICE + attributes('other') },
  { rule: 'SX301', what: 'an HTTPRoute to another Service', text: deployment(WEB) + HEADLESS + route('name: other') },
  {
    rule: 'SX301',
    what: 'an HTTPRoute to what is no Service',
    text: deployment(WEB) + HEADLESS + route('name: web, kind: Bucket'),
  },
  {
    rule: 'SX301',
    what: 'an HTTPRoute of another namespace',
    text:
      deployment(WEB) +
      HEADLESS.replace('{name: web}', '{name: web, namespace: shop}') +
      route('name: web', 'name: web, namespace: gateways'),
  },
  { rule: 'SX806', what: 'a mount with other options', text: mounted(', bindMountOptions: [nosuid]', 'emptyDir: {}') },
  {
    rule: 'SX806',
    what: 'noexec where sexton does not come from',
    text: mounted(', bindMountOptions: [noexec]', 'emptyDir: {}', '/opt/sexton'),
  },
  {
    rule: 'SX806',
    what: 'noexec for another program',
    text: mounted(', bindMountOptions: [noexec]', 'emptyDir: {}', '/sexton/other'),
  },
  {
    rule: 'SX806',
    what: 'an image volume on 1.35',
    text: mounted(', subPath: sexton', IMAGE_VOLUME),
    ...version('1.35'),
  },
  { rule: 'SX806', what: 'an image volume on a version that is not said', text: mounted('', IMAGE_VOLUME) },
];
