/**
 * The little of ELF that a portable Node needs: which loader and which shared libraries a file names. Read from the file
 * itself, not asked of `ldd`: ldd runs the loader of this machine, so it knows nothing of another architecture.
 */
import { closeSync, openSync, readSync } from 'node:fs';

export interface ElfNeeds {
  /** PT_INTERP, an absolute path; `undefined` in a library or a static program. */
  readonly interpreter: string | undefined;
  /** DT_NEEDED, names without a directory, in the file's order. */
  readonly needed: readonly string[];
}

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NULL = 0;
const DT_NEEDED = 1;
const DT_STRTAB = 5;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

export function readNeeds(path: string): ElfNeeds {
  const fd = openSync(path, 'r');
  try {
    const segments = readSegments(fd, path);
    const interp = segments.find(({ type }) => type === PT_INTERP);
    const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
    return {
      interpreter: interp && readAt(fd, interp.offset, interp.size - 1).toString('latin1'),
      needed: dynamic ? readNeeded(fd, dynamic, segments) : [],
    };
  } finally {
    closeSync(fd);
  }
}

function readSegments(fd: number, path: string): Segment[] {
  const header = readAt(fd, 0, 64);
  // Both architectures that sexton is delivered for are 64-bit little-endian.
  if (header.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') {
    throw new Error(`cannot read ${path}: it is not a 64-bit little-endian ELF file`);
  }
  const tableOffset = Number(header.readBigUInt64LE(32));
  const entrySize = header.readUInt16LE(54);
  const count = header.readUInt16LE(56);
  const table = readAt(fd, tableOffset, entrySize * count);
  return Array.from({ length: count }, (_, index) => {
    const at = index * entrySize;
    return {
      type: table.readUInt32LE(at),
      offset: Number(table.readBigUInt64LE(at + 8)),
      address: Number(table.readBigUInt64LE(at + 16)),
      size: Number(table.readBigUInt64LE(at + 32)),
    };
  });
}

function readNeeded(fd: number, dynamic: Segment, segments: readonly Segment[]): string[] {
  const table = readAt(fd, dynamic.offset, dynamic.size);
  const nameOffsets: number[] = [];
  let stringsAddress = 0;
  for (let at = 0; at + 16 <= table.length; at += 16) {
    const tag = Number(table.readBigInt64LE(at));
    const value = Number(table.readBigUInt64LE(at + 8));
    if (tag === DT_NULL) break;
    if (tag === DT_NEEDED) nameOffsets.push(value);
    if (tag === DT_STRTAB) stringsAddress = value;
  }
  // DT_STRTAB is an address in memory; the segment that is loaded there says where in the file it lies.
  const home = segments.find(
    ({ type, address, size }) => type === PT_LOAD && stringsAddress >= address && stringsAddress < address + size,
  );
  if (!home) return [];
  const stringsOffset = stringsAddress - home.address + home.offset;
  return nameOffsets.map((offset) => {
    const text = readAt(fd, stringsOffset + offset, 256).toString('latin1');
    return text.slice(0, text.indexOf('\0'));
  });
}

function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  readSync(fd, buffer, 0, length, position);
  return buffer;
}
