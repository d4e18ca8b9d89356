/**
 * The files of an OCI layout or of an image archive by their paths: in a directory, or in a tar archive, of which only the places of its
 * entries are read at first.
 */
import { createReadStream, realpathSync, statSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { entriesOf } from './tar.ts';
import { unzstd } from './zstd.ts';

/** Thrown with why an input cannot be read, and the remedy. */
export class ImageError extends Error {}

export interface Blobs {
  has(path: string): boolean;
  /** Throws an ImageError where there is none of that path. */
  open(path: string): AsyncIterable<Buffer>;
}

/** More is no index, manifest or configuration. */
const MAX_JSON_BYTES = 16 << 20;

export function directoryBlobs(directory: string): Blobs {
  const has = (path: string): boolean => statSync(join(directory, path), { throwIfNoEntry: false })?.isFile() === true;
  const root = realpathSync(directory);
  return {
    has,
    open: (path) => {
      if (!has(path)) return missing(path);
      const file = realpathSync(join(directory, path));
      if (file.startsWith(root.endsWith(sep) ? root : root + sep)) return createReadStream(file);
      throw new ImageError(`${path} leads out of the directory; copy it with its links followed (cp -rL)`);
    },
  };
}

export async function archiveBlobs(file: string): Promise<Blobs> {
  const places = new Map<string, { readonly offset: number; readonly size: number }>();
  const links = new Map<string, string>();
  for await (const { name, kind, target, offset, size } of entriesOf(createReadStream(file))) {
    const path = posix.normalize(name);
    if (kind === 'file') places.set(path, { offset, size });
    // docker save stores a layer that two images share once.
    if (kind === 'symlink') links.set(path, posix.join(posix.dirname(path), target));
    if (kind === 'hardlink') links.set(path, posix.normalize(target));
  }
  const placeOf = (path: string) => places.get(path) ?? places.get(links.get(path) ?? '');
  return {
    has: (path) => placeOf(path) !== undefined,
    open: (path) => {
      const { offset, size } = placeOf(path) ?? missing(path);
      return size === 0 ? Readable.from([]) : createReadStream(file, { start: offset, end: offset + size - 1 });
    },
  };
}

function missing(path: string): never {
  throw new ImageError(`${path} is missing; save the whole image`);
}

export async function jsonOf(blobs: Blobs, path: string): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of blobs.open(path)) {
    bytes += chunk.length;
    if (bytes > MAX_JSON_BYTES) throw new ImageError(`${path} is larger than ${MAX_JSON_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new ImageError(`${path} is not JSON; save the image again`);
  }
}

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** A layer, whatever compresses it: what media types say is not always so. */
export async function* unpacked(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = packed[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < ZSTD.length) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  const whole = withHead(head, chunks);
  if (startsWith(head, ZSTD)) return yield* unzstd(whole);
  if (!startsWith(head, GZIP)) return yield* whole;
  const gunzip = createGunzip();
  // A mistake on the way comes out of the last one.
  pipeline(Readable.from(whole, { objectMode: false }), gunzip, () => undefined);
  yield* gunzip;
}

async function* withHead(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (;;) {
    const { value, done } = await rest.next();
    if (done === true) return;
    yield value;
  }
}

export function startsWith(bytes: Buffer, magic: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic);
}

export function isGzip(bytes: Buffer): boolean {
  return startsWith(bytes, GZIP);
}
