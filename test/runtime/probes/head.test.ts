/** What the head of an answer says, where no server writes it just so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHead } from '../../../src/runtime/probes/head.ts';

function locationOf(value: string): string | undefined {
  const reading = readHead(`HTTP/1.1 302 Found\r\nLocation:${value}\r\n\r\n`);
  return typeof reading === 'string' ? reading : reading.location;
}

test('blanks around a value are not of it; what a byte of UTF-8 may look like is', () => {
  assert.equal(locationOf(' \t /a b\t '), '/a b');
  // The last byte of an à is a no-break space to whoever reads latin1.
  assert.equal(locationOf(' /\xc3\xa0 '), '/\xc3\xa0');
  assert.equal(locationOf(' '), '');
});

test('each character of a value is looked at once, however many blanks are in the midst of it', () => {
  // Looked at again from each blank it would take hours.
  const value = `/a${' '.repeat(3_000_000)}b`;
  assert.equal(locationOf(` ${value} `), value);
});
