/**
 * Images as files: layers by GNU tar, and around them an OCI layout or an archive as docker save writes it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { temporaryDirectory } from '../../helpers/temporary.ts';

/** By path: a text is a file, `-> x` a symbolic link, `= x` a hard link to a path before it, `/` a directory. */
export type Files = Readonly<Record<string, string>>;

/** `format`: of tar --format. */
export function tarOf(files: Files, format = 'pax'): Buffer {
  const root = temporaryDirectory();
  for (const [path, what] of Object.entries(files)) {
    const at = join(root, path);
    mkdirSync(what === '/' ? at : dirname(at), { recursive: true });
    const [, sign, target = ''] = /^(->|=) (.*)$/s.exec(what) ?? [];
    if (sign === '->') symlinkSync(target, at);
    else if (sign === '=') linkSync(join(root, target), at);
    else if (what !== '/') writeFileSync(at, what);
  }
  // Only what is named: no directory that is there in passing.
  const names = Object.keys(files).join('\0');
  const args = ['--create', `--directory=${root}`, `--format=${format}`, '--no-recursion', '--null', '--files-from=-'];
  return execFileSync('tar', args, { input: names, maxBuffer: 1 << 26 });
}

export interface ImageOf {
  readonly name?: string;
  readonly config?: Record<string, unknown>;
  readonly layers: readonly Buffer[];
  readonly platform?: { readonly os: string; readonly architecture: string };
}

export const PACKED = {
  plain: (tar: Buffer) => tar,
  gzip: gzipSync,
  zstd: zstdCompressSync,
  // As tools write it that can start one file of a layer before the whole is there: estargz, zstd:chunked.
  'gzip-members': (tar: Buffer) => Buffer.concat(piecesOf(tar).map((piece) => gzipSync(piece))),
  'zstd-frames': (tar: Buffer) =>
    Buffer.concat([...piecesOf(tar).flatMap((piece) => [zstdCompressSync(piece), SKIPPABLE]), SKIPPABLE]),
};
const SKIPPABLE = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

/** One of them is empty, and one fits into no block of zstd. */
function piecesOf(tar: Buffer): readonly Buffer[] {
  return [tar.subarray(0, 512), Buffer.alloc(0), tar.subarray(512, 1_000), tar.subarray(1_000)];
}

export type Packing = keyof typeof PACKED;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Files of an OCI layout by their paths. Images with a platform stand behind one index of the first one's name. */
export function ociFiles(images: readonly ImageOf[], packing: Packing = 'gzip'): Record<string, Buffer> {
  const files: Record<string, Buffer> = { 'oci-layout': jsonBytes({ imageLayoutVersion: '1.0.0' }) };
  const put = (mediaType: string, bytes: Buffer): Descriptor => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    files[`blobs/sha256/${hex}`] = bytes;
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const manifestOf = ({ config = {}, layers, name, platform }: ImageOf) => {
    const manifest = {
      schemaVersion: 2,
      mediaType: OCI('manifest'),
      config: put(OCI('config'), configOf(config, layers)),
      layers: layers.map((tar) => put(`application/vnd.oci.image.layer.v1.tar+${packing}`, PACKED[packing](tar))),
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

function configOf(config: Record<string, unknown>, layers: readonly Buffer[]): Buffer {
  const diffs = layers.map((tar) => `sha256:${createHash('sha256').update(tar).digest('hex')}`);
  return jsonBytes({ os: 'linux', architecture: 'amd64', config, rootfs: { type: 'layers', diff_ids: diffs } });
}

function OCI(what: string): string {
  return `application/vnd.oci.image.${what}.v1+json`;
}

/** Files of an archive of docker save by their paths. */
export function dockerFiles(images: readonly ImageOf[]): Record<string, Buffer> {
  const files: Record<string, Buffer> = {};
  const manifest = images.map(({ name, config = {}, layers }, index) => {
    files[`${index}.json`] = configOf(config, layers);
    const names = layers.map((tar, layer) => {
      files[`${index}-${layer}/layer.tar`] = tar;
      return `${index}-${layer}/layer.tar`;
    });
    return { Config: `${index}.json`, RepoTags: name === undefined ? null : [name], Layers: names };
  });
  return { ...files, 'manifest.json': jsonBytes(manifest) };
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** A new directory with these files. */
export function directoryOf(files: Readonly<Record<string, Buffer>>): string {
  const root = temporaryDirectory();
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
  return root;
}

/** The same as one tar archive. */
export function archiveOf(files: Readonly<Record<string, Buffer>>): string {
  const root = directoryOf(files);
  const archive = join(temporaryDirectory(), 'image.tar');
  execFileSync('tar', ['--create', `--file=${archive}`, `--directory=${root}`, ...Object.keys(files)]);
  return archive;
}
