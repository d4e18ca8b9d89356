/**
 * Reads the little of ELF that a portable Node needs: segments, an exported symbol, and which loader and which shared
 * libraries a file names. It reads the file itself and does not ask `ldd`: ldd runs the loader of this machine, so it
 * knows nothing of another architecture.
 */
import { closeSync, openSync, readSync } from 'node:fs';

export interface ElfNeeds {
  /** PT_INTERP, an absolute path; `undefined` in a library or a static program. */
  readonly interpreter: string | undefined;
  /** DT_NEEDED, names without a directory, in the file's order. */
  readonly needed: readonly string[];
}

/** A stretch of the file, read from there. */
type ReadAt = (position: number, length: number) => Buffer;

export const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
export const PT_NOTE = 4;
const DT_NULL = 0;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const SHT_DYNSYM = 11;

/** An entry of the program header table. */
export interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
  readonly memorySize: number;
  readonly align: number;
}

export interface SegmentTable {
  readonly offset: number;
  readonly segments: readonly Segment[];
}

/** A stretch of memory. */
export interface Extent {
  readonly address: number;
  readonly size: number;
}

export function readNeeds(path: string): ElfNeeds {
  const fd = openSync(path, 'r');
  const readAt: ReadAt = (position, length) => {
    const buffer = Buffer.alloc(length);
    readSync(fd, buffer, 0, length, position);
    return buffer;
  };
  try {
    const { segments } = readSegments(readAt, path);
    const interp = segments.find(({ type }) => type === PT_INTERP);
    const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
    return {
      interpreter: interp && readAt(interp.offset, interp.size - 1).toString('latin1'),
      needed: dynamic ? readNeeded(readAt, dynamic, segments) : [],
    };
  } finally {
    closeSync(fd);
  }
}

export function segmentsOf(elf: Buffer): SegmentTable {
  return readSegments((position, length) => elf.subarray(position, position + length), 'the program');
}

/** The segment that is loaded there. */
export function findLoad(segments: readonly Segment[], { address, size }: Extent): Segment | undefined {
  return segments.find((it) => it.type === PT_LOAD && address >= it.address && address + size <= it.address + it.size);
}

/** Looks among the symbols that a program exports; there must be exactly one. */
export function findExported(elf: Buffer, name: RegExp): Extent {
  const sections = sectionsOf(elf);
  const table = sections.find(({ type }) => type === SHT_DYNSYM);
  const strings = table && sections[table.link];
  if (!table || !strings) throw new Error('it has no table of the symbols that it exports');
  const found: Extent[] = [];
  for (let at = table.offset; at + 24 <= table.offset + table.size; at += 24) {
    const nameOffset = strings.offset + elf.readUInt32LE(at);
    if (!name.test(elf.toString('latin1', nameOffset, elf.indexOf(0, nameOffset)))) continue;
    found.push({ address: Number(elf.readBigUInt64LE(at + 8)), size: Number(elf.readBigUInt64LE(at + 16)) });
  }
  const [symbol] = found;
  if (!symbol || found.length > 1) throw new Error(`it exports ${found.length} symbols like ${name.source}`);
  return symbol;
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
}

function sectionsOf(elf: Buffer): Section[] {
  checkElf(elf, 'the program');
  const tableOffset = Number(elf.readBigUInt64LE(40));
  const entrySize = elf.readUInt16LE(58);
  return Array.from({ length: elf.readUInt16LE(60) }, (_, index) => {
    const at = tableOffset + index * entrySize;
    return {
      type: elf.readUInt32LE(at + 4),
      offset: Number(elf.readBigUInt64LE(at + 24)),
      size: Number(elf.readBigUInt64LE(at + 32)),
      link: elf.readUInt32LE(at + 40),
    };
  });
}

function readSegments(readAt: ReadAt, path: string): SegmentTable {
  const header = readAt(0, 64);
  checkElf(header, path);
  const offset = Number(header.readBigUInt64LE(32));
  const entrySize = header.readUInt16LE(54);
  const count = header.readUInt16LE(56);
  const table = readAt(offset, entrySize * count);
  const segments = Array.from({ length: count }, (_, index) => {
    const at = index * entrySize;
    return {
      type: table.readUInt32LE(at),
      flags: table.readUInt32LE(at + 4),
      offset: Number(table.readBigUInt64LE(at + 8)),
      address: Number(table.readBigUInt64LE(at + 16)),
      size: Number(table.readBigUInt64LE(at + 32)),
      memorySize: Number(table.readBigUInt64LE(at + 40)),
      align: Number(table.readBigUInt64LE(at + 48)),
    };
  });
  return { offset, segments };
}

/** Both architectures that sexton is delivered for are 64-bit little-endian. */
function checkElf(header: Buffer, path: string): void {
  if (header.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') {
    throw new Error(`cannot read ${path}: it is not a 64-bit little-endian ELF file`);
  }
}

function readNeeded(readAt: ReadAt, dynamic: Segment, segments: readonly Segment[]): string[] {
  const table = readAt(dynamic.offset, dynamic.size);
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
  const home = findLoad(segments, { address: stringsAddress, size: 1 });
  if (!home) return [];
  const stringsOffset = stringsAddress - home.address + home.offset;
  return nameOffsets.map((offset) => {
    const text = readAt(stringsOffset + offset, 256).toString('latin1');
    return text.slice(0, text.indexOf('\0'));
  });
}
