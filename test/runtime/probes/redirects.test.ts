/** Redirects of HTTP probes, by Go's client and the kubelet's RedirectChecker (pkg/probe/http). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHead } from '../../../src/runtime/probes/head.ts';
import { failed, httpAction, httpServer, ok, run } from './servers.ts';

test('a probe follows a redirect on the same host, whatever the port, and its target counts', async (t) => {
  const other = await httpServer(t, (_, response) => response.writeHead(418).end());
  const port = await httpServer(t, ({ url }, response) => {
    const [, status, location] = /^\/([0-9]+)\?(.*)$/.exec(url ?? '') ?? [];
    if (location === undefined) response.writeHead(url === '/fine' ? 200 : 500).end();
    else response.writeHead(Number(status), { location }).end('moved');
  });
  for (const status of [301, 302, 303, 307, 308]) {
    assert.deepEqual(await run(httpAction(port, { path: `/${status}?/fine` })), ok('status 200'));
    assert.deepEqual(await run(httpAction(port, { path: `/${status}?broken` })), failed('status 500'));
    const path = `/${status}?http://127.0.0.1:${port}/broken`;
    assert.deepEqual(await run(httpAction(port, { path })), failed('status 500'));
  }
  assert.deepEqual(await run(httpAction(port, { path: `/302?//127.0.0.1:${other}/` })), failed('status 418'));
});

test('a redirect to another host is a success and not followed', async (t) => {
  const asked: (string | undefined)[] = [];
  const port = await httpServer(t, ({ url }, response) => {
    asked.push(url);
    response.writeHead(302, { location: `http://localhost:${port}/elsewhere` }).end();
  });
  assert.deepEqual(await run(httpAction(port)), ok('status 302, redirects to another host'));
  assert.deepEqual(asked, ['/']);
});

test('the tenth redirect in a row is a failure', async (t) => {
  let asked = 0;
  const port = await httpServer(t, ({ url }, response) => {
    asked++;
    const left = Number(url?.slice(1));
    if (left === 0) response.end();
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  assert.deepEqual(await run(httpAction(port, { path: '/9' })), ok('status 200'));
  asked = 0;
  assert.deepEqual(await run(httpAction(port, { path: '/10' })), failed('stopped after 10 redirects'));
  assert.equal(asked, 10);
});

test('a status without a redirect, or one without a location, counts as it is', async (t) => {
  const port = await httpServer(t, ({ url }, response) => {
    if (url === '/304') response.writeHead(304, { location: '/500' }).end();
    else response.writeHead(302).end();
  });
  assert.deepEqual(await run(httpAction(port, { path: '/304' })), ok('status 304'));
  assert.deepEqual(await run(httpAction(port, { path: '/302' })), ok('status 302'));
});

test('an unusable location is a failure', async (t) => {
  const port = await httpServer(t, ({ url }, response) =>
    response.writeHead(302, { location: url === '/scheme' ? 'ftp://127.0.0.1/' : 'http://[' }).end(),
  );
  assert.deepEqual(await run(httpAction(port, { path: '/scheme' })), failed('status 302 with an unusable location'));
  assert.deepEqual(await run(httpAction(port)), failed('status 302 with an unusable location'));
});

test('a relative location keeps the Host of the user, and 307 keeps a POST', async (t) => {
  const asked: string[] = [];
  const port = await httpServer(t, ({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers.host?.replace(/:[0-9]+$/, '')}`);
    const [, status, location] = /^\/([0-9]+)\?(.*)$/.exec(url ?? '') ?? [];
    if (status === undefined) response.end();
    else response.writeHead(Number(status), { location }).end();
  });
  const headers: [string, string][] = [['Host', 'app.example']];
  await run(httpAction(port, { headers, method: 'POST', path: '/307?/a' }));
  await run(httpAction(port, { headers, method: 'POST', path: `/302?http://127.0.0.1:${port}/b` }));
  const followed = asked.filter((line) => !line.includes('?'));
  assert.deepEqual(followed, ['POST /a app.example', 'GET /b 127.0.0.1']);
});

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
