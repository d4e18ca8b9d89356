/**
 * The files of an OCI layout or of an image archive by path, from a directory or from a tar archive. The headers of a
 * tar archive are read once. Only the contents of JSON files are ever read.
 */
import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

/** Thrown with why an input cannot be read, and the remedy. */
export class ImageError extends Error {}

export interface Blobs {
  has(path: string): boolean;
  /** Throws an ImageError where there is no JSON of that path. */
  json(path: string): unknown;
}

/** No index, manifest or configuration is larger. */
const MAX_JSON_BYTES = 16 << 20;

export function directoryBlobs(directory: string): Blobs {
  const root = realpathSync(directory);
  const statOf = (path: string) => statSync(join(directory, path), { throwIfNoEntry: false });
  const has = (path: string): boolean => statOf(path)?.isFile() === true;
  return {
    has,
    json: (path) => {
      if (!has(path)) return missing(path);
      const file = realpathSync(join(directory, path));
      if (!file.startsWith(root.endsWith(sep) ? root : root + sep))
        throw new ImageError(`${path} leads out of the directory; copy it with its links followed (cp -rL)`);
      return parsed(path, statOf(path)?.size ?? 0, () => readFileSync(file));
    },
  };
}

export function archiveBlobs(path: string): Blobs {
  const places = placesIn(path);
  return {
    has: (name) => places.has(name),
    json: (name) => {
      const { offset, size } = places.get(name) ?? missing(name);
      return parsed(name, size, () => bytesOf(path, offset, size));
    },
  };
}

function missing(path: string): never {
  throw new ImageError(`${path} is missing; save the whole image`);
}

function parsed(path: string, size: number, read: () => Buffer): unknown {
  if (size > MAX_JSON_BYTES) throw new ImageError(`${path} is larger than ${MAX_JSON_BYTES} bytes`);
  try {
    return JSON.parse(read().toString('utf8'));
  } catch {
    throw new ImageError(`${path} is not JSON; save the image again`);
  }
}

/** A part of a file; shorter where the file ends. */
export function bytesOf(path: string, offset: number, size: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(file, bytes, 0, size, offset));
  } finally {
    closeSync(file);
  }
}

export const BLOCK = 512;
/** No header that extends another one is larger. */
const MAX_EXTENSION = 1 << 20;

/** The regular files of a tar archive. Engines give them names that fit into a plain header. */
function placesIn(archive: string) {
  const places = new Map<string, { readonly offset: number; readonly size: number }>();
  const end = statSync(archive).size;
  let longSize: number | undefined;
  for (let at = 0; at < end; ) {
    const header = bytesOf(archive, at, BLOCK);
    // Two blocks of zeros end it; some writers leave them out.
    if (header.every((byte) => byte === 0)) break;
    if (!hasChecksum(header)) throw damaged('it is no tar archive');
    const type = String.fromCharCode(header[156] ?? 0);
    const offset = at + BLOCK;
    const size = longSize ?? numberAt(header, 124, 12);
    if (offset + size > end) throw damaged('it ends too early');
    longSize = type === 'x' && size <= MAX_EXTENSION ? paxSize(bytesOf(archive, offset, size)) : undefined;
    if (type === '0' || type === '\0') places.set(posix.normalize(textAt(header, 0, 100)), { offset, size });
    at = offset + Math.ceil(size / BLOCK) * BLOCK;
  }
  return places;
}

function damaged(why: string): ImageError {
  return new ImageError(`${why}; name what podman save or podman image inspect writes`);
}

/** The size that a pax header gives the entry behind it: of a layer beyond 8 GiB. */
function paxSize(content: Buffer): number | undefined {
  const [, digits] = /^\d+ size=(\d{1,15})$/m.exec(content.toString('latin1')) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function hasChecksum(header: Buffer): boolean {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return header.length === BLOCK && Number.parseInt(textAt(header, 148, 8), 8) === sum;
}

function textAt(block: Buffer, from: number, length: number): string {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

/** Octal; GNU writes what is too large for that in bytes, with the first bit set. */
function numberAt(block: Buffer, from: number, length: number): number {
  if (((block[from] ?? 0) & 0x80) !== 0) return block.readUIntBE(from + length - 6, 6);
  const text = textAt(block, from, length).trim();
  if (!/^[0-7]*$/.test(text)) throw damaged('it has a header with a number that cannot be read');
  return text === '' ? 0 : Number.parseInt(text, 8);
}
