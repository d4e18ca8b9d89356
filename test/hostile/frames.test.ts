/** Any fields of a host read as an event, a `hello` or one error. `runtime/host/frames.test.ts` has broken streams. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeEvent, decodeHello, ProtocolError } from '../../src/runtime/host/frames.ts';
import '../helpers/seeded.ts';

const NAMES = 'hello signal forwarded spawned spawn-failed exited roots-gone told helper-ended'.split(' ');
const WORDS = 'code signal errno ENOENT 0 1 64 65 -1 007 1e3 0x1 9007199254740991 9007199254740992'.split(' ');
const field = fc.oneof(fc.constantFrom(...NAMES, ...WORDS, '9'.repeat(20), '', ' 1', '\u0661'), fc.string());
const fields = fc.array(field, { minLength: 1, maxLength: 10 });

describe('fields from a host', () => {
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
