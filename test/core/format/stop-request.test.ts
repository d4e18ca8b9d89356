import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  asked,
  formatRequest,
  isMeantFor,
  isRequestFor,
  MAX_AMONG,
  MAX_REQUEST_BYTES,
  parseRequest,
  requestFileOf,
  type StopRequest,
} from '../../../src/core/format/stop-request.ts';
import { BOOT, HOST_ID, instant } from '../helpers.ts';

const REQUEST: StopRequest = {
  ...asked(instant(1_000_500)),
  Boot: BOOT,
  Incarnation: HOST_ID,
  GraceMs: 5_000,
  Among: ['web', 'proxy'],
  By: 'web, uid 0, pid 17',
};

describe('a stop request', () => {
  it('a request is read as it was written, with and without optional keys', () => {
    assert.deepEqual(parseRequest(formatRequest(REQUEST)), { ok: true, request: REQUEST });
    const { GraceMs: _, Among: __, ...bare } = REQUEST;
    assert.deepEqual(parseRequest(formatRequest(bare)), { ok: true, request: bare });
  });

  it('a request with the most names is small enough to be read', () => {
    const Among = Array.from({ length: MAX_AMONG }, () => 'a'.repeat(63));
    const text = formatRequest({ ...REQUEST, Among });
    assert.ok(Buffer.byteLength(text) <= MAX_REQUEST_BYTES, `${Buffer.byteLength(text)}`);
    assert.equal(parseRequest(text).ok, true);
  });

  it('a request is meant for one life of a container in one boot', () => {
    assert.equal(isMeantFor(REQUEST, { boot: BOOT, host: HOST_ID }), true);
    assert.equal(isMeantFor(REQUEST, { boot: BOOT, host: 'another' }), false);
    assert.equal(isMeantFor(REQUEST, { boot: 'another', host: HOST_ID }), false);
  });

  it('a file name of a request belongs to just one member', () => {
    const file = requestFileOf('web', '0123456789ab');
    assert.equal(isRequestFor('web', file), true);
    for (const other of ['we', 'web-1', 'web.0123456789ab', '']) assert.equal(isRequestFor(other, file), false, other);
    for (const odd of ['.web.stop', '.web.0123456789ab.tmp', 'web.0123456789ab.stop', '.web.0123456789AB.stop'])
      assert.equal(isRequestFor('web', odd), false, odd);
  });

  const WRONG: Readonly<Record<string, readonly [change: Readonly<Record<string, unknown>>, why: string]>> = {
    'of a newer version': [{ Version: 3 }, 'of a version that is not known here'],
    'without a version': [{ Version: undefined }, 'of a version that is not known here'],
    'without a boot': [{ Boot: undefined }, 'Boot is not understood'],
    'for nobody': [{ Incarnation: '' }, 'Incarnation is not understood'],
    'with a negative grace': [{ GraceMs: -1 }, 'GraceMs is not understood'],
    'with a grace that is a text': [{ GraceMs: '5s' }, 'GraceMs is not understood'],
    'with a grace longer than a timer': [{ GraceMs: 2 ** 31 }, 'GraceMs is not understood'],
    'among nobody': [{ Among: [] }, 'Among is not understood'],
    'among what are no names': [{ Among: ['../x'] }, 'Among is not understood'],
    'at no time': [{ At: 'now' }, 'At is not understood'],
    'of a time that is no number': [{ RequestedMonotonic: null }, 'RequestedMonotonic is not understood'],
  };
  for (const [what, [change, why]] of Object.entries(WRONG)) {
    it(`a request ${what} is refused`, () =>
      assert.deepEqual(parseRequest(JSON.stringify({ ...REQUEST, ...change })), { ok: false, why }));
  }

  it('a request that is no JSON object, half of one or huge is refused', () => {
    for (const text of ['', '[]', 'null', '"x"', formatRequest(REQUEST).slice(0, 40)])
      assert.equal(parseRequest(text).ok, false, text);
    assert.equal(parseRequest(`${formatRequest(REQUEST)}${' '.repeat(MAX_REQUEST_BYTES)}`).ok, false);
  });

  it('a request cannot forge a line of a log', () => {
    const parsed = parseRequest(JSON.stringify({ ...REQUEST, By: 'x\n\u001b[2Jy' }));
    assert.equal(parsed.ok && parsed.request.By, 'x??[2Jy');
  });
});
