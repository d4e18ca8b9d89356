/** What is written by `explain` reads back the same. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Parse } from '../../../src/config/notation/parse.ts';
import '../../helpers/seeded.ts';

export function comesBack<T>(
  values: fc.Arbitrary<T>,
  parse: (text: string) => Parse<unknown>,
  format: (value: T) => string,
): void {
  fc.assert(fc.property(values, (value) => assert.deepEqual(parse(format(value)), { ok: true, value })));
}
