/**
 * An archive of images in the layout of the Open Container Initiative, which every loader of images takes: no engine
 * builds it. Images that share their first layers share them in the archive, too.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ImageSpec {
  /** With its registry: containerd knows no short names. */
  readonly name: string;
  /** Directories, each a layer, the lowest first. */
  readonly layers: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface Image {
  readonly name: string;
  /** The digest of its configuration, by which runtimes of Kubernetes know it as well. */
  readonly id: string;
}

/** Writes the archive to `file`, whose directory must have room for it twice. */
export async function writeArchive(file: string, images: readonly ImageSpec[]): Promise<Image[]> {
  const dir = await mkdtemp(`${file}.`);
  const blobs = join(dir, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  try {
    const layers = new Map<string, Blob>();
    for (const root of new Set(images.flatMap((it) => it.layers))) layers.set(root, await writeLayer(blobs, root));
    const manifests: unknown[] = [];
    const written: Image[] = [];
    for (const { name, layers: roots, config } of images) {
      const blobsOfImage = roots.map((root) => layers.get(root) ?? fail(root));
      const { manifest, id } = await writeImage(blobs, blobsOfImage, config);
      const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name };
      manifests.push({ ...manifest, annotations, platform: PLATFORM });
      written.push({ name, id });
    }
    await writeFile(join(dir, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests }));
    await writeFile(join(dir, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    await tar(dir, file);
    return written;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const PLATFORM = { architecture: process.arch === 'x64' ? 'amd64' : process.arch, os: 'linux' };

async function writeImage(
  blobs: string,
  layers: readonly Blob[],
  config: ImageSpec['config'],
): Promise<{ manifest: Blob; id: string }> {
  const rootfs = { type: 'layers', diff_ids: layers.map((it) => it.digest) };
  const described = { ...PLATFORM, config: { Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'], ...config }, rootfs };
  const configBlob = await writeBlob(blobs, CONFIG, JSON.stringify(described));
  const text = JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config: configBlob, layers });
  return { manifest: await writeBlob(blobs, MANIFEST, text), id: configBlob.digest };
}

async function writeLayer(blobs: string, root: string): Promise<Blob> {
  const file = join(blobs, 'layer');
  await tar(root, file);
  return keep(blobs, LAYER, file);
}

async function writeBlob(blobs: string, mediaType: string, text: string): Promise<Blob> {
  const file = join(blobs, 'blob');
  await writeFile(file, text);
  return keep(blobs, mediaType, file);
}

/** Gives the file its name, which is its digest. */
async function keep(blobs: string, mediaType: string, file: string): Promise<Blob> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  const hex = hash.digest('hex');
  const { size } = await stat(file);
  await rename(file, join(blobs, hex));
  return { mediaType, digest: `sha256:${hex}`, size };
}

/** The same directory gives the same bytes. */
async function tar(dir: string, file: string): Promise<void> {
  const plain = ['--sort=name', '--mtime=@0', '--numeric-owner', '--owner=0', '--group=0', '--format=gnu'];
  await run('tar', ['--create', ...plain, '--file', file, '--directory', dir, '.']);
}

function fail(root: string): never {
  throw new Error(`internal error: no layer was written for ${root}`);
}
