/**
 * Reads the little of ELF that a portable Node needs: segments, an exported symbol, and which loader and which shared
 * libraries a file names. It does not ask `ldd`, which runs the loader of this machine and knows nothing
 * of another architecture.
 *
 * It also makes a program's file shorter and moves nothing in memory. All addresses stay, so code, relocations and
 * unwind tables stay as they are.
 */
import { readFileSync } from 'node:fs';

export interface ElfNeeds {
  /** PT_INTERP, an absolute path; `undefined` in a library or a static program. */
  readonly interpreter: string | undefined;
  /** DT_NEEDED, names without a directory, in the file's order. */
  readonly needed: readonly string[];
}

export const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
export const PT_NOTE = 4;
const DT_NULL = 0;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const SHT_DYNSYM = 11;

type Fields<Name extends string> = Readonly<Record<Name, number>>;

type Segment = Fields<'type' | 'flags' | 'offset' | 'address' | 'size' | 'memorySize' | 'align'>;

export interface SegmentTable {
  readonly offset: number;
  readonly segments: readonly Segment[];
}

export type Extent = Fields<'address' | 'size'>;

export function readNeeds(path: string, elf: Buffer = readFileSync(path)): ElfNeeds {
  const { segments } = segmentsOf(elf, path);
  const interp = segments.find(({ type }) => type === PT_INTERP);
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  return {
    interpreter: interp && elf.toString('latin1', interp.offset, interp.offset + interp.size - 1),
    needed: dynamic ? readNeeded(elf, dynamic, segments) : [],
  };
}

export function segmentsOf(elf: Buffer, path = 'the program'): SegmentTable {
  checkElf(elf, path);
  const offset = Number(elf.readBigUInt64LE(32));
  const entrySize = elf.readUInt16LE(54);
  const segments = Array.from({ length: elf.readUInt16LE(56) }, (_, index) => {
    const at = offset + index * entrySize;
    const word = (field: number): number => Number(elf.readBigUInt64LE(at + field));
    return {
      type: elf.readUInt32LE(at),
      flags: elf.readUInt32LE(at + 4),
      offset: word(8),
      address: word(16),
      size: word(32),
      memorySize: word(40),
      align: word(48),
    };
  });
  return { offset, segments };
}

