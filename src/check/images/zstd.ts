/**
 * Unpacks zstd, also of several frames one after the other, of which Node's decompressor reads the first only. RFC 8878.
 */
import { pipeline, Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { Bytes, DamagedError } from './bytes.ts';

export async function* unzstd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const bytes = new Bytes(chunks);
  for (;;) {
    const magic = await bytes.take(4);
    if (magic === undefined) return;
    const number = magic.readUInt32LE();
    if (number >>> 4 === SKIPPABLE) await bytes.skip((await bytes.mustTake(4)).readUInt32LE());
    else if (number !== FRAME) throw new DamagedError('it has what is no frame of zstd');
    else {
      const decompressor = createZstdDecompress();
      // A mistake on the way comes out of the last one.
      pipeline(Readable.from(frameOf(bytes, magic), { objectMode: false }), decompressor, () => undefined);
      yield* decompressor;
    }
  }
}

const FRAME = 0xfd2fb528;
/** Of 16 numbers, all but the last four bits. */
const SKIPPABLE = 0x184d2a5;

const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];
const RUN = 1;

/** The bytes of one frame, block by block. */
async function* frameOf(bytes: Bytes, magic: Buffer): AsyncGenerator<Buffer> {
  const descriptor = await bytes.mustTake(1);
  const bits = descriptor.readUInt8();
  const isSingle = (bits & 0x20) !== 0;
  const window = isSingle ? 0 : 1;
  const size = bits >>> 6 === 0 && isSingle ? 1 : (SIZE_BYTES[bits >>> 6] ?? 0);
  yield Buffer.concat([magic, descriptor, await bytes.mustTake(window + (DICTIONARY_BYTES[bits & 3] ?? 0) + size)]);
  for (let isLast = false; !isLast; ) {
    const head = await bytes.mustTake(3);
    const block = head.readUIntLE(0, 3);
    isLast = (block & 1) === 1;
    const length = ((block >>> 1) & 3) === RUN ? 1 : block >>> 3;
    const checksum = isLast && (bits & 4) !== 0 ? 4 : 0;
    yield Buffer.concat([head, await bytes.mustTake(length + checksum)]);
  }
}
