/**
 * What a supervisor does with any bytes from its host: frames, or one error; never more than one frame's bytes are
 * kept.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeEvent,
  decodeHello,
  encodeFrame,
  FrameReader,
  MAX_FRAME_BYTES,
  ProtocolError,
} from '../../src/runtime/host/frames.ts';
import '../helpers/seeded.ts';

const NAMES = [
  'hello',
  'signal',
  'forwarded',
  'spawned',
  'spawn-failed',
  'exited',
  'group-gone',
  'strays-gone',
  'helper-ended',
];
const field = fc.oneof(
  fc.constantFrom(...NAMES, 'code', 'signal', 'errno', 'ENOENT', '0', '1', '64', '65', '-1', '007', '1e3', '0x1'),
  fc.constantFrom('9007199254740991', '9007199254740992', '99999999999999999999', '', ' 1', '\u0661'),
  fc.string(),
);
const fields = fc.array(field, { minLength: 1, maxLength: 10 });
/** Frames as they should be, and damage between and in them. */
const stream = fc
  .array(
    fc.oneof(
      fields.map((it) => encodeFrame(it.map((word) => word.replaceAll('\0', '')))),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.concat(parts));

describe('bytes from a host', () => {
  it('however they are split are the same frames, then perhaps an error', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(64), { maxLength: 40 }), (bytes, sizes) => {
        assert.deepEqual(read(bytes, sizes), read(bytes, []));
      }),
      { numRuns: 1000 },
    );
  });

  it('are an event, a hello, or an error that says what was wrong in a printable line', () => {
    fc.assert(
      fc.property(fields, (given) => {
        for (const decode of [decodeEvent, decodeHello]) {
          try {
            decode(given);
          } catch (error) {
            assert.ok(error instanceof ProtocolError, String(error));
            assert.ok(error.message.length < 300 && !/[\p{Cc}]/u.test(error.message), error.message);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('that announce a frame and never send it are no more than those that came', () => {
    const reader = new FrameReader();
    const head = Buffer.alloc(4);
    head.writeUInt32LE(MAX_FRAME_BYTES);
    assert.deepEqual(reader.push(head), []);
    assert.ok(reader.midFrame);
    head.writeUInt32LE(MAX_FRAME_BYTES + 1);
    assert.throws(() => new FrameReader().push(head), ProtocolError);
    head.writeUInt32LE(2 ** 32 - 1);
    assert.throws(() => new FrameReader().push(head), ProtocolError);
  });
});

/** Pieces of these sizes, then all that is left. */
function read(bytes: Buffer, sizes: readonly number[]): readonly unknown[] {
  const reader = new FrameReader();
  const found: unknown[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    try {
      found.push(...reader.push(bytes.subarray(at, at + size)));
    } catch (error) {
      assert.ok(error instanceof ProtocolError, String(error));
      // What stood before it in the same piece is lost with it, as the connection is.
      return ['error'];
    }
    at += size;
  }
  return found;
}
