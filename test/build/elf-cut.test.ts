/** Compiles programs with a constant in the form of ICU's data, shortens the constant, and runs the programs. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PT_LOAD, PT_NOTE, segmentsOf, withoutUnloaded } from '../../src/delivery/elf.ts';
import { pruneIcu } from '../../src/delivery/icu.ts';
import { makeSmaller } from '../../src/delivery/portable-node.ts';
import { FIXTURE_SOURCES } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

const KEPT = `coll/ucadata.icu curr/en_GB.res curr/root.res en.res nfkc.nrm pool.res res_index.res root.res uts46.nrm
  zoneinfo64.res`.split(/\s+/);
const LEFT_OUT = `ar.res brkitr/thaidict.dict curr/zh_Hant.res euc-jp-2007.cnv rfc3491.spp
  translit/root.res`.split(/\s+/);
const LARGE_BYTES = 70_000;

const DIR = temporaryDirectory();
const PROGRAM = compile('cc', []);

/** As ICU lays its data: see src/delivery/icu.ts. */
function icuData(names: readonly string[], leftOutBytes = LARGE_BYTES): Buffer {
  const header = headerOf(32);
  header.write('CmnD\x01', 12, 'latin1');
  const table = Buffer.alloc(4 + 8 * names.length);
  table.writeUInt32LE(names.length);
  const texts = names.map((name) => `icudt1l/${name}\0`);
  const parts: Buffer[] = [table, Buffer.from(texts.join(''))];
  let nameOffset = table.length;
  for (const [index, name] of names.entries()) {
    const size = Buffer.concat(parts).length;
    parts.push(Buffer.alloc(-size & 15));
    table.writeUInt32LE(nameOffset, 4 + 8 * index);
    table.writeUInt32LE(size + (-size & 15), 8 + 8 * index);
    parts.push(headerOf(24), Buffer.alloc(LEFT_OUT.includes(name) ? leftOutBytes : 100));
    parts.at(-1)?.write(`text of ${name}`);
    nameOffset += texts[index]?.length ?? 0;
  }
  return Buffer.concat([header, ...parts]);
}

function headerOf(bytes: number): Buffer {
  const header = Buffer.alloc(bytes);
  header.writeUInt16LE(bytes);
  header.writeUInt16BE(0xda27, 2);
  return header;
}

function compile(compiler: string, flags: readonly string[], data = icuData([...KEPT, ...LEFT_OUT].sort())): Buffer {
  const [file, path] = [join(DIR, 'data'), join(DIR, 'program')];
  writeFileSync(file, data);
  const source = join(FIXTURE_SOURCES, 'constant.c');
  execFileSync(compiler, ['-Wall', '-Werror', '-rdynamic', `-DDATA="${file}"`, ...flags, source, '-o', path]);
  return readFileSync(path);
}

/** The lines that the program prints. */
function run(program: Buffer, launcher: readonly string[] = []): string[] {
  const path = join(DIR, 'run');
  writeFileSync(path, program);
  chmodSync(path, 0o755);
  const [file = '', ...args] = [...launcher, path];
  return execFileSync(file, args, { encoding: 'utf8' }).trimEnd().split('\n');
}

const REST = 'behind the data, From the file, 41, 1';
const linesOf = (names: readonly string[]): string[] => [
  ...names.map((name) => `icudt1l/${name} text of ${name}`).sort(),
  REST,
];

function checkPruned(program: Buffer, launcher: readonly string[] = []): void {
  assert.deepEqual(run(program, launcher), linesOf([...KEPT, ...LEFT_OUT]));
  const pruned = pruneIcu(program);
  assert.deepEqual(run(pruned, launcher), linesOf(KEPT));
  // A part of a page of 64 KiB stays at each end of what is left out.
  const saved = withoutUnloaded(program).length - pruned.length;
  assert.ok(saved > LEFT_OUT.length * LARGE_BYTES - 0x20000, `${saved} bytes are saved`);
  for (const { type, offset, address, size } of segmentsOf(pruned).segments) {
    assert.ok(offset + size <= pruned.length);
    if (type === PT_LOAD) assert.equal((address - offset) % 0x1000, 0);
  }
}

for (const [name, flags] of Object.entries({
  'that is loaded anywhere': ['-fPIE', '-pie'],
  'that is loaded where it was linked for': ['-fno-pie', '-no-pie'],
  'that is stripped': ['-s'],
  'with pages of 2 MiB': ['-Wl,-z,max-page-size=0x200000'],
  'with code and constants in one segment': ['-Wl,-z,noseparate-code'],
}))
  test(`a program ${name} runs with the rest of its data`, () => {
    checkPruned(compile('cc', flags));
  });

