/** A namespace of a test file's own, for objects whose names others may take. */
import { after, before } from 'node:test';
import { waitFor } from '../../helpers/wait.ts';
import { ask, kubectl } from './api.ts';

/** Makes it before the tests of this file, and removes it after them. Returns its name. */
export function withNamespace(ending: string): string {
  const shared = process.env.TEST_CLUSTER_NAMESPACE;
  const name = `${shared}-${ending}`;
  before(async () => {
    process.env.TEST_CLUSTER_NAMESPACE = name;
    await ask('POST', '/api/v1/namespaces', { metadata: { name } });
    await untilUsable(name);
  });
  after(async () => {
    await kubectl('delete', 'namespace', name, '--ignore-not-found');
    process.env.TEST_CLUSTER_NAMESPACE = shared;
  });
  return name;
}

/** Pods can be made where there is the account that they run as. */
export async function untilUsable(namespace: string): Promise<void> {
  await waitFor('the namespace has its service account', () =>
    ask('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`).then(
      () => true,
      () => false,
    ),
  );
}
