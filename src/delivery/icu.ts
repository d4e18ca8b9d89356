/**
 * Takes data of ICU out of Node that sexton does not use: 27 of the 31 MiB that are linked into it.
 *
 * ICU's data are one constant, a table of named items. What is English or independent of languages stays: sorting,
 * calendars, time zones, normalization, IDNA, properties of characters. Other languages go, which ICU then treats as
 * unknown, and so do the tables of old encodings and dictionaries.
 *
 * The format is that of ICU's common/ucmndata.h, little-endian. A header comes first, then the number of items, and for
 * each item the offsets of its name and its content. The sorted names follow, then the contents. Each content is
 * aligned to 16 bytes and extends to the next.
 */
import { findExported, shortenConstant } from './elf.ts';

/** What goes, by name without the first part, which is ICU's version. */
const LEFT_OUT: readonly RegExp[] = [
  // Languages other than English, one file each: ar.res, lang/zh_Hant.res. What they share has longer names, but for
  // the list of them.
  /(?:^|\/)(?!en[._]|res_index\.)[a-z]{2,3}(?:_\w*)?\.res$/,
  // Encodings; those of Unicode, ASCII and Latin 1 need no table.
  /\.cnv$/,
  // Preparation of strings for protocols (RFC 3454), which Node has no function for.
  /\.spp$/,
  // Words of languages that are written without spaces.
  /^brkitr\/.*\.dict$/,
  // Transliteration, which JavaScript has no function for.
  /^translit\//,
];

/** Where one of these is missing, ICU is not as it was when the list above was written. */
const EXPECTED = ['root.res', 'en.res', 'res_index.res', 'coll/ucadata.icu', 'nfkc.nrm', 'uts46.nrm', 'zoneinfo64.res'];

/** Throws, with the reason, where `node` is not as expected. */
export function pruneIcu(node: Buffer): Buffer {
  return shortenConstant(node, findExported(node, /^icudt\d+_dat$/), pruneData);
}

interface Item {
  /** With the version, as in `icudt78l/lang/en.res`. */
  readonly name: string;
  readonly content: Buffer;
}

export function pruneData(data: Buffer): Buffer {
  const { header, items } = parseData(data);
  const names = new Set(items.map(shortName));
  const missing = EXPECTED.find((name) => !names.has(name));
  if (missing) throw new Error(`the data of ICU have no ${missing}`);
  const kept = items.filter((item) => !LEFT_OUT.some((pattern) => pattern.test(shortName(item))));
  return Buffer.concat([header, formatItems(kept)]);
}

function shortName({ name }: Item): string {
  return name.slice(name.indexOf('/') + 1);
}

function parseData(data: Buffer): { header: Buffer; items: Item[] } {
  if (!isIcuData(data) || data.toString('latin1', 12, 17) !== 'CmnD\x01')
    throw new Error('the data of ICU are in no known format');
  const header = data.subarray(0, data.readUInt16LE(0));
  const body = data.subarray(header.length);
  const count = body.readUInt32LE(0);
  const contentOffset = (index: number): number => (index < count ? body.readUInt32LE(8 + 8 * index) : body.length);
  const items = Array.from({ length: count }, (_, index) => {
    const nameOffset = body.readUInt32LE(4 + 8 * index);
    const name = body.toString('latin1', nameOffset, body.indexOf(0, nameOffset));
    const content = body.subarray(contentOffset(index), contentOffset(index + 1));
    if (!isIcuData(content)) throw new Error(`the item ${name} is no data of ICU`);
    return { name, content };
  });
  return { header, items };
}

/** The whole and each item begin with the length of their header, two bytes that say ICU, and the byte order later. */
function isIcuData(data: Buffer): boolean {
  return data.length > 20 && data.readUInt16BE(2) === 0xda27 && data[8] === 0;
}

function formatItems(items: readonly Item[]): Buffer {
  const names = Buffer.from(items.map(({ name }) => `${name}\0`).join(''), 'latin1');
  const contents = items.map(({ content }) => padTo16(content));
  const table = Buffer.alloc(4 + 8 * items.length);
  table.writeUInt32LE(items.length);
  let nameOffset = table.length;
  let contentOffset = padTo16(Buffer.concat([table, names])).length;
  for (const [index, { name, content }] of items.entries()) {
    table.writeUInt32LE(nameOffset, 4 + 8 * index);
    table.writeUInt32LE(contentOffset, 8 + 8 * index);
    nameOffset += name.length + 1;
    contentOffset += padTo16(content).length;
  }
  return Buffer.concat([padTo16(Buffer.concat([table, names])), ...contents]);
}

function padTo16(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc(-content.length & 15)]);
}
