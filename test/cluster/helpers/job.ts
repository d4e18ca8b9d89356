/** A Job of a test, and the pod that its controller makes. */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { waitFor } from '../../helpers/wait.ts';
import { ApiError, type ApiObject, ask } from './api.ts';
import type { PodSpec } from './objects.ts';
import { type ClusterPod, followPod } from './pod.ts';
import { namespace, untilPods } from './watch.ts';

interface JobObject extends ApiObject {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export interface Job {
  /** Its first one. */
  pod(): Promise<ClusterPod>;
  /** What its controller says of it. */
  end(): Promise<'Complete' | 'Failed'>;
  delete(): Promise<void>;
}

export async function createJob(t: TestContext, name: string, spec: PodSpec): Promise<Job> {
  const jobs = `/apis/batch/v1/namespaces/${namespace()}/jobs`;
  const unique = `${name}-${randomBytes(3).toString('hex')}`;
  const path = `${jobs}/${unique}`;
  const job = { metadata: { name: unique }, spec: { backoffLimit: 0, template: { spec } } };
  const { metadata } = await ask<JobObject>('POST', jobs, { apiVersion: 'batch/v1', kind: 'Job', ...job });
  const remove = async (): Promise<void> => void (await ask('DELETE', `${path}?propagationPolicy=Background`));
  t.after(() =>
    remove().catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }),
  );
  return {
    pod: async () => followPod(t, await podOwnedBy(metadata.uid)),
    end: () =>
      waitFor(`the end of the Job ${unique}`, async () => {
        const { status } = await ask<JobObject>('GET', path);
        const found = status.conditions?.find((it) => it.status === 'True' && /^(Complete|Failed)$/.test(it.type));
        return found?.type as 'Complete' | 'Failed' | undefined;
      }),
    delete: remove,
  };
}

/** The name of the first pod that the object with this uid has made. */
export function podOwnedBy(uid: string): Promise<string> {
  return untilPods('a pod of the controller', ({ pod: { metadata } }) =>
    metadata.ownerReferences?.some((it) => it.uid === uid) ? metadata.name : undefined,
  );
}
