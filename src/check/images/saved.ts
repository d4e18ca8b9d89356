/** Saved images: OCI layouts (github.com/opencontainers/image-spec, image-layout.md), and archives of `docker save`. */

import { recordOf } from '../../text/record.ts';
import type { ImageFacts } from '../stop/images.ts';
import { type Blobs, ImageError } from './blobs.ts';

export interface SavedImage {
  readonly names: readonly string[];
  /** The configuration as `docker image inspect` has it under `Config`. */
  readonly config: Record<string, unknown>;
  readonly origin: Origin;
  /** The configurations of other platforms, such as `linux/arm64`. */
  readonly others?: ReadonlyMap<string, Record<string, unknown>>;
}

/** What the lock says of an image besides its configuration. */
type Origin = Pick<ImageFacts, 'digest' | 'platform' | 'from'>;

export function originOf(from: string, digest: unknown, { os, architecture }: Record<string, unknown>): Origin {
  return {
    ...(typeof digest === 'string' && { digest }),
    ...(typeof os === 'string' && typeof architecture === 'string' && { platform: `${os}/${architecture}` }),
    from,
  };
}

const MANIFEST_JSON = 'manifest.json';
const INDEX_JSON = 'index.json';

export function savedImages(blobs: Blobs): readonly SavedImage[] {
  if (blobs.has(INDEX_JSON)) return imagesOfLayout(blobs);
  if (blobs.has(MANIFEST_JSON)) return imagesOfDocker(blobs);
  throw new ImageError(
    `it has neither ${INDEX_JSON} nor ${MANIFEST_JSON}; write it with podman save, docker save, or podman save --format oci-dir`,
  );
}

function imagesOfDocker(blobs: Blobs): readonly SavedImage[] {
  const manifests = blobs.json(MANIFEST_JSON);
  if (!Array.isArray(manifests)) throw new ImageError(`${MANIFEST_JSON} is not that of an archive of docker save`);
  return manifests.map((manifest) => {
    const { Config: path, RepoTags } = recordOf(manifest);
    const whole = recordOf(blobs.json(String(path)));
    const origin = originOf('docker archive', undefined, whole);
    return { names: textsOf(RepoTags) ?? [], config: recordOf(whole.config), origin };
  });
}

/** An index may hold others: one for each image, and in it one for each platform. */
const MAX_DEPTH = 4;

function imagesOfLayout(blobs: Blobs): readonly SavedImage[] {
  const { manifests } = recordOf(blobs.json(INDEX_JSON));
  return (Array.isArray(manifests) ? manifests : []).flatMap((one) => imageOf(blobs, recordOf(one), 0) ?? []);
}

function imageOf(blobs: Blobs, descriptor: Record<string, unknown>, depth: number): SavedImage | undefined {
  if (depth > MAX_DEPTH) throw new ImageError('its indexes are nested too deeply');
  const names = namesOf(recordOf(descriptor.annotations));
  const content = blobOf(blobs, descriptor.digest);
  if (Array.isArray(content.manifests)) {
    const own = content.manifests.map(recordOf).filter((one) => !isOther(one));
    const [chosen, ...rest] = inOrder(own.map(named));
    const image = chosen && imageOf(blobs, chosen[1], depth + 1);
    const digest = typeof descriptor.digest === 'string' && { digest: descriptor.digest };
    // What was saved may lack platforms that its index names.
    const others = rest.flatMap(([platform, one]) => {
      const config = blobs.has(blobPath(one.digest)) ? configIfThere(blobs, one) : undefined;
      return config === undefined ? [] : [[platform, config] as const];
    });
    const all = names.length > 0 ? names : (image?.names ?? []);
    return image && { ...image, names: all, origin: { ...image.origin, ...digest }, others: new Map(others) };
  }
  const { mediaType = IMAGE_CONFIGS[0], digest } = recordOf(content.config);
  // An attestation, a chart, or another artifact.
  if (!IMAGE_CONFIGS.includes(String(mediaType)) || !Array.isArray(content.layers) || isOther(descriptor))
    return undefined;
  const whole = blobOf(blobs, digest);
  return { names, config: recordOf(whole.config), origin: originOf('OCI layout', descriptor.digest, whole) };
}

const IMAGE_CONFIGS = ['application/vnd.oci.image.config.v1+json', 'application/vnd.docker.container.image.v1+json'];

function configIfThere(blobs: Blobs, descriptor: Record<string, unknown>): Record<string, unknown> | undefined {
  const { digest } = recordOf(blobOf(blobs, descriptor.digest).config);
  return blobs.has(blobPath(digest)) ? recordOf(blobOf(blobs, digest).config) : undefined;
}

type Named<T> = readonly [platform: string, one: T];

function named(descriptor: Record<string, unknown>): Named<Record<string, unknown>> {
  const { os, architecture } = recordOf(descriptor.platform);
  return [`${String(os)}/${String(architecture)}`, descriptor];
}

/** The same on every machine: linux/amd64 or else the first of Linux, then the others of Linux. */
export function inOrder<T>(images: readonly Named<T>[]): readonly Named<T>[] {
  const sorted = images.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const linux = sorted.filter(([platform]) => platform.startsWith('linux/'));
  const chosen = linux.find(([platform]) => platform === 'linux/amd64') ?? linux[0] ?? sorted[0];
  return chosen === undefined ? [] : [chosen, ...linux.filter((one) => one !== chosen)];
}

function isOther({ platform, artifactType }: Record<string, unknown>): boolean {
  return recordOf(platform).os === 'unknown' || typeof artifactType === 'string';
}

/** docker and containerd write the whole name; others write the tag alone, which names no image. */
function namesOf(annotations: Record<string, unknown>): readonly string[] {
  const whole = annotations['io.containerd.image.name'] ?? annotations['org.opencontainers.image.ref.name'];
  return typeof whole === 'string' && /[/:]/.test(whole) ? [whole] : [];
}

function blobOf(blobs: Blobs, digest: unknown): Record<string, unknown> {
  return recordOf(blobs.json(blobPath(digest)));
}

function blobPath(digest: unknown): string {
  const [, algorithm, hex] = /^([a-z0-9+._-]+):([a-f0-9]+)$/.exec(String(digest)) ?? [];
  if (algorithm === undefined) throw new ImageError(`it names a blob by ${JSON.stringify(digest)}, which is no digest`);
  return `blobs/${algorithm}/${hex}`;
}

/** undefined: it is no list of texts. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
}
