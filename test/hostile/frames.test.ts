/**
 * Whatever bytes a host sends, a supervisor reads an event, a `hello` or one error. `test/runtime/host/frames.test.ts`
 * has the frames that a host should send.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeEvent, decodeHello, encodeFrame, FrameReader, ProtocolError } from '../../src/runtime/host/frames.ts';
import '../helpers/seeded.ts';

const NAMES = 'hello signal forwarded spawned spawn-failed exited group-gone strays-gone helper-ended'.split(' ');
const WORDS = 'code signal errno ENOENT 0 1 64 65 -1 007 1e3 0x1 9007199254740991 9007199254740992'.split(' ');
const field = fc.oneof(fc.constantFrom(...NAMES, ...WORDS, '9'.repeat(20), '', ' 1', '\u0661'), fc.string());
const fields = fc.array(field, { minLength: 1, maxLength: 10 });
/** Frames as they should be, and damage between them. */
const frame = fields.map((it) => encodeFrame(it.map((word) => word.replaceAll('\0', ''))));
const damage = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes));
const stream = fc.array(fc.oneof(frame, damage), { maxLength: 6 }).map((parts) => Buffer.concat(parts));

describe('bytes from a host', () => {
  it('give the same frames, and perhaps an error, however they are split', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(64), { maxLength: 40 }), (bytes, sizes) => {
        assert.deepEqual(read(bytes, sizes), read(bytes, []));
      }),
      { numRuns: 1000 },
    );
  });

  it('give an event, a hello, or an error in one printable line', () => {
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
});

/** Reads pieces of these sizes, then the rest. */
function read(bytes: Buffer, sizes: readonly number[]): readonly unknown[] {
  const reader = new FrameReader();
  const found: unknown[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    try {
      found.push(...reader.push(bytes.subarray(at, at + size)));
    } catch (error) {
      assert.ok(error instanceof ProtocolError, String(error));
      // Earlier frames of the same piece are lost with the connection.
      return ['error'];
    }
    at += size;
  }
  return found;
}
