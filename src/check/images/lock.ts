/**
 * `sexton images lock`: what the configurations of images say, as the file of `sexton check --images`. It is sorted,
 * and the same for the same images whichever engine has written them.
 */

import { readFileSync, statSync } from 'node:fs';
import { jsonText } from '../../text/print.ts';
import { recordOf } from '../../text/record.ts';
import { familiarName, type ImageFacts, type Images, shellOf } from '../stop/images.ts';
import { archiveBlobs, BLOCK, bytesOf, directoryBlobs, ImageError } from './blobs.ts';
import { inOrder, originOf, type SavedImage, savedImages, textsOf } from './saved.ts';

export interface LockedImage {
  readonly names: readonly string[];
  readonly facts: ImageFacts;
}

/**
 * The images of a directory (an OCI layout), an archive, or the output of `podman image inspect`. `name`: what an image
 * that has none is called, and the only one. Throws an ImageError.
 */
export function imagesOf(path: string, name?: string): readonly LockedImage[] {
  const found = readImages(path);
  if (found.length === 0)
    throw new ImageError('it holds no image; name what podman save or podman image inspect writes');
  if (name !== undefined && found.length > 1)
    throw new ImageError(`it holds ${found.length} images, which cannot all be ${name}; leave ${name}= out`);
  return found.map(({ names, config, origin, others = new Map() }) => {
    const all = name === undefined ? names : [name];
    if (all.length === 0) throw new ImageError('it does not say what the image is called; write NAME= in front of it');
    return { names: all.map(familiarName), facts: { ...factsOf(config), ...origin, ...differing(config, others) } };
  });
}

function differing(config: Record<string, unknown>, others: ReadonlyMap<string, Record<string, unknown>>) {
  const own = JSON.stringify(factsOf(config));
  const platforms = [...others].map(([platform, other]) => [platform, factsOf(other)] as const);
  const different = platforms.filter(([, facts]) => JSON.stringify(facts) !== own);
  return different.length > 0 && { platforms: Object.fromEntries(different) };
}

const GZIP = '\x1f\x8b';

