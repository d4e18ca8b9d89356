import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ImageError } from '../../../src/check/images/blobs.ts';
import { imagesOf } from '../../../src/check/images/lock.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { archiveOf, ociFiles } from './layouts.ts';

const FILES = ociFiles([{ name: 'web:1', config: { User: '1000' } }]);
const EXPECTED = [{ names: ['web:1'], facts: { user: '1000' } }];
const file = join(temporaryDirectory(), 'image.tar');

function read(bytes: Buffer) {
  writeFileSync(file, bytes);
  return imagesOf(file).map(({ names, facts: { user } }) => ({ names, facts: { user } }));
}

/** Writes the checksum of the first header again. */
function signed(bytes: Buffer): Buffer {
  bytes.fill(0x20, 148, 156);
  const sum = bytes.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
}

/** The archive also holds a file whose name is too long for a plain header. */
function bytesIn(format: string): Buffer {
  const long = format === 'v7' || format === 'ustar' ? {} : { [`${'deep/'.repeat(60)}file`]: Buffer.from('long') };
  return readFileSync(archiveOf({ ...long, ...FILES }, format));
}

describe('an archive of images', () => {
  for (const format of ['v7', 'ustar', 'gnu', 'oldgnu', 'pax'])
    it(`an archive is read in the format ${format} of GNU tar`, () => {
      assert.deepEqual(read(bytesIn(format)), EXPECTED);
    });

  it('an archive may give the size of an entry in bytes or in a pax header', () => {
    const bytes = bytesIn('ustar');
    const size = Number.parseInt(bytes.toString('latin1', 124, 135), 8);
    bytes.fill(0, 124, 136);
    bytes[124] = 0x80;
    bytes.writeUIntBE(size, 130, 6);
    assert.deepEqual(read(signed(bytes)), EXPECTED);
    bytes.fill(0, 124, 136);
    const head = Buffer.from(bytes.subarray(0, 512));
    const record = ` size=${size}\n`;
    const content = Buffer.alloc(512);
    content.write(`${record.length + 2}${record}`);
    head.write('x', 156, 'latin1');
    head.write((record.length + 2).toString(8).padStart(11, '0'), 124, 'latin1');
    assert.deepEqual(read(Buffer.concat([signed(head), content, signed(bytes)])), EXPECTED);
  });

  it('an archive that is cut or damaged is refused', () => {
    const right = bytesIn('pax');
    // What is cut off, or damaged, may be no part of an image.
    const isRefused = (bytes: Buffer): boolean => {
      try {
        assert.deepEqual(read(bytes)[0]?.names.length, 1);
        return false;
      } catch (error) {
        assert.ok(error instanceof ImageError, String(error));
        return true;
      }
    };
    const lengths = Array.from({ length: Math.ceil(right.length / 97) }, (_, index) => index * 97);
    const cut = lengths.filter((length) => isRefused(right.subarray(0, length)));
    const damaged = Array.from({ length: 200 }, (_, seed) => {
      const bytes = Buffer.from(right);
      const at = (seed * 131) % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ (1 + (seed % 255));
      return isRefused(bytes);
    }).filter((it) => it);
    assert.deepEqual(cut, lengths.slice(0, cut.length));
    assert.ok(cut.length > lengths.length / 2 && damaged.length > 50, `${cut.length}, ${damaged.length}`);
    assert.throws(() => read(right.subarray(0, 700)), /it ends too early; name what podman save/);
    assert.throws(() => read(Buffer.from('short')), /it is no tar archive; name what podman save/);
  });
});
