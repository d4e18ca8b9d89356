/**
 * The image of sexton, and the ways from there into images of every kind. The image is built by its own Dockerfile, on
 * a root of Debian that replaces the official image of Node.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inventoryDigest } from '../../src/cli/commands/install/inventory.ts';
import { layInventory } from '../../src/delivery/inventory.ts';
import { ROOT } from '../helpers/paths.ts';
import { podman } from '../helpers/podman.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { application, withContainer } from '../pods/real/container.ts';
import { withPod } from '../pods/real/pod.ts';
import { buildDeliveryImages, buildSexton, type DeliveryImages, removeImages, TARGETS } from './images.ts';
import { type Delivered, deliver, installTo, LOCKED, WAYS, waysInto } from './ways.ts';

const SIGUSR1 = 10;
const MIB = 1 << 20;

let images: DeliveryImages;
let volumes: string;

before(async () => {
  images = await buildDeliveryImages();
  volumes = mkdtempSync(join(tmpdir(), 'sx-volumes-'));
  await installTo(join(volumes, 'whole'), images.sexton);
});
after(async () => {
  if (volumes !== undefined) rmSync(volumes, { recursive: true, force: true });
  await images?.remove();
});

for (const target of TARGETS) {
  for (const way of waysInto(target)) {
    scenario(`sexton works in an image of kind ${target} by ${WAYS[way]}, as root and locked down`, async (stage) => {
      // Members of several users append to it.
      writeFileSync(stage.scratch.log, '');
      chmodSync(stage.scratch.log, 0o666);
      const delivered = deliver(way, target, images, join(volumes, 'whole'));
      await assertServes(stage, delivered, 'root', []);
      await assertServes(stage, delivered, 'locked', LOCKED);
    });
  }
}

/** TERM is translated, and the exit code kept. `name`: the member's, so that one test can have several. */
async function assertServes(stage: Stage, delivered: Delivered, name: string, more: readonly string[]) {
  const { image, options, program } = delivered;
  const { log, graveyard } = stage.scratch;
  const flags = ['run', '--name', name, '--graveyard', graveyard, '--signals', 'TERM:USR1', '--'];
  const command = [...flags, ...application(stage, name, { stop: 'USR1', exit: 5 })];
  const all = [...options, ...more, `--entrypoint=${JSON.stringify([program])}`];
  await withContainer(stage, { image, podman: all, command }, async (container) => {
    await container.start();
    await waitForEvent(log, name, 'Started');
    await podman('kill', '--signal=TERM', container.name);
    assert.equal(await container.exit(), 5);
  });
  assert.deepEqual(readTimeline(log).signals(name), [SIGUSR1]);
  const { Reason, ExitCode } = readTombstone(graveyard, name) ?? {};
  assert.deepEqual([Reason, ExitCode], ['stopped', 5]);
}

test('COPY --from adds one layer to an image, and without it the image is as before', async () => {
  const layersOf = async (image: string): Promise<string[]> =>
    JSON.parse(await podman('image', 'inspect', '--format={{json .RootFS.Layers}}', image)) as string[];
  for (const target of TARGETS) {
    const before = await layersOf(images.targets[target]);
    const copy = await layersOf(images.targets[`${target}-copy`]);
    assert.deepEqual([copy.slice(0, -1), copy.length], [before, before.length + 1]);
  }
});

test('a sidecar ends with its work under Pod Security restricted, with three users', async () => {
  const variables = { SEXTON: images.sexton, PROXY: images.targets.musl, WORK: images.targets.bare };
  await withPod('../../docker/restricted.yaml', variables, async (pod) => {
    assert.deepEqual([await pod.exitOf('work'), await pod.exitOf('proxy')], [3, 0]);
    const log = readTimeline(pod.log);
    log.startsBefore('proxy', 'work');
    log.exitsBeforeSignalTo('work', 'proxy');
    const owners = ['work', 'proxy'].map((name) => statSync(join(pod.graveyard, name)).uid);
    assert.deepEqual(owners, [10002, 10001]);
  });
});

test('install refuses a volume that is too small, and says how much space it needs', async () => {
  const tmpfs = '--mount=type=tmpfs,tmpfs-size=32m,tmpfs-mode=1777,destination=/small';
  const args = ['run', '--rm', '--network=none', tmpfs, images.sexton, 'install', '/small'];
  await assert.rejects(podman(...args), (error: Error & { code?: number }) => {
    assert.equal(error.code, 125);
    assert.match(error.message, /cannot install to \/small: it needs \d+\.\d MiB and 32\.0 MiB are free/);
    return true;
  });
});

test('a second init container finds sexton installed and writes nothing', async () => {
  const said = await installTo(join(volumes, 'whole'), images.sexton, '--user=23456:23456');
  assert.match(said, /^sexton \S+ \(digest [0-9a-f]{12}\) was in \/target already: /);
});

test('the image holds only /sexton as its inventory lists it, and runs as an unprivileged user', async (t) => {
  const dir = await exportImage(images.sexton);
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  assert.deepEqual(execFileSync('ls', ['-A', dir], { encoding: 'utf8' }).split('\n').filter(Boolean), ['sexton']);
  const inventory = readFileSync(join(dir, 'sexton', 'inventory'), 'utf8');
  assert.equal(layInventory(join(dir, 'sexton')), inventoryDigest(inventory));
  const names = inventory.split('\n').map((line) => line.split(' ').at(-1) ?? '');
  assert.ok(!names.some((name) => /npm|corepack|include/.test(name)), inventory);
  const sbom = readFileSync(join(dir, 'sexton', 'sbom.cdx.json'), 'utf8');
  for (const part of ['generic/node', ...['libc6', 'libstdc%2B%2B6', 'musl-dev'].map((it) => `deb/debian/${it}`)])
    assert.ok(sbom.includes(`"pkg:${part}@`), part);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const inspected = await podman('image', 'inspect', images.sexton);
  const [{ Config, Size }] = JSON.parse(inspected) as [{ Config: Record<string, unknown>; Size: number }];
  const { Labels, User, Entrypoint } = Config as { Labels: Record<string, string>; User: string; Entrypoint: string[] };
  assert.deepEqual([User, Entrypoint], ['65532:65532', ['/sexton/sexton']]);
  assert.equal(Labels['org.opencontainers.image.version'], version);
  assert.equal(Labels['org.opencontainers.image.revision'], '0123456789ab');
  assert.ok(Size < 120 * MIB, `${Size} bytes`);
  const said = await podman('run', '--rm', '--network=none', images.sexton, 'version');
  assert.equal(said, `sexton ${version} (commit 0123456789ab)`);
});

test('a second build with packages from elsewhere gives the same image', async () => {
  const again = `${images.sexton}-again`;
  const made = await buildSexton(again, images.node, '--no-cache', `--build-context=packages=${ROOT}`);
  try {
    const layersOf = (image: string) => podman('image', 'inspect', '--format={{.RootFS.Layers}} {{.Id}}', image);
    assert.equal(await layersOf(again), await layersOf(images.sexton));
  } finally {
    await removeImages(made);
  }
});

async function exportImage(image: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'sx-image-'));
  const container = await podman('create', '--network=none', image);
  try {
    await podman('export', '--output', `${dir}.tar`, container);
    execFileSync('tar', ['--extract', '--file', `${dir}.tar`, '--directory', dir]);
    // podman's mount points, which it makes for every container.
    for (const name of ['dev', 'proc', 'sys', 'etc', 'run']) rmSync(join(dir, name), { recursive: true, force: true });
    return dir;
  } finally {
    rmSync(`${dir}.tar`, { force: true });
    await podman('rm', '--force', container);
  }
}
