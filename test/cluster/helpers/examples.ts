/** The manifests of `examples` as they stand, and the images that they name, made of the examples' own programs. */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import { after, before } from 'node:test';
import { readManifests } from '../../helpers/manifest.ts';
import { ROOT } from '../../helpers/paths.ts';
import { ApiError, ask, kubectl } from './api.ts';
import type { Image, ImageSpec } from './archive.ts';
import { type Layers, withLayers } from './images.ts';
import { findLoader } from './loader.ts';
import { namespace } from './watch.ts';

export const NGINX = '/usr/sbin/nginx';

/** Before the tests of this file and after them. */
export function withExampleImages(): void {
  let images: Image[] = [];
  before(async () => {
    images = await withLayers(describeImages, await findLoader());
  });
  after(async () => {
    if (images.length > 0) await (await findLoader()).remove(images);
  });
}

/** Applies a manifest of an example as it stands, and removes what it made when the test is over. */
export async function apply(t: TestContext, ...files: readonly string[]): Promise<void> {
  const named = files.flatMap((file) => ['--filename', join(ROOT, 'examples', file)]);
  t.after(() => kubectl('delete', '--namespace', namespace(), '--ignore-not-found', '--wait=false', ...named));
  await kubectl('apply', '--namespace', namespace(), ...named);
}

/** True when it was granted. */
export async function evict(pod: string): Promise<boolean> {
  const path = `/api/v1/namespaces/${namespace()}/pods/${pod}/eviction`;
  try {
    await ask('POST', path, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 429) return false;
    throw error;
  }
}

async function describeImages({ base, applets, newLayer }: Layers): Promise<ImageSpec[]> {
  const scripts = async (name: string, programs: Readonly<Record<string, string>>): Promise<string> => {
    const layer = await newLayer(name);
    for (const [program, file] of Object.entries(programs)) {
      await cp(join(ROOT, 'examples', file), join(layer, basename(file)));
      if (program === '') continue;
      await writeFile(join(layer, program), `#!/bin/sh\nexec /bin/node /${basename(file)}\n`);
      await chmod(join(layer, program), 0o755);
    }
    return layer;
  };
  const restarts = await scripts('restarts', {
    work: 'sidecar-restarts-while-main-drains/work.mjs',
    proxy: 'sidecar-restarts-while-main-drains/proxy.mjs',
  });
  const server = await scripts('server', { server: 'server-demo/server.mjs' });
  const answers = await scripts('answers', { '': 'long-answers/server.mjs' });
  // The manifest brings sexton on a volume, which hides what the image has there, so that Node cannot be its.
  const report = await newLayer('report');
  await writeFile(join(report, 'report'), '#!/bin/sh\nwget -q -O - http://127.0.0.1:15001/ || exit 9\n', {
    mode: 0o755,
  });
  const mesh = await scripts('mesh', { mesh: 'istio-job/istio-like.mjs' });
  const controller = await scripts('controller', {
    controller: 'controller-demo/controller.mjs',
    '': 'controller-demo/lease.mjs',
  });
  const env = (...Env: readonly string[]) => ({ Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...Env] });
  const all: ImageSpec[] = [
    { name: 'example.com/sexton:1', layers: [base], config: { Entrypoint: ['/sexton/sexton'], User: '65532:65532' } },
    { name: 'docker.io/library/busybox:1.37', layers: [applets] },
    { name: 'example.com/work-with-sexton:1', layers: [base, applets, restarts], config: env('WORK_LOG=/dev/stdout') },
    { name: 'example.com/proxy-with-sexton:1', layers: [base, applets, restarts] },
    {
      name: 'example.com/server-with-sexton:1',
      layers: [base, applets, server],
      config: env('PORT=8080', 'WARM_UP_MS=500'),
    },
    { name: 'example.com/answers-with-sexton:1', layers: [base, applets, answers] },
    { name: 'example.com/report:1', layers: [applets, report] },
    {
      name: 'example.com/mesh:1',
      layers: [base, applets, mesh],
      config: env('AGENT_PORT=15020', 'READY_PORT=15021', 'PROXY_PORT=15001'),
    },
    {
      name: 'example.com/controller-with-sexton:1',
      layers: [base, applets, controller],
      config: env('PORT=8081', 'LEASE=/tmp', 'LEASE_MS=5000', 'LOG=/dev/stdout'),
    },
  ];
  if (existsSync(NGINX))
    all.push({
      name: 'docker.io/library/nginx:1.29',
      layers: [applets, await nginxLayer(newLayer)],
      config: { StopSignal: 'SIGQUIT' },
    });
  return all;
}

/**
 * This machine's nginx with the libraries that it needs, and a page. As the official image it declares SIGQUIT, and has
 * an entrypoint that ends with `exec`.
 */
async function nginxLayer(newLayer: Layers['newLayer']): Promise<string> {
  const layer = await newLayer('nginx');
  const listed = execFileSync('ldd', [NGINX], { encoding: 'utf8' });
  const libraries = [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  for (const path of [NGINX, ...libraries]) await cp(path, join(layer, path), { dereference: true });
  for (const dir of ['var/lib/nginx', 'var/log/nginx', 'run', 'srv', 'etc/nginx', 'usr/share/nginx'])
    await mkdir(join(layer, dir), { recursive: true });
  await writeFile(join(layer, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n');
  await writeFile(join(layer, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
  await writeFile(join(layer, 'docker-entrypoint.sh'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  await writeFile(join(layer, 'srv/index.html'), `${'hello '.repeat(100)}\n`);
  const http = 'http { access_log off; server { listen 80; root /srv; limit_rate 2000; } }';
  await writeFile(
    join(layer, 'etc/nginx/nginx.conf'),
    `user root; error_log stderr; pid /run/nginx.pid; events {} ${http}\n`,
  );
  return layer;
}

/** The pod template that stands in a manifest. */
export function manifestOf(file: string, kind: string): Readonly<Record<string, unknown>> {
  const found = readManifests(`examples/${file}`).find((it) => it.kind === kind);
  if (found === undefined) throw new Error(`${file} has no ${kind}`);
  return found.content;
}
