/**
 * What `sexton inject -o policy` makes of pods, on a real cluster. The policies hold for a namespace of this file, so
 * that other tests do not meet them.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { DELIVERIES } from '../../src/inject/delivery.ts';
import { inject } from '../../src/inject/inject.ts';
import { type PolicyOptions, policyText } from '../../src/inject/policy/policy.ts';
import { waitFor } from '../helpers/wait.ts';
import { type ApiError, ask, kubectl } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { unlessMutatingPolicies } from './helpers/features.ts';
import { imageNames } from './helpers/images.ts';
import { withNamespace } from './helpers/namespace.ts';
import type { ContainerSpec, PodObject, PodSpec } from './helpers/objects.ts';
import { assertRollsWithoutFailure } from './helpers/rollout.ts';
import { namespace, podsPath } from './helpers/watch.ts';
import { applyText, assertUnderSexton, assertWithoutSexton, fileOf } from './helpers/workloads.ts';
import { LOCK, SERVICE, WORKLOADS } from './workloads.ts';

const { sexton } = imageNames();
const NAME = withNamespace('policy');
const DIGEST = `sha256:${'a'.repeat(64)}`;
const IMAGES = new Map([
  ...LOCK,
  ['nginx:latest', { entrypoint: ['/docker-entrypoint.sh'], cmd: ['nginx', '-g', 'daemon off;'], digest: DIGEST }],
  ['example.com:5000/a/app:1', { entrypoint: ['/app', '$HOME "it\'s"\n'], cmd: ['--serve'], stopSignal: 'SIGUSR1' }],
  ['istio/proxyv2:1', { entrypoint: ['/proxy'] }],
  ['two:1', { cmd: ['amd'], platform: 'linux/amd64', platforms: { 'linux/arm64': { cmd: ['arm'] } } }],
  ['sexton-inside:latest', { entrypoint: ['/sexton/sexton', 'run', '--', 'x'] }],
]);
const OPTIONS: PolicyOptions = { image: sexton, images: IMAGES, deliver: 'image-volume', isStrict: false };
const SYSTEM = '/api/v1/namespaces/kube-system/pods';
const DRY = '?dryRun=All';

/** Pods that are never started, by what is special about them. */
const PODS: Readonly<Record<string, object>> = {
  'neither command nor args': { containers: [{ image: 'docker.io/library/nginx' }] },
  'args alone': { containers: [{ image: 'nginx:latest', args: ['nginx', '-t'] }] },
  'a registry with a port': { containers: [{ image: 'example.com:5000/a/app:1', args: ['a'] }] },
  'a command alone': { containers: [{ image: 'example.com:5000/a/app:1', command: ['/x'] }] },
  'a command and args of an unknown image': { containers: [{ image: 'who', command: ['redis-server'], args: ['b'] }] },
  'a digest': { containers: [{ image: `nginx:1.25@${DIGEST}` }] },
  'volumes, mounts and env of its own': {
    containers: [
      {
        image: 'nginx',
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        env: [{ name: 'A', value: '1' }],
        resources: { limits: { cpu: '1500m' } },
      },
      { image: 'who', command: ['x'], env: [{ name: 'SEXTON_POD_UID', value: 'mine' }] },
    ],
    volumes: [{ name: 'data', emptyDir: { sizeLimit: '1Gi' } }],
    initContainers: [{ name: 'first', image: 'who', command: ['x'] }],
  },
  'a known sidecar of a Job': {
    restartPolicy: 'Never',
    containers: [{ image: 'nginx' }, { image: 'istio/proxyv2:1', args: ['a'] }],
  },
  'only known sidecars': { restartPolicy: 'OnFailure', containers: [{ image: 'istio/proxyv2:1' }] },
  'two containers that are not told apart': {
    restartPolicy: 'Never',
    containers: [{ image: 'nginx' }, { image: 'nginx' }],
  },
  roles: {
    annotations: { 'inject.sexton.dev/role.b': 'sidecar', 'inject.sexton.dev/role.c': 'skip' },
    restartPolicy: 'Never',
    containers: [{ image: 'nginx' }, { image: 'nginx' }, { image: 'who' }],
  },
  flags: {
    annotations: {
      'inject.sexton.dev/drain': '5s',
      'inject.sexton.dev/drain.b': '7s',
      'inject.sexton.dev/grace-period.a': '9s',
      'inject.sexton.dev/stop.a': 'QUIT',
    },
    containers: [{ image: 'nginx' }, { image: 'who', command: ['x'] }],
  },
  'an image of two platforms on one': {
    nodeSelector: { 'kubernetes.io/arch': 'arm64' },
    containers: [{ image: 'two:1' }],
  },
  'a hook that sleeps': { containers: [{ image: 'nginx', lifecycle: { preStop: { sleep: { seconds: 10 } } } }] },
  'a hook with a script': {
    containers: [
      { image: 'nginx', lifecycle: { preStop: { exec: { command: ['sh', '-c', 'sleep 5; nginx -s quit'] } } } },
    ],
  },
  'a hook longer than the grace period': {
    terminationGracePeriodSeconds: 5,
    containers: [{ image: 'nginx', lifecycle: { preStop: { exec: { command: ['sleep', '30'] } } } }],
  },
  'a grace period of a second': { terminationGracePeriodSeconds: 1, containers: [{ image: 'nginx' }] },
  'restart rules': {
    restartPolicy: 'OnFailure',
    containers: [
      {
        image: 'nginx',
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42, 43] } }],
      },
    ],
  },
  'a native sidecar': {
    initContainers: [{ name: 'proxy', image: 'who', restartPolicy: 'Always' }],
    containers: [{ image: 'nginx' }],
  },
  'sexton in the image': { containers: [{ image: 'sexton-inside' }, { image: 'nginx' }] },
  'sexton in the command': { containers: [{ image: 'who', command: ['/sexton/sexton', '--', 'x'] }] },
  'inject: disabled': { annotations: { 'inject.sexton.dev/inject': 'disabled' }, containers: [{ image: 'nginx' }] },
  hostPID: { hostPID: true, containers: [{ image: 'nginx' }] },
  'a volume whose name is taken': {
    volumes: [{ name: 'sexton', emptyDir: {} }],
    containers: [{ image: 'nginx' }],
  },
  'a mount that is taken': {
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [{ image: 'nginx', volumeMounts: [{ name: 'data', mountPath: '/graveyard/data' }] }],
  },
  'an image of two platforms': { containers: [{ image: 'two:1' }] },
  'an image that is not in the lock': { containers: [{ image: 'who' }, { image: 'nginx' }] },
};

