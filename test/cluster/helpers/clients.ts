/**
 * Clients in the cluster that follow the EndpointSlices of a Service, as every proxy of a node does. They send requests
 * to what is ready, and to nothing else. They need no proxy and no name server of the cluster.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { within } from '../../helpers/wait.ts';
import { ask, follow } from './api.ts';
import { imageNames } from './images.ts';
import { startPod } from './pod.ts';
import { namespace } from './watch.ts';

export interface Answers {
  readonly asked: number;
  /** How often there was no ready address to ask, after there had been one. */
  readonly unserved: number;
  readonly failed: readonly { readonly at: string; readonly address: string; readonly trouble: string }[];
}

export interface Clients {
  untilReady(count: number): Promise<void>;
  stop(): Promise<Answers>;
}

interface EndpointSlice {
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
  readonly ports?: readonly { readonly port?: number }[];
}

export async function startClients(t: TestContext, service: string): Promise<Clients> {
  const container = {
    name: 'client',
    image: imageNames().whole,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"],
  };
  const pod = await startPod(t, 'clients', { terminationGracePeriodSeconds: 1, containers: [container] });
  await pod.untilPhase('Running');
  const where = ['--namespace', namespace(), pod.name, '--container', 'client'];
  const client = spawn('kubectl', ['exec', '--stdin', ...where, '--', '/bin/node', '/client.mjs'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  client.stdin.on('error', () => {});
  t.after(() => client.kill());
  let said = '';
  client.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  let ready = 0;
  const looks = new Set<() => void>();
  const over = new AbortController();
  t.after(() => over.abort());
  await followSlices(service, over.signal, (addresses) => {
    ready = addresses.length;
    client.stdin.write(`${JSON.stringify(addresses)}\n`);
    for (const look of looks) look();
  });
  return {
    untilReady: (count) =>
      within(
        `${count} endpoints of ${service} are ready`,
        new Promise((resolve) => {
          const look = (): void => {
            if (ready === count) resolve();
          };
          looks.add(look);
          look();
        }),
      ),
    stop: async () => {
      const ended = once(client, 'close');
      over.abort();
      client.stdin.end();
      await within('the clients end', ended);
      return JSON.parse(said) as Answers;
    },
  };
}

/** Calls `onChange` with what is ready, now and whenever that changes. */
async function followSlices(
  service: string,
  signal: AbortSignal,
  onChange: (addresses: readonly string[]) => void,
): Promise<void> {
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`);
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace()}/endpointslices?labelSelector=${selector}`;
  const slices = new Map<string, EndpointSlice>();
  const tell = (): void => onChange([...slices.values()].flatMap(readyIn));
  type Named = EndpointSlice & { metadata: { name: string; resourceVersion: string } };
  const { items, metadata } = await ask<{ items: Named[]; metadata: { resourceVersion: string } }>('GET', path);
  for (const item of items) slices.set(item.metadata.name, item);
  tell();
  const onLine = (line: string): void => {
    const { type, object } = JSON.parse(line) as { type: string; object: Named };
    if (type === 'DELETED') slices.delete(object.metadata.name);
    else slices.set(object.metadata.name, object);
    tell();
  };
  void follow(`${path}&watch=1&resourceVersion=${metadata.resourceVersion}`, onLine, signal).catch(() => {});
}

function readyIn({ endpoints, ports }: EndpointSlice): string[] {
  const port = ports?.[0]?.port ?? 80;
  const found = (endpoints ?? []).filter((it) => it.conditions?.ready === true).flatMap((it) => it.addresses);
  return found.map((address) => `${address}:${port}`);
}
