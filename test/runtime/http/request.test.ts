/** The head of a request, as it may come. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MOST_HEAD_BYTES, readRequest } from '../../../src/runtime/http/request.ts';
import '../../helpers/seeded.ts';

describe('a request', () => {
  it('is method and path, whatever headers and query it has, from whatever client', () => {
    for (const [text, path] of [
      ['GET /livez HTTP/1.1\r\nHost: x\r\n\r\n', '/livez'],
      ['GET /livez HTTP/1.0\r\n\r\n', '/livez'],
      ['GET /livez?verbose=1 HTTP/1.1\nHost: x\n\n', '/livez'],
      ['GET http://10.0.0.1:8081/livez HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n', '/livez'],
      ['\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\n\r\n', '/'],
    ] as const)
      assert.deepEqual(readRequest(text), { kind: 'request', method: 'GET', path }, JSON.stringify(text));
  });

  it('is told from other protocols by the first bytes', () => {
    for (const text of [
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'SSH-2.0-OpenSSH_9.2\r\n',
      'GET /livez\r\n',
      'get /livez HTTP/1.1\r\n\r\n',
      'GET /a b HTTP/1.1\r\n\r\n',
      'GET /livez HTTP/1.1 \r\n\r\n',
      '\0\0\0\0',
    ])
      assert.equal(readRequest(text).kind, 'malformed', JSON.stringify(text));
  });

  it('is waited for while it is not whole, however it is cut, and not when it is too long', () => {
    const whole = 'GET /readyz HTTP/1.1\r\nHost: localhost:8081\r\nUser-Agent: kube-probe/1.34\r\nAccept: */*\r\n\r\n';
    for (let length = 0; length < whole.length; length++)
      assert.equal(readRequest(whole.slice(0, length)).kind, 'incomplete', whole.slice(0, length));
    const endless = `GET /readyz HTTP/1.1\r\nCookie: ${'x'.repeat(MOST_HEAD_BYTES)}`;
    assert.equal(readRequest(endless).kind, 'too long');
    assert.equal(readRequest(`GET /${'x'.repeat(MOST_HEAD_BYTES)}`).kind, 'too long');
  });

  it('that is anything at all is never an error, and never has a method or path that a log could not show', () => {
    const part = fc.constantFrom(
      'GET',
      'HEAD',
      ' ',
      '/livez',
      ' HTTP/1.1',
      '\r\n',
      '\n',
      '\r',
      'Host: x',
      '\0',
      '?',
      '#',
      'http://',
    );
    const text = fc.oneof(
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(text, (it) => {
        const reading = readRequest(it);
        if (reading.kind !== 'request') return;
        assert.match(reading.method, /^[A-Z]{1,16}$/);
        assert.doesNotMatch(reading.path, /[\s?#]/);
      }),
      { numRuns: 500 },
    );
  });
});
