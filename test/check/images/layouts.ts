import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '../../helpers/temporary.ts';

export interface ImageOf {
  readonly name?: string;
  readonly config?: Record<string, unknown>;
  readonly platform?: { readonly os: string; readonly architecture: string };
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Files of an OCI layout by their paths. Images with a platform stand behind one index of the first one's name. */
export function ociFiles(images: readonly ImageOf[]): Record<string, Buffer> {
  const files: Record<string, Buffer> = { 'oci-layout': jsonBytes({ imageLayoutVersion: '1.0.0' }) };
  const put = (mediaType: string, bytes: Buffer): Descriptor => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    files[`blobs/sha256/${hex}`] = bytes;
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const manifestOf = ({ config = {}, name, platform }: ImageOf) => {
    const manifest = {
      schemaVersion: 2,
      mediaType: OCI('manifest'),
      config: put(OCI('config'), configOf(config)),
      layers: [put('application/vnd.oci.image.layer.v1.tar', LAYER)],
    };
    const annotations = name === undefined ? {} : { 'org.opencontainers.image.ref.name': name };
    return { ...put(OCI('manifest'), jsonBytes(manifest)), annotations, ...(platform && { platform }) };
  };
  const manifests = images.map(manifestOf);
  const isMany = images.some(({ platform }) => platform !== undefined);
  const nested = put(OCI('index'), jsonBytes({ schemaVersion: 2, manifests }));
  const top = isMany ? [{ ...nested, annotations: manifests[0]?.annotations }] : manifests;
  files['index.json'] = jsonBytes({ schemaVersion: 2, manifests: top });
  return files;
}

/** `images lock` reads no layer, so this need not be a tar archive. */
const LAYER = Buffer.from('layer');

function configOf(config: Record<string, unknown>): Buffer {
  return jsonBytes({ os: 'linux', architecture: 'amd64', config, rootfs: { type: 'layers', diff_ids: [] } });
}

function OCI(what: string): string {
  return `application/vnd.oci.image.${what}.v1+json`;
}

/** Files of an archive of docker save by their paths. */
export function dockerFiles(images: readonly ImageOf[]): Record<string, Buffer> {
  const files: Record<string, Buffer> = {};
  const manifest = images.map(({ name, config = {} }, index) => {
    files[`${index}.json`] = configOf(config);
    files[`${index}-0/layer.tar`] = LAYER;
    return { Config: `${index}.json`, RepoTags: name === undefined ? null : [name], Layers: [`${index}-0/layer.tar`] };
  });
  return { ...files, 'manifest.json': jsonBytes(manifest) };
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function directoryOf(files: Readonly<Record<string, Buffer>>): string {
  const root = temporaryDirectory();
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
  return root;
}

/** The same as one tar archive in one of the formats of GNU tar. */
export function archiveOf(files: Readonly<Record<string, Buffer>>, format = 'pax'): string {
  const root = directoryOf(files);
  const archive = join(temporaryDirectory(), 'image.tar');
  const args = ['--create', `--file=${archive}`, `--directory=${root}`, `--format=${format}`];
  execFileSync('tar', [...args, ...Object.keys(files)]);
  return archive;
}
