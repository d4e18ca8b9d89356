/**
 * Makes an ELF program's file shorter and moves nothing in memory: all addresses stay, so code, relocations and unwind
 * tables stay as they are.
 */
import { type Extent, findLoad, PT_LOAD, PT_NOTE, type Segment, segmentsOf } from './elf.ts';

/** The largest page of Linux on x64 and arm64. In the file and in memory a segment begins at the same place of a page. */
const PAGE_BYTES = 0x10000;
const PF_W = 2;
const ENTRY_BYTES = 56;

/** Leaves out what is never loaded: section headers, symbols for debuggers. */
export function withoutUnloaded(elf: Buffer): Buffer {
  return withoutSections(Buffer.from(elf.subarray(0, loadedEnd(elf))));
}

/**
 * Replaces a constant by what `shorten` makes of it. The file loses what is not loaded, and the pages that nothing is
 * left in. Their segment becomes two, with a hole between them in memory. It throws if it does not know the layout.
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

/** The pages that go. */
interface Hole {
  readonly home: Segment;
  /** In memory. */
  readonly from: number;
  readonly to: number;
  /** In the file. */
  readonly start: number;
  readonly bytes: number;
}

/**
 * Other data follow the table directly, so it cannot grow. The second half takes the place of a note (build id, oldest
 * kernel). Tools read that note, but the program runs without it.
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
