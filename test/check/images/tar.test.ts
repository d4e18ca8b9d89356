import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DamagedError } from '../../../src/check/images/bytes.ts';
import { entriesOf, type TarEntry } from '../../../src/check/images/tar.ts';
import { tarOf } from './layouts.ts';

const LONG = `${'deep/'.repeat(60)}file`;
const MIDDLING = `${'a'.repeat(90)}/${'b'.repeat(80)}`;
const FILES = {
  plain: 'a text',
  empty: '',
  'dir/': '/',
  'dir/exact': 'x'.repeat(512),
  'dir/over': 'x'.repeat(513),
  'müller/größe': 'ü',
  link: '-> dir/exact',
  up: '-> ../../etc/passwd',
  hard: '= plain',
  [MIDDLING]: 'middling',
} as const;
const LONGER = { ...FILES, [LONG]: 'long', 'long-link': `-> ${LONG}` };

/** What the oldest format can hold. */
const SHORT = { plain: 'a text', 'dir/': '/', 'dir/exact': 'x'.repeat(512), link: '-> dir/exact', hard: '= plain' };

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** An archive of one symbolic link, whose name and target are records of pax. */
function renamed(path: string, linkpath = 'a'): Buffer {
  const records = Object.entries({ path, linkpath }).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const length = rest.length + String(rest.length + 9).length;
    return `${length}${rest}`;
  });
  const content = Buffer.from(records.join(''));
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([headerOf('x', content.length), content, padding, headerOf('2', 0)]);
}

function headerOf(type: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write('name', 0);
  header.write(size.toString(8).padStart(11, '0'), 124);
  header.write('        ', 148);
  header.write(type, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(sum.toString(8).padStart(6, '0').concat('\0 '), 148);
  return header;
}

async function read(bytes: Buffer, length = 1_000): Promise<readonly TarEntry[]> {
  const entries: TarEntry[] = [];
  for await (const entry of entriesOf(inPieces(bytes, length), () => true)) entries.push(entry);
  return entries;
}

function told({ name, kind, target, content }: TarEntry): string {
  const what = { symlink: `-> ${target}`, hardlink: `= ${target}`, directory: '/', file: `${content}`, other: '?' }[
    kind
  ];
  return `${name} ${what}`;
}

describe('a tar archive', () => {
  for (const [format, files] of Object.entries({ v7: SHORT, ustar: FILES, gnu: LONGER, oldgnu: LONGER, pax: LONGER })) {
    it(`of GNU tar in its format ${format} is read as it was written`, async () => {
      const expected = Object.entries(files).map(([name, what]) => `${name} ${what}`);
      for (const length of [1, 511, 512, 100_000])
        assert.deepEqual((await read(tarOf(files, format), length)).map(told), expected);
    });
  }

  it('says where the contents lie', async () => {
    const bytes = tarOf(LONGER);
    const files = (await read(bytes)).filter(({ kind }) => kind === 'file');
    assert.ok(files.length > 5);
    for (const { offset, size, content } of files)
      assert.deepEqual(bytes.subarray(offset, offset + size), Buffer.from(content ?? 'none'));
  });

  it('has large sizes in bytes', async () => {
    const bytes = tarOf({ a: 'content' });
    bytes.fill(0, 124, 136);
    bytes[124] = 0x80;
    bytes[135] = 7;
    signed(bytes);
    assert.deepEqual((await read(bytes)).map(told), ['a content']);
  });

  it('that is none, or is cut, or damaged, is refused', async () => {
    const bytes = tarOf(LONGER);
    const damaged = Buffer.from(bytes);
    damaged[0] = (damaged[0] ?? 0) + 1;
    for (const [wrong, why] of [
      [Buffer.from('# a text, longer than a header\n'.repeat(40)), /it is no tar archive/],
      [Buffer.from('short'), /it is no tar archive/],
      [damaged, /it is no tar archive/],
      [bytes.subarray(0, 700), /it ends too early/],
      [bytes.subarray(0, 512), /it ends too early/],
      [renamed('deep/'.repeat(1_000)), /it has a path that is too long/],
      [renamed('deep/'.repeat(100_000)), /it has a path that is too long/],
      [renamed('a', 'deep/'.repeat(100_000)), /it has a path that is too long/],
    ] as const)
      await assert.rejects(read(wrong), (error) => error instanceof DamagedError && why.test(error.message));
  });

  it('may be cut anywhere: what was read before is right, or it is refused', async () => {
    const bytes = tarOf(LONGER);
    const whole = (await read(bytes)).map(told);
    for (let length = 0; length < bytes.length; length += 97) {
      const got: string[] = [];
      try {
        for await (const entry of entriesOf(inPieces(bytes.subarray(0, length), 4_096), () => true))
          got.push(told(entry));
      } catch (error) {
        assert.ok(error instanceof DamagedError, String(error));
      }
      assert.deepEqual(got, whole.slice(0, got.length));
    }
  });

  it('of which one byte is another never fails in another way than by being refused', async () => {
    const right = tarOf(LONGER);
    for (let seed = 0; seed < 200; seed += 1) {
      const bytes = Buffer.from(right);
      const at = (seed * 131) % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ (1 + (seed % 255));
      await read(bytes).catch((error) => assert.ok(error instanceof DamagedError, String(error)));
    }
  });
});

/** Writes the checksum of the first header again. */
function signed(bytes: Buffer): void {
  bytes.fill(0x20, 148, 156);
  const sum = bytes.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
}
