/**
 * `sexton images lock`: what images say of themselves, as the file of `sexton check --images`. It is sorted, and the same for the same
 * images whichever engine has written them.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { familiarName, type ImageFacts, shellOf } from '../stop/images.ts';
import { archiveBlobs, type Blobs, directoryBlobs, ImageError, isGzip } from './blobs.ts';
import { DamagedError } from './bytes.ts';
import { type FileFacts, fileFacts } from './files.ts';
import { recordOf, type SavedImage, savedImages, textsOf } from './saved.ts';

export interface LockedImage {
  readonly names: readonly string[];
  readonly facts: ImageFacts;
}

/**
 * The images of a directory (an OCI layout), an archive, or the output of `podman image inspect`. `name`: what an image that has none is
 * called, and the only one. Throws an ImageError.
 */
export async function imagesOf(path: string, name?: string): Promise<readonly LockedImage[]> {
  const found = await readImages(path);
  if (found.length === 0)
    throw new ImageError('it holds no image; name what podman save or podman image inspect writes');
  if (name !== undefined && found.length > 1)
    throw new ImageError(`it holds ${found.length} images, which cannot all be ${name}; leave ${name}= out`);
  return found.map(({ names, facts }) => {
    const all = name === undefined ? names : [name];
    if (all.length === 0) throw new ImageError('it does not say what the image is called; write NAME= in front of it');
    return { names: all.map(familiarName), facts };
  });
}

async function readImages(path: string): Promise<readonly LockedImage[]> {
  try {
    if (statSync(path).isDirectory()) return await lockedOf(directoryBlobs(path));
    const head = headOf(path);
    if (isGzip(head))
      throw new ImageError('it is compressed as a whole; unpack it with gunzip, and name what comes out');
    if (/^\s*[[{]/.test(head.toString('latin1')) && head.toString('latin1', 257, 262) !== 'ustar')
      return inspected(readFileSync(path, 'utf8'));
    return await lockedOf(await archiveBlobs(path));
  } catch (error) {
    if (error instanceof DamagedError)
      throw new ImageError(`${error.message}; name what podman save or podman image inspect writes`);
    throw error;
  }
}

function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(512);
    return head.subarray(0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}

async function lockedOf(blobs: Blobs): Promise<readonly LockedImage[]> {
  const images: LockedImage[] = [];
  // One after the other: each has its files in memory.
  for (const image of await savedImages(blobs)) images.push(await lockedImage(blobs, image));
  return images;
}

async function lockedImage(blobs: Blobs, { names, config, layers }: SavedImage): Promise<LockedImage> {
  const { path } = environmentOf(config);
  return { names, facts: factsOf(config, await fileFacts(blobs, layers, path)) };
}

/** `docker image inspect`, `podman image inspect`, of several images. */
function inspected(text: string): readonly LockedImage[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ImageError('it is not JSON; name what podman image inspect writes');
  }
  if (!Array.isArray(value)) throw new ImageError('it is no list of images; name what podman image inspect writes');
  return value.map((one) => {
    const { Config, RepoTags, RepoDigests } = recordOf(one);
    if (Config === undefined) throw new ImageError('it has no Config; name what podman image inspect writes');
    const config = recordOf(Config);
    // Its layers are not here, but the image that it is made from may tell by its name.
    const base = recordOf(config.Labels)['org.opencontainers.image.base.name'];
    const shell = typeof base === 'string' ? shellOf(base, new Map()) : undefined;
    const names = [...(textsOf(RepoTags) ?? []), ...(textsOf(RepoDigests) ?? [])];
    return { names: names.filter((name) => !name.includes('<none>')), facts: factsOf(config, { shell }) };
  });
}

/** Without what is empty, keys always in the same order. */
function factsOf(config: Record<string, unknown>, { shell, programs }: Partial<FileFacts>): ImageFacts {
  const { StopSignal: stopSignal, User: user } = config;
  const entrypoint = textsOf(config.Entrypoint);
  const cmd = textsOf(config.Cmd);
  const { own } = environmentOf(config);
  return {
    ...(entrypoint !== undefined && entrypoint.length > 0 && { entrypoint }),
    ...(cmd !== undefined && cmd.length > 0 && { cmd }),
    ...(typeof stopSignal === 'string' && stopSignal !== '' && { stopSignal }),
    ...(typeof user === 'string' && user !== '' && { user }),
    ...(own.length > 0 && { env: Object.fromEntries(own) }),
    ...(shell !== undefined && { shell }),
    ...(programs !== undefined && { programs }),
  };
}

/** Of all variables only those that configure sexton are kept: others may be secrets. */
function environmentOf({ Env }: Record<string, unknown>) {
  const pairs = (textsOf(Env) ?? []).map((text) => [text.replace(/=.*/s, ''), text.replace(/^[^=]*=?/s, '')] as const);
  const own = pairs.filter(([name]) => name.startsWith('SEXTON_')).sort(([a], [b]) => (a < b ? -1 : 1));
  return { path: pairs.find(([name]) => name === 'PATH')?.[1], own };
}

/** Of an image that comes twice, all that is known; where they differ the later one counts. */
export function lockText(images: readonly LockedImage[]): string {
  const byName = new Map<string, ImageFacts>();
  for (const { names, facts } of images) for (const name of names) byName.set(name, { ...byName.get(name), ...facts });
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ images: Object.fromEntries(sorted) }, null, 2)}\n`;
}
