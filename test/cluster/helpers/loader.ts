/**
 * Brings an archive of images onto the nodes of a cluster, and takes the images away again. The way is
 * TEST_CLUSTER_LOADER, or what fits the context of KUBECONFIG:
 *
 *   kind       the context is `kind-NAME`: `kind load image-archive`, and `crictl rmi` in its nodes
 *   minikube   the context is `minikube`: `minikube image load`, `minikube image rm`
 *   ctr        the cluster has one node, which is this machine: `ctr images import` to the containerd that its kubelet uses
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { ask, kubectl } from './api.ts';
import type { Image } from './archive.ts';

const run = promisify(execFile);

export interface Loader {
  load(archive: string): Promise<void>;
  remove(images: readonly Image[]): Promise<void>;
  /** The names and, where it reports them, the ids of the images that the nodes have. */
  list(): Promise<string[]>;
}

export async function findLoader(): Promise<Loader> {
  const context = (await kubectl('config', 'current-context')).trim();
  const wanted = process.env.TEST_CLUSTER_LOADER || fitting(context);
  switch (wanted) {
    case 'kind':
      return kind(context.replace(/^kind-/, ''));
    case 'minikube':
      return minikube(context);
    case 'ctr':
      return ctr(await containerdSocket());
    default:
      throw new Error(`TEST_CLUSTER_LOADER is '${wanted}': it is kind, minikube or ctr`);
  }
}

function fitting(context: string): string {
  if (context.startsWith('kind-')) return 'kind';
  return context === 'minikube' ? 'minikube' : 'ctr';
}

function kind(name: string): Loader {
  const inNodes = async (...command: readonly string[]): Promise<string[]> => {
    const nodes = (await call('kind', 'get', 'nodes', '--name', name)).split('\n').filter(Boolean);
    return Promise.all(nodes.map((node) => call('docker', 'exec', node, ...command)));
  };
  return {
    load: async (archive) => void (await call('kind', 'load', 'image-archive', '--name', name, archive)),
    remove: async (images) => void (await inNodes('crictl', 'rmi', ...images.map((it) => it.name))),
    list: async () => {
      const listed = (await inNodes('crictl', 'images', '--output', 'json')).map((it) => JSON.parse(it));
      return listed.flatMap((it: { images: { repoTags: string[] }[] }) => it.images.flatMap((image) => image.repoTags));
    },
  };
}

function minikube(profile: string): Loader {
  const image = (...args: readonly string[]): Promise<string> =>
    call('minikube', '--profile', profile, 'image', ...args);
  return {
    load: async (archive) => void (await image('load', archive)),
    remove: async (images) => void (await image('rm', ...images.map((it) => it.name))),
    list: async () => (await image('ls')).split('\n'),
  };
}

function ctr(socket: string): Loader {
  const images = (...args: readonly string[]): Promise<string> =>
    call('ctr', '--address', socket, '--namespace', 'k8s.io', 'images', ...args);
  return {
    load: async (archive) => void (await images('import', '--local', archive)),
    // The runtime of the kubelet has named it by its id as well.
    remove: async (all) => void (await images('rm', '--sync', ...all.flatMap(({ name, id }) => [name, id]))),
    list: async () => (await images('ls', '--quiet')).split('\n'),
  };
}

/** As the kubelet of the only node reports it. */
async function containerdSocket(): Promise<string> {
  const { items } = await ask<{ items: { metadata: { name: string } }[] }>('GET', '/api/v1/nodes');
  const [node] = items;
  if (node === undefined || items.length > 1)
    throw new Error(`no loader of images is known for a cluster of ${items.length} nodes; set TEST_CLUSTER_LOADER`);
  const { kubeletconfig } = await ask<{ kubeletconfig: { containerRuntimeEndpoint?: string } }>(
    'GET',
    `/api/v1/nodes/${node.metadata.name}/proxy/configz`,
  );
  const socket = (kubeletconfig.containerRuntimeEndpoint ?? '').replace(/^unix:\/\//, '');
  if (!existsSync(socket))
    throw new Error(`the node's containerd is not on this machine (${socket}); set TEST_CLUSTER_LOADER`);
  return socket;
}

async function call(file: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(file, args, { maxBuffer: 64 << 20 });
  return stdout;
}
