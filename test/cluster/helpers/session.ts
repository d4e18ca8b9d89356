/**
 * One run of the tests on a cluster: a proxy to its API, the images, and a namespace for all that the tests make. The
 * end removes all of it, and reports what it could not remove.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor, waitForFile } from '../../helpers/wait.ts';
import { ApiError, type ApiObject, ask } from './api.ts';
import type { Image } from './archive.ts';
import { loadImages } from './images.ts';
import { findLoader, type Loader } from './loader.ts';

const GONE_LIMIT_MS = 120_000;

export interface Session {
  /** Removes all that was made, and says what is left of it. */
  end(): Promise<string[]>;
}

/** Throws an error of one line when there is no cluster. Sets the TEST_CLUSTER_* variables that the test files read. */
export async function beginSession(mark: string): Promise<Session> {
  requireCluster();
  const dir = mkdtempSync(join(tmpdir(), 'sx-cluster-'));
  const socket = join(dir, 'api');
  const proxy = spawn('kubectl', ['proxy', `--unix-socket=${socket}`], { stdio: ['ignore', 'ignore', 'inherit'] });
  process.env.TEST_CLUSTER_SOCKET = socket;
  process.env.TEST_CLUSTER_RUN = mark;
  const namespace = `sexton-test-${mark}`;
  process.env.TEST_CLUSTER_NAMESPACE = namespace;
  await waitForFile(socket);
  const loader = await findLoader();
  let images: Image[] = [];
  const end = async (): Promise<string[]> => {
    const left = await clear(namespace, loader, images).catch((error: unknown) => [String(error)]);
    await endProxy(proxy);
    rmSync(dir, { recursive: true, force: true });
    return left;
  };
  try {
    await ask('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels: { 'sexton-test': mark } } });
    images = await loadImages(loader, mark);
    await waitFor('the namespace has its service account', () =>
      exists(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    );
    return { end };
  } catch (error) {
    await end();
    throw error;
  }
}

function requireCluster(): void {
  try {
    execFileSync('kubectl', ['get', '--raw', '/readyz', '--request-timeout=10s'], { stdio: 'pipe' });
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: Buffer };
    if (code === 'ENOENT') throw new Error('kubectl is not installed: the tests of a cluster talk to it by kubectl');
    const said = String(stderr ?? '')
      .trim()
      .split('\n')
      .at(-1);
    throw new Error(`no cluster answers: set KUBECONFIG to one that you can spare (${said})`);
  }
}

async function clear(namespace: string, loader: Loader, images: readonly Image[]): Promise<string[]> {
  const path = `/api/v1/namespaces/${namespace}`;
  // Pods first and without their grace period: the namespace would wait for each of them as long as it wants.
  await ask('DELETE', `${path}/pods?gracePeriodSeconds=1`).catch(unlessGone);
  await ask('DELETE', path).catch(unlessGone);
  const isGone = async (): Promise<boolean> => !(await exists(path));
  const gone = await waitFor(`${namespace} is gone`, isGone, GONE_LIMIT_MS).catch(() => false);
  if (images.length > 0) await loader.remove(images);
  const still = new Set(await loader.list());
  return [
    ...(gone ? [] : [`namespace ${namespace}`]),
    ...images.filter(({ name, id }) => still.has(name) || still.has(id)).map((it) => `image ${it.name}`),
  ];
}

async function exists(path: string): Promise<boolean> {
  return (await ask<ApiObject>('GET', path).catch(unlessGone)) !== undefined;
}

function unlessGone(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}

async function endProxy(proxy: ChildProcess): Promise<void> {
  if (proxy.exitCode !== null || proxy.signalCode !== null) return;
  const ended = once(proxy, 'exit');
  proxy.kill();
  await ended;
}