/** Those that both leave as they are. */
const LEFT = [
  'two containers that are not told apart',
  'sexton in the image',
  'inject: disabled',
  'hostPID',
  'a volume whose name is taken',
  'a mount that is taken',
  'an image of two platforms',
  'an image that is not in the lock',
];

interface Written {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly containers: readonly object[];
}

function podOf(written: object): object {
  const { annotations = {}, containers, ...spec } = written as Written;
  const named = containers.map((one, at) => ({ name: 'abc'[at], ...one }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'dry-run', annotations },
    spec: { ...spec, containers: named },
  };
}

const PLAIN = podOf({ containers: [{ image: 'nginx' }] });
const UNKNOWN = podOf({ containers: [{ image: 'who' }] });

describe('sexton inject -o policy, on a cluster', () => {
  for (const deliver of DELIVERIES)
    clusterTest(
      `the policy injects by ${deliver} what sexton inject writes into manifests`,
      async (t) => {
        await applyPolicy(t, { ...OPTIONS, deliver });
        const wrong: string[] = [];
        const left: string[] = [];
        for (const [what, written] of Object.entries(PODS)) {
          const text = stringify(podOf(written), { aliasDuplicateObjects: false });
          const { changes } = await inject([{ path: 'x', text }], { ...OPTIONS, deliver, version: 'test' });
          // The policy does not meet a pod that has sexton already.
          const expected = await admitted(parse(changes[0]?.text ?? text));
          const found = await admitted(podOf(written));
          if (!found.spec.containers.some(({ command }) => command?.includes('--'))) left.push(what);
          try {
            assert.deepEqual(partsOf(found), partsOf(expected));
          } catch (error) {
            wrong.push(`${what}: ${(error as Error).message}`);
          }
        }
        assert.deepEqual(wrong, []);
        assert.deepEqual(left, LEFT);
      },
      unlessMutatingPolicies,
    );

  clusterTest(
    'workloads of every kind run under sexton by the policy, and without it afterwards',
    async (t) => {
      const policy = await applyPolicy(t, OPTIONS);
      const objects = [SERVICE, ...WORKLOADS.map(({ object }) => object)];
      await applyText(t, 'apply', objects.map((one) => stringify(one, { aliasDuplicateObjects: false })).join('---\n'));
      const where = ['--namespace', namespace()];
      await kubectl('create', 'job', 'cron', '--from=cronjob/cron', ...where);
      const lasting = WORKLOADS.filter(({ name }) => name !== 'job' && name !== 'cron');
      for (const workload of lasting) await assertUnderSexton(workload);
      await assertRollsWithoutFailure(t, 'web', 2);
      await kubectl('wait', '--for=condition=complete', '--timeout=100s', 'job/job', 'job/cron', ...where);
      for (const job of ['job', 'cron'])
        assert.match(await kubectl('logs', `job/${job}`, '--container=main', ...where), /^\/sexton\/sexton run /m);

      await policy.delete();
      await waitFor('the policy is over', async () => !isInjected(await admitted(PLAIN)));
      for (const workload of lasting.filter(({ name }) => ['stateful', 'neither'].includes(name))) {
        await applyText(t, 'replace', stringify(workload.object));
        await assertWithoutSexton(workload);
      }
    },
    unlessMutatingPolicies,
  );

  clusterTest(
    'another policy that has it called again, and a pod that was injected, change nothing',
    async (t) => {
      await applyPolicy(t, OPTIONS);
      const once = partsOf(await admitted(PLAIN));
      await applyObjects(t, LABELLING);
      const twice = await waitFor('the other policy is called after ours', async () => {
        const pod = await admitted(PLAIN);
        if (pod.metadata.labels?.['by-another'] === 'policy') return pod;
        // The API server calls policies in an order of its own, which it draws again after a change of one.
        await kubectl('annotate', '--overwrite', 'mutatingadmissionpolicy', `${NAME}-zz`, `tried=${Date.now()}`);
        return undefined;
      });
      assert.deepEqual(partsOf(twice), once);
      const { spec } = twice;
      assert.deepEqual(partsOf(await admitted({ ...podOf({ containers: [] }), spec })), once);
    },
    unlessMutatingPolicies,
  );

  clusterTest(
    'the policy skips kube-system, and warns of an unknown image or refuses it with --strict',
    async (t) => {
      await applyPolicy(t, OPTIONS);
      assert.ok(!isInjected(await ask<PodObject>('POST', `${SYSTEM}${DRY}`, PLAIN)));
      assert.equal(await warningOf(PLAIN), '');
      // The validating policy may count later than the other one.
      const warning = await waitFor('it warns', async () => (await warningOf(UNKNOWN)) || undefined);
      assert.match(warning, /^Warning: .* does not say what these images start here: who; add them by/);
      const unclear = podOf(PODS['two containers that are not told apart'] ?? {});
      assert.match(await warningOf(unclear), /set inject\.sexton\.dev\/role\.a or that of a, b to sidecar, or main/);
      await kubectl('apply', '--filename', fileOf(narrowed({ ...OPTIONS, isStrict: true })));
      const refusal = await waitFor('the policy is strict', () =>
        admitted(UNKNOWN).then(
          () => undefined,
          (error: unknown) => error as ApiError,
        ),
      );
      assert.equal(refusal.status, 422);
      assert.match(
        refusal.message,
        /denied request: no sexton, because the lock does not say what these images start here: who/,
      );
      assert.ok(isInjected(await admitted(PLAIN)));
    },
    unlessMutatingPolicies,
  );
});