test('a program for arm64, whose pages may have 64 KiB, runs with the rest of its data', (t) => {
  const [compiler, qemu] = ['aarch64-linux-gnu-gcc', 'qemu-aarch64-static'];
  if (spawnSync(qemu, ['--version']).error) return t.skip(`${qemu} is not installed`);
  if (spawnSync(compiler, ['--version']).error) return t.skip(`${compiler} is not installed`);
  const program = compile(compiler, []);
  checkPruned(program, [qemu, '-L', '/usr/aarch64-linux-gnu']);
  const loads = segmentsOf(pruneIcu(program)).segments.filter(({ type }) => type === PT_LOAD);
  assert.equal(loads.length, 3);
  for (const { offset, address } of loads) assert.equal((address - offset) % 0x10000, 0);
});

test('a program without what is never loaded runs, and has all its data', () => {
  const smaller = makeSmaller(PROGRAM, 'full').node;
  assert.ok(smaller.length < PROGRAM.length);
  assert.deepEqual(run(smaller), linesOf([...KEPT, ...LEFT_OUT]));
});

function changed(change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(PROGRAM);
  change(copy);
  return copy;
}

/** The offset of the last read-only segment of that type in the table. For PT_LOAD that segment has the data. */
function entryOf(wanted: number): number {
  const { offset, segments } = segmentsOf(PROGRAM);
  return offset + segments.findLastIndex(({ type, flags }) => type === wanted && (flags & 2) === 0) * 56;
}

function withoutNotes(): Buffer {
  const { offset, segments } = segmentsOf(PROGRAM);
  return changed((it) => {
    for (const [index, { type }] of segments.entries()) if (type === PT_NOTE) it.writeUInt32LE(0, offset + index * 56);
  });
}

const DATA_OFFSET = PROGRAM.indexOf('CmnD') - 12;

const UNEXPECTED: readonly (readonly [string, () => Buffer, RegExp])[] = [
  ['is a script', () => Buffer.from('#!/bin/sh\nexec node\n'), /not a 64-bit little-endian ELF file/],
  ['is cut off', () => PROGRAM.subarray(0, 100_000), /./],
  ['exports no data', () => compile('cc', ['-Wl,--no-export-dynamic']), /exports 0 symbols like/],
  ['is pruned already', () => pruneIcu(PROGRAM), /no table of the symbols/],
  ['has data in another format', () => changed((it) => it.write('CmnE', DATA_OFFSET + 12)), /no known format/],
  ['has data of a later format', () => changed((it) => it.writeUInt8(2, DATA_OFFSET + 16)), /no known format/],
  ['has data in another byte order', () => changed((it) => it.writeUInt8(1, DATA_OFFSET + 8)), /no known format/],
  ['counts too many items', () => changed((it) => it.writeUInt32LE(5000, DATA_OFFSET + 32)), /no data of ICU/],
  ['lacks an item', () => compile('cc', [], icuData([...KEPT.slice(0, -1), ...LEFT_OUT].sort())), /no zoneinfo64\.res/],
  ['has English only', () => compile('cc', [], icuData(KEPT)), /no whole page/],
  ['has little to leave out', () => compile('cc', [], icuData([...KEPT, ...LEFT_OUT].sort(), 10)), /no whole page/],
  ['has writable data', () => changed((it) => it.writeUInt32LE(6, entryOf(PT_LOAD) + 4)), /no read-only segment/],
  ['has data that are not loaded', () => changed((it) => it.writeUInt32LE(0, entryOf(PT_LOAD))), /no read-only/],
  [
    'has more in memory than in the file',
    () => changed((it) => it.writeBigUInt64LE(2n ** 30n, entryOf(PT_LOAD) + 40)),
    /nothing follows the data/,
  ],
  [
    'has another segment in its data',
    () => changed((it) => it.writeBigUInt64LE(BigInt(DATA_OFFSET + 300_000), entryOf(PT_NOTE) + 8)),
    /another segment overlaps/,
  ],
  ['has no note', withoutNotes, /no note whose place/],
];

for (const [name, make, problem] of UNEXPECTED)
  test(`a program that ${name} is left as it is, and the problem is reported`, () => {
    const program = make();
    const result = makeSmaller(Buffer.from(program), 'english');
    assert.ok(result.node.equals(program));
    assert.match(result.problem ?? '', problem);
  });
