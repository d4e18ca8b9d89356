/** Rolling updates of a Deployment, and what clients of its Service see of them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { ask, kubectl } from './api.ts';
import { type Answers, startClients } from './clients.ts';
import { isReady, type PodObject } from './objects.ts';
import { namespace, podsPath, untilPods } from './watch.ts';

/** Its Service and the label `app` of its pods have the same name. */
export async function assertRollsWithoutFailure(t: TestContext, name: string, replicas: number): Promise<void> {
  const { asked, failed } = await rolled(t, name, replicas);
  assert.deepEqual(failed, []);
  assert.ok(asked > 100, `${asked} requests`);
}

/** All pods are replaced while clients ask them. */
export async function rolled(t: TestContext, name: string, replicas: number): Promise<Answers> {
  await untilRolledOut(name);
  const clients = await startClients(t, name);
  await clients.untilReady(replicas);
  const old = await namesOf(`app=${name}`);
  await restartRollout(name);
  await untilRolledOut(name);
  for (const pod of old)
    await untilPods(`${pod} is gone`, (it) => (it.type === 'DELETED' && it.pod.metadata.name === pod) || undefined);
  return clients.stop();
}

/** What `kubectl rollout restart` does. */
async function restartRollout(deployment: string): Promise<void> {
  await kubectl('rollout', 'restart', '--namespace', namespace(), `deployment/${deployment}`);
}

export async function untilRolledOut(name: string, kind = 'deployment'): Promise<void> {
  await kubectl('rollout', 'status', '--namespace', namespace(), '--timeout=110s', `${kind}/${name}`);
}

/** The pods that are ready and stay. */
export async function namesOf(label: string): Promise<string[]> {
  const { items } = await ask<{ items: PodObject[] }>(
    'GET',
    `${podsPath()}?labelSelector=${encodeURIComponent(label)}`,
  );
  return items.filter((it) => isReady(it) && it.metadata.deletionTimestamp === undefined).map((it) => it.metadata.name);
}