function findLoad(segments: readonly Segment[], { address, size }: Extent): Segment | undefined {
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

function sectionsOf(elf: Buffer): Fields<'type' | 'offset' | 'size' | 'link'>[] {
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

/** Both architectures that sexton is delivered for are 64-bit little-endian. */
function checkElf(header: Buffer, path: string): void {
  if (header.toString('latin1', 0, 6) !== '\x7fELF\x02\x01')
    throw new Error(`cannot read ${path}: it is not a 64-bit little-endian ELF file`);
}

function readNeeded(elf: Buffer, { offset, size }: Segment, segments: readonly Segment[]): string[] {
  const nameOffsets: number[] = [];
  let stringsAddress = 0;
  for (let at = offset; at + 16 <= offset + size; at += 16) {
    const tag = Number(elf.readBigInt64LE(at));
    const value = Number(elf.readBigUInt64LE(at + 8));
    if (tag === DT_NULL) break;
    if (tag === DT_NEEDED) nameOffsets.push(value);
    if (tag === DT_STRTAB) stringsAddress = value;
  }
  // DT_STRTAB is an address in memory; the segment that is loaded there says where in the file it lies.
  const home = findLoad(segments, { address: stringsAddress, size: 1 });
  if (!home) return [];
  const strings = stringsAddress - home.address + home.offset;
  return nameOffsets.map((name) => elf.toString('latin1', strings + name, elf.indexOf(0, strings + name)));
}

/** The largest page of Linux on x64 and arm64. In the file and in memory a segment begins at the same place of a page. */
const PAGE_BYTES = 0x10000;
const PF_W = 2;
const ENTRY_BYTES = 56;

/** Leaves out what is never loaded: section headers, symbols for debuggers. */
export function withoutUnloaded(elf: Buffer): Buffer {
  return withoutSections(Buffer.from(elf.subarray(0, loadedEnd(elf))));
}

/**
 * Replaces a constant by what `shorten` makes of it. It leaves out of the file what is not loaded, and the pages that
 * nothing is left in. Their segment becomes two, with a hole between them in memory. It throws where the layout is not
 * one that it knows.
 */
export function shortenConstant(elf: Buffer, constant: Extent, shorten: (data: Buffer) => Buffer): Buffer {
  const { offset: tableOffset, segments } = segmentsOf(elf);
  const home = findLoad(segments, constant);
  if (!home || (home.flags & PF_W) !== 0) throw new Error('the data are in no read-only segment');
  const offset = constant.address - home.address + home.offset;
  const shorter = shorten(elf.subarray(offset, offset + constant.size));

  const from = Math.ceil((constant.address + shorter.length) / PAGE_BYTES) * PAGE_BYTES;
  const to = Math.floor((constant.address + constant.size) / PAGE_BYTES) * PAGE_BYTES;
  if (to <= from) throw new Error('no whole page of the data can be left out');
  const hole: Hole = { home, from, to, start: from - home.address + home.offset, bytes: to - from };
  const entries = splitSegments(segments, hole);
  if (tableOffset + entries.length * ENTRY_BYTES > offset) throw new Error('the segment table is behind the data');

  const gap = Buffer.alloc(hole.start - offset - shorter.length);
  const behind = elf.subarray(hole.start + hole.bytes, loadedEnd(elf));
  const result = Buffer.concat([elf.subarray(0, offset), shorter, gap, behind]);
  for (const [index, entry] of entries.entries()) writeSegment(result, tableOffset + index * ENTRY_BYTES, entry);
  return withoutSections(result);
}

function loadedEnd(elf: Buffer): number {
  const { offset, segments } = segmentsOf(elf);
  return Math.max(offset + segments.length * ENTRY_BYTES, ...segments.map((segment) => segment.offset + segment.size));
}

/** Clears the offset of the section headers; then the size of one, their number, and which of them holds the names. */
function withoutSections(elf: Buffer): Buffer {
  return elf.fill(0, 40, 48).fill(0, 58, 64);
}

interface Hole {
  readonly home: Segment;
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly bytes: number;
}

/**
 * Other data follow the table directly, so it cannot grow. The second half takes the place of a note (build id, oldest
 * kernel), which tools read and nothing needs to run the program.
 */
function splitSegments(segments: readonly Segment[], hole: Hole): Segment[] {
  const { home, from, to, start } = hole;
  const note = segments.find(({ type }) => type === PT_NOTE);
  if (!note) throw new Error('its segment table has no note whose place can be taken');
  const end = home.address + home.size;
  if (home.size !== home.memorySize || end === to) throw new Error('nothing follows the data in their segment');
  const before: Segment = { ...home, size: from - home.address, memorySize: from - home.address };
  const align = Math.min(home.align, PAGE_BYTES);
  const after: Segment = { ...home, align, offset: start, address: to, size: end - to, memorySize: end - to };
  return segments
    .filter((segment) => segment !== note)
    .flatMap((segment) => (segment === home ? [before, after] : [moveSegment(segment, hole)]));
}

function moveSegment(segment: Segment, { start, bytes }: Hole): Segment {
  if (segment.offset + segment.size <= start) return segment;
  if (segment.offset < start + bytes) throw new Error('another segment overlaps the data');
  const align = segment.type === PT_LOAD ? Math.min(segment.align, PAGE_BYTES) : segment.align;
  return { ...segment, align, offset: segment.offset - bytes };
}

function writeSegment(elf: Buffer, at: number, segment: Segment): void {
  elf.writeUInt32LE(segment.type, at);
  elf.writeUInt32LE(segment.flags, at + 4);
  // The physical address, which Linux ignores, is the virtual one.
  const words = [segment.offset, segment.address, segment.address, segment.size, segment.memorySize, segment.align];
  for (const [index, word] of words.entries()) elf.writeBigUInt64LE(BigInt(word), at + 8 + index * 8);
}
