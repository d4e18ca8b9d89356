/**
 * Reads the little of ELF that a portable Node needs: segments, an exported symbol, and which loader and which shared
 * libraries a file names. It does not ask `ldd`, which runs the loader of this machine and knows nothing
 * of another architecture.
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

/** An entry of the program header table. */
export type Segment = Fields<'type' | 'flags' | 'offset' | 'address' | 'size' | 'memorySize' | 'align'>;

export interface SegmentTable {
  readonly offset: number;
  readonly segments: readonly Segment[];
}

/** A stretch of memory. */
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
