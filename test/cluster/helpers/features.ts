/** What a cluster can do, asked of it: each says why not, for a test that needs it. */
import { ask } from './api.ts';
import type { PodObject, PodSpec } from './objects.ts';
import { podsPath } from './watch.ts';

export async function unlessStopSignals(): Promise<string | undefined> {
  const kept = await keptOf({
    os: { name: 'linux' },
    containers: [{ ...CONTAINER, lifecycle: { stopSignal: 'SIGUSR2' } }],
  });
  return kept.containers[0]?.lifecycle === undefined ? 'the feature gate ContainerStopSignals is off' : undefined;
}

export async function unlessImageVolumes(): Promise<string | undefined> {
  const volumes = [{ name: 'a', image: { reference: 'a', pullPolicy: 'Never' } }];
  const kept = await keptOf({ containers: [CONTAINER], volumes });
  return kept.volumes?.[0]?.image === undefined ? 'the feature gate ImageVolume is off' : undefined;
}

/** containerd before 2.2 mounts the whole image and says nothing. */
export async function unlessImageSubPaths(): Promise<string | undefined> {
  const { items } = await ask<{ items: { status: { nodeInfo: { containerRuntimeVersion: string } } }[] }>(
    'GET',
    '/api/v1/nodes',
  );
  const runtimes = items.map((it) => it.status.nodeInfo.containerRuntimeVersion);
  const old = runtimes.find((it) => /^containerd:\/\/(1\.|2\.[01]\b)/.test(it));
  return old === undefined ? unlessImageVolumes() : `${old} ignores the subPath of image volumes; 2.2 does not`;
}

const CONTAINER = { name: 'a', image: 'a' };

/** What the API server keeps of a pod: it drops the fields of features that are off. */
async function keptOf(spec: PodSpec): Promise<PodSpec> {
  const pod = await ask<PodObject>('POST', `${podsPath()}?dryRun=All`, { metadata: { name: 'dry-run' }, spec });
  return pod.spec;
}

/** It is v1 since Kubernetes 1.36. */
export async function unlessMutatingPolicies(): Promise<string | undefined> {
  const { resources } = await ask<{ resources: { name: string }[] }>('GET', '/apis/admissionregistration.k8s.io/v1');
  const isThere = resources.some(({ name }) => name === 'mutatingadmissionpolicies');
  return isThere ? unlessImageSubPaths() : 'it has no MutatingAdmissionPolicy of v1';
}
