/** Heads of answers that no server of the other tests writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHead } from '../../../src/runtime/probes/head.ts';

function locationOf(value: string): string | undefined {
  const reading = readHead(`HTTP/1.1 302 Found\r\nLocation:${value}\r\n\r\n`);
  return typeof reading === 'string' ? reading : reading.location;
}

test('blanks around a value are dropped, and bytes of UTF-8 that look like blanks are kept', () => {
  assert.equal(locationOf(' \t /a b\t '), '/a b');
  // The last byte of an à is a no-break space in latin1.
  assert.equal(locationOf(' /\xc3\xa0 '), '/\xc3\xa0');
  assert.equal(locationOf(' '), '');
});

test('a value with many blanks in its midst is read in linear time', () => {
  // A second look from each blank would take hours.
  const value = `/a${' '.repeat(3_000_000)}b`;
  assert.equal(locationOf(` ${value} `), value);
});