/** Changes pods that the policy has injected, so that the policy is called again. */
const LABELLING = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: ${NAME}-zz}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions:
    - {name: is-injected, expression: "object.spec.?volumes.orValue([]).exists(v, v.name == 'sexton')"}
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: >
          [JSONPatch{op: "add", path: "/metadata/labels", value: {"by-another": "policy"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: ${NAME}-zz}
spec:
  policyName: ${NAME}-zz
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${NAME}}}}
`;

/** With names of this run. The bindings would admit kube-system, too. */
function narrowed(options: PolicyOptions): string {
  const namespaceSelector = {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [NAME, 'kube-system'] }],
  };
  const objects = parseAllDocuments(policyText(options).replaceAll('sexton-inject', NAME)).map((one) => one.toJS());
  for (const { kind, spec } of objects)
    if (/Binding$/.test(kind)) Object.assign(spec, { matchResources: { namespaceSelector } });
  return objects.map((one) => stringify(one)).join('---\n');
}

async function applyPolicy(t: TestContext, options: PolicyOptions): Promise<{ delete(): Promise<unknown> }> {
  const policy = await applyObjects(t, narrowed(options));
  const mount = options.deliver === 'image-volume' ? 'subPath' : 'readOnly';
  await waitFor('the policy counts', async () => {
    const [container] = (await admitted(PLAIN)).spec.containers;
    return mountsOf(container).some((one) => one.name === 'sexton' && mount in one);
  });
  return policy;
}

async function applyObjects(t: TestContext, text: string): Promise<{ delete(): Promise<unknown> }> {
  const file = fileOf(text);
  const remove = (): Promise<unknown> => kubectl('delete', '--ignore-not-found', '--filename', file);
  t.after(remove);
  await kubectl('apply', '--filename', file);
  return { delete: remove };
}

interface Labelled extends PodObject {
  readonly metadata: PodObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
}

/** The pod as the API server would keep it. */
function admitted(pod: object): Promise<Labelled> {
  return ask<Labelled>('POST', `${podsPath()}${DRY}`, pod);
}

/** What kubectl tells the person who makes a pod. */
async function warningOf(pod: object): Promise<string> {
  const args = ['create', '--dry-run=server', '--namespace', namespace(), '--filename', fileOf(stringify(pod))];
  return (await promisify(execFile)('kubectl', args)).stderr;
}

function isInjected({ spec }: PodObject): boolean {
  return spec.volumes?.some(({ name }) => name === 'sexton') === true;
}

function mountsOf(container: ContainerSpec | undefined): readonly { readonly name: string }[] {
  return (container?.volumeMounts ?? []) as readonly { readonly name: string }[];
}

/** What is compared: all but tokens, whose names are drawn, and how and in which order flags are written. */
function partsOf({ spec }: { readonly spec: PodSpec }) {
  const isOwn = ({ name }: { readonly name: string }): boolean => !name.startsWith('kube-api-access-');
  const partOf = (one: ContainerSpec) => {
    return { ...one, command: withFlags(one.command), volumeMounts: mountsOf(one).filter(isOwn) };
  };
  return {
    ...spec,
    containers: spec.containers.map(partOf),
    initContainers: spec.initContainers?.map(partOf),
    volumes: spec.volumes?.filter(isOwn),
  };
}

function withFlags(command: readonly string[] | undefined) {
  const end = command?.indexOf('--') ?? -1;
  if (command?.[0] !== '/sexton/sexton' || end < 0) return command;
  const flags = command
    .slice(2, end)
    .join(' ')
    .replaceAll(/(?<=--[a-z-]+) /g, '=')
    .split(' ');
  return [...command.slice(0, 2), flags.toSorted(), command.slice(end + 1)];
}