function readImages(path: string): readonly SavedImage[] {
  if (statSync(path).isDirectory()) return savedImages(directoryBlobs(path));
  const head = bytesOf(path, 0, BLOCK).toString('latin1');
  if (head.startsWith(GZIP))
    throw new ImageError('it is compressed as a whole; unpack it with gunzip, and name what comes out');
  if (/^\s*[[{]/.test(head) && head.slice(257, 262) !== 'ustar') return inspected(readFileSync(path, 'utf8'));
  return savedImages(archiveBlobs(path));
}

/** `docker image inspect` and `podman image inspect` of several images, and what asks a registry of one. */
function inspected(text: string): readonly SavedImage[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ImageError('it is not JSON; name what podman image inspect writes');
  }
  const whole = recordOf(value);
  if (typeof whole.config === 'object' && whole.config !== null)
    return [{ names: [], config: recordOf(whole.config), origin: originOf('image config', undefined, whole) }];
  if (typeof whole.image === 'object' && whole.image !== null) return [ofImagetools(whole)];
  if (!Array.isArray(value)) throw new ImageError('it is no list of images; name what podman image inspect writes');
  return value.map((one) => {
    const { Config, RepoTags, RepoDigests, Digest, Os: os, Architecture: architecture } = recordOf(one);
    if (Config === undefined) throw new ImageError('it has no Config; name what podman image inspect writes');
    const names = [...(textsOf(RepoTags) ?? []), ...(textsOf(RepoDigests) ?? [])];
    const digest = Digest ?? textsOf(RepoDigests)?.[0]?.split('@').at(-1);
    const origin = originOf('image inspect', digest, { os, architecture });
    return { names: names.filter((name) => !name.includes('<none>')), config: recordOf(Config), origin };
  });
}

/** `docker buildx imagetools inspect --format '{{json .}}'`: one configuration, or one for each platform. */
function ofImagetools({ name, manifest, image }: Record<string, unknown>): SavedImage {
  const images = recordOf(image);
  const several = Object.entries(images).map(([platform, one]) => [platform, recordOf(one)] as const);
  const [chosen, ...others] = 'config' in images ? [['', images] as const] : inOrder(several);
  if (chosen === undefined) throw new ImageError('it has no platform of Linux; name another image');
  const [, whole] = chosen;
  return {
    names: typeof name === 'string' ? [name] : [],
    config: recordOf(whole.config),
    origin: originOf('imagetools inspect', recordOf(manifest).digest, whole),
    others: new Map(others.map(([platform, one]) => [platform, recordOf(one.config)])),
  };
}

/** Without what is empty, keys always in the same order. */
function factsOf(config: Record<string, unknown>): ImageFacts {
  const { StopSignal: stopSignal, User: user, WorkingDir: workingDir } = config;
  const entrypoint = textsOf(config.Entrypoint);
  const cmd = textsOf(config.Cmd);
  const env = ownVariables(config);
  // The image that it is made from may tell the shell by its name.
  const base = recordOf(config.Labels)['org.opencontainers.image.base.name'];
  const shell = typeof base === 'string' ? shellOf(base, new Map()) : undefined;
  return {
    ...(entrypoint !== undefined && entrypoint.length > 0 && { entrypoint }),
    ...(cmd !== undefined && cmd.length > 0 && { cmd }),
    ...(typeof stopSignal === 'string' && stopSignal !== '' && { stopSignal }),
    ...(typeof user === 'string' && user !== '' && { user }),
    ...(typeof workingDir === 'string' && workingDir !== '' && { workingDir }),
    ...(env.length > 0 && { env: Object.fromEntries(env) }),
    ...(shell !== undefined && { shell }),
  };
}

/** Only variables that configure sexton are kept: others may be secrets. */
function ownVariables({ Env }: Record<string, unknown>) {
  const pairs = (textsOf(Env) ?? []).map((text) => [text.replace(/=.*/s, ''), text.replace(/^[^=]*=?/s, '')] as const);
  return pairs.filter(([name]) => name.startsWith('SEXTON_')).sort(([a], [b]) => (a < b ? -1 : 1));
}

export function lockText(images: readonly LockedImage[]): string {
  const sorted = [...factsByName(images)].sort(([a], [b]) => (a < b ? -1 : 1));
  return jsonText({ images: Object.fromEntries(sorted) });
}

/** The later of two inputs counts for an image, as a whole: half of each would be no image. */
function factsByName(images: readonly LockedImage[]): ReadonlyMap<string, ImageFacts> {
  return new Map(images.flatMap(({ names, facts }) => names.map((name) => [name, facts] as const)));
}

/** How the images differ from those of the lock, one line each; none of them does: no line. */
export function movedSince(lock: Images, images: readonly LockedImage[]): readonly string[] {
  return [...factsByName(images)].flatMap(([name, now]) => {
    const was = lock.get(name);
    if (was === undefined) return [`${name} is not in the lock`];
    // A source that does not tell the digest does not say that it is another one.
    const keys = MOVING.filter((key) => !OPTIONAL.has(key) || (was[key] !== undefined && now[key] !== undefined));
    const texts = keys.map((key) => [key, JSON.stringify(was[key]), JSON.stringify(now[key])] as const);
    return texts.flatMap(([key, a, b]) =>
      a === b ? [] : [`${name}: ${key} was ${a ?? 'none'}, and is ${b ?? 'none'}`],
    );
  });
}

const MOVING = [
  'digest',
  'platform',
  'entrypoint',
  'cmd',
  'stopSignal',
  'user',
  'workingDir',
  'env',
  'platforms',
] as const;
const OPTIONAL: ReadonlySet<string> = new Set(['digest', 'platform', 'platforms']);
