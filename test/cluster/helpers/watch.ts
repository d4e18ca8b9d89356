/** The pods of the run's namespace, as the API server reports them: one watch for all that a test file looks at. */
import { within } from '../../helpers/wait.ts';
import { ask, follow } from './api.ts';
import type { PodObject } from './objects.ts';

export interface PodChange {
  /** When it was heard of, in milliseconds of this machine's clock. */
  readonly atMs: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly pod: PodObject;
}

type Listener = (change: PodChange) => void;

const listeners = new Set<Listener>();
const all: PodChange[] = [];
let begun: Promise<void> | undefined;

export function namespace(): string {
  return process.env.TEST_CLUSTER_NAMESPACE ?? '';
}

export function podsPath(): string {
  return `/api/v1/namespaces/${namespace()}/pods`;
}

/** Calls `onChange` for all changes, past and to come, until the function that it resolves to is called. */
export async function watchPods(onChange: Listener): Promise<() => void> {
  begun ??= begin();
  await begun;
  for (const change of all) onChange(change);
  listeners.add(onChange);
  return () => void listeners.delete(onChange);
}

/** Resolves to the first change, of the past too, for which `find` has an answer. */
export async function untilPods<T>(
  what: string,
  find: (change: PodChange) => T | undefined,
  limitMs?: number,
): Promise<T> {
  let stop = (): void => {};
  const found = new Promise<T>((resolve, reject) => {
    const onChange = (change: PodChange): void => {
      const answer = find(change);
      if (answer !== undefined) resolve(answer);
    };
    watchPods(onChange).then((end) => {
      stop = end;
    }, reject);
  });
  return within(what, found, limitMs).finally(() => stop());
}

async function begin(): Promise<void> {
  const { items, metadata } = await ask<{ items: PodObject[]; metadata: { resourceVersion: string } }>(
    'GET',
    podsPath(),
  );
  for (const pod of items) tell({ atMs: Date.now(), type: 'ADDED', pod });
  void keepWatching(metadata.resourceVersion);
}

async function keepWatching(from: string): Promise<void> {
  for (let version = from; ; ) {
    const onLine = (line: string): void => {
      const { type, object } = JSON.parse(line) as { type: PodChange['type'] | 'BOOKMARK'; object: PodObject };
      version = object.metadata.resourceVersion;
      if (type !== 'BOOKMARK') tell({ atMs: Date.now(), type, pod: object });
    };
    await follow(`${podsPath()}?watch=1&resourceVersion=${version}`, onLine);
  }
}

function tell(change: PodChange): void {
  all.push(change);
  for (const listener of [...listeners]) listener(change);
}
